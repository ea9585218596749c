import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0053_match_struck'),
    ]

    operations = [
        migrations.CreateModel(
            name='Lots',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('drawn', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Rung',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=30)),
                ('entered', models.DateTimeField()),
                ('due', models.DateTimeField()),
                ('placed', models.PositiveSmallIntegerField(default=0)),
                ('tied', models.BooleanField(default=False)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rungs', to='league.bot')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rungs', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(fields=['placed', 'due'], name='rung_due')],
                'constraints': [models.UniqueConstraint(fields=('game', 'bot'), name='rung_once')],
            },
        ),
        migrations.CreateModel(
            name='Succession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=30)),
                ('won', models.PositiveIntegerField(default=0)),
                ('drawn', models.PositiveIntegerField(default=0)),
                ('lost', models.PositiveIntegerField(default=0)),
                ('llr', models.FloatField(default=0.0)),
                ('matches', models.PositiveIntegerField(default=0)),
                ('verdict', models.CharField(blank=True, choices=[('stronger', 'better than the version before'), ('not_stronger', 'not better than the version before'), ('cap', 'not told apart'), ('superseded', 'ended by a newer version')], max_length=20)),
                ('begun', models.DateTimeField()),
                ('decided', models.DateTimeField(null=True)),
                ('before', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='successions', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('verdict', '')), fields=['id'], name='succession_open')],
                'constraints': [models.UniqueConstraint(fields=('game', 'version'), name='succession_once'), models.CheckConstraint(condition=models.Q(('verdict__in', ['stronger', 'not_stronger', 'cap', 'superseded', ''])), name='succession_verdict_word')],
            },
        ),
        migrations.AddField(
            model_name='bot',
            name='on_ladders',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='botversion',
            name='entered',
            field=models.DateTimeField(null=True),
        ),
        migrations.RemoveConstraint(
            model_name='match',
            name='match_kind_word',
        ),
        migrations.AlterField(
            model_name='match',
            name='kind',
            field=models.CharField(choices=[('tournament', 'tournament'), ('validation', 'validation'), ('challenge', 'unrated challenge'), ('ladder', 'standing ladder'), ('audit', 'audit')], max_length=12),
        ),
        AddConstraintUnchecked(
            model_name='match',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['tournament', 'validation', 'challenge', 'ladder', 'audit'])), name='match_kind_word'),
        ),
    ]
