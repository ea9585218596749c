"""Talk: comments of players, reports of them, and the switch of an owner who wants none."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0021_boss_leagues'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='player',
            options={'permissions': [('void', 'void'), ('rerun', 'rerun'), ('pause', 'pause'), ('ban', 'ban'), ('quota', 'quota'), ('embargo', 'embargo'), ('audit', 'audit'), ('moderate', 'moderate')]},
        ),
        migrations.AddField(
            model_name='event',
            name='talk',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='tournament',
            name='talk',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('board', models.PositiveIntegerField(null=True)),
                ('sitting', models.PositiveSmallIntegerField(null=True)),
                ('step', models.CharField(blank=True, default='', max_length=12)),
                ('puzzle', models.CharField(blank=True, default='', max_length=12)),
                ('text', models.CharField(blank=True, max_length=1000)),
                ('created', models.DateTimeField()),
                ('deleted', models.DateTimeField(null=True)),
                ('hidden', models.DateTimeField(null=True)),
                ('hidden_for', models.CharField(blank=True, default='', max_length=300)),
                ('hidden_by', models.CharField(blank=True, default='', max_length=80)),
                ('answers', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.comment')),
                ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='league.player')),
                ('event', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='league.event')),
                ('match', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='league.match')),
                ('tournament', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='league.tournament')),
            ],
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(choices=[('insult', 'insult or threat'), ('spam', 'advertising or flooding'), ('private', 'private data of somebody'), ('other', 'something else against the rules')], max_length=10)),
                ('text', models.CharField(blank=True, max_length=1000)),
                ('created', models.DateTimeField()),
                ('decided', models.DateTimeField(null=True)),
                ('decided_by', models.CharField(blank=True, default='', max_length=80)),
                ('outcome', models.CharField(blank=True, choices=[('hidden', 'hidden'), ('left', 'left as it is')], default='', max_length=10)),
                ('comment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='reports', to='league.comment')),
                ('reporter', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='reports', to='league.player')),
            ],
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(fields=['author', 'created'], name='comment_author'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(condition=models.Q(('match__isnull', False)), fields=['match', 'board', 'sitting', '-id'], name='comment_match'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(condition=models.Q(('puzzle', ''), _negated=True), fields=['puzzle', '-id'], name='comment_puzzle'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('board__isnull', False), ('match__isnull', False), ('puzzle', ''), ('sitting__isnull', False), ('event', None), ('tournament', None)), models.Q(('board', None), ('match', None), ('sitting', None), ('step', ''), models.Q(models.Q(('event', None), ('tournament', None), models.Q(('puzzle', ''), _negated=True)), models.Q(('event', None), ('puzzle', ''), ('tournament__isnull', False)), models.Q(('event__isnull', False), ('puzzle', ''), ('tournament', None)), _connector='OR')), _connector='OR'), name='comment_is_about_one'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['reporter', 'created'], name='report_reporter'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(condition=models.Q(('decided', None)), fields=['comment'], name='report_open'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['insult', 'spam', 'private', 'other'])), name='report_reason_word'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['hidden', 'left', ''])), name='report_outcome_word'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.UniqueConstraint(fields=('comment', 'reporter'), name='report_once'),
        ),
    ]
