"""Arenas for people; recurring leagues that players follow; start times that were given up."""

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


def forget_follows(apps, schema_editor):
    """Remove the follows of recurring leagues."""
    apps.get_model("league", "Follow").objects.filter(circuit__isnull=False).delete()


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0025_names_of_holder'),
    ]

    operations = [
        migrations.CreateModel(
            name='Arena',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('start', models.DateTimeField()),
                ('ends', models.DateTimeField()),
                ('time_zone', models.CharField(blank=True, default='', max_length=60)),
                ('clock_s', models.PositiveSmallIntegerField(default=30)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='league.pool')),
            ],
        ),
        migrations.CreateModel(
            name='ArenaEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('joined', models.DateTimeField()),
                ('waiting', models.DateTimeField(null=True)),
                ('rests_until', models.DateTimeField(null=True)),
                ('points', models.PositiveIntegerField(default=0)),
                ('games', models.PositiveIntegerField(default=0)),
                ('wins', models.PositiveIntegerField(default=0)),
                ('ties', models.PositiveIntegerField(default=0)),
                ('place', models.PositiveIntegerField(null=True)),
                ('arena', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='league.arena')),
                ('bot', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.bot')),
                ('player', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.player')),
            ],
        ),
        migrations.CreateModel(
            name='ArenaSide',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('given_up', models.DateTimeField(null=True)),
                ('points', models.PositiveSmallIntegerField(null=True)),
                ('entry', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sides', to='league.arenaentry')),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sides', to='league.table')),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='follow',
            name='follow_of_one',
        ),
        migrations.AddField(
            model_name='event',
            name='missed',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='follow',
            name='circuit',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.circuit'),
        ),
        AddIndexMeanwhile("event", models.Index(condition=models.Q(('missed__isnull', False)), fields=['missed'], name='event_by_missed')),
        migrations.AddConstraint(
            model_name='follow',
            constraint=models.UniqueConstraint(fields=('circuit', 'player'), name='follow_circuit_once'),
        ),
        migrations.AddConstraint(
            model_name='follow',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('bot__isnull', False), ('circuit__isnull', True), ('event__isnull', True), ('person__isnull', True), ('tournament__isnull', True)), models.Q(('bot__isnull', True), ('circuit__isnull', True), ('event__isnull', True), ('person__isnull', False), ('tournament__isnull', True)), models.Q(('bot__isnull', True), ('circuit__isnull', True), ('event__isnull', True), ('person__isnull', True), ('tournament__isnull', False)), models.Q(('bot__isnull', True), ('circuit__isnull', True), ('event__isnull', False), ('person__isnull', True), ('tournament__isnull', True)), models.Q(('bot__isnull', True), ('circuit__isnull', False), ('event__isnull', True), ('person__isnull', True), ('tournament__isnull', True)), _connector='OR'), name='follow_of_one'),
        ),
        migrations.AddIndex(
            model_name='arena',
            index=models.Index(fields=['start'], name='arena_by_start'),
        ),
        migrations.AddIndex(
            model_name='arena',
            index=models.Index(condition=models.Q(('finished', None)), fields=['start'], name='arena_unfinished'),
        ),
        migrations.AddIndex(
            model_name='arenaentry',
            index=models.Index(fields=['arena', '-points'], name='arena_standing'),
        ),
        migrations.AddIndex(
            model_name='arenaentry',
            index=models.Index(condition=models.Q(('waiting__isnull', False)), fields=['arena'], name='arena_waiting'),
        ),
        migrations.AddConstraint(
            model_name='arenaentry',
            constraint=models.UniqueConstraint(fields=('player', 'arena'), name='arena_person_once'),
        ),
        migrations.AddConstraint(
            model_name='arenaentry',
            constraint=models.UniqueConstraint(fields=('bot', 'arena'), name='arena_bot_once'),
        ),
        migrations.AddConstraint(
            model_name='arenaentry',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('bot', None), ('player__isnull', False)), models.Q(('bot__isnull', False), ('player', None), ('waiting', None)), _connector='OR'), name='arena_entry_of_one'),
        ),
        migrations.AddIndex(
            model_name='arenaside',
            index=models.Index(fields=['entry', '-table'], name='arena_side_of_entry'),
        ),
        migrations.AddIndex(
            model_name='arenaside',
            index=models.Index(condition=models.Q(('points', None)), fields=['table'], name='arena_side_in_play'),
        ),
        migrations.AddConstraint(
            model_name='arenaside',
            constraint=models.UniqueConstraint(fields=('table', 'number'), name='arena_side_once'),
        ),
        # On the way back: a follow of a recurring league has no place in the release before.
        migrations.RunPython(migrations.RunPython.noop, forget_follows),
    ]
