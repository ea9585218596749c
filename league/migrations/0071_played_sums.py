import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0070_event_due'),
    ]

    operations = [
        migrations.CreateModel(
            name='MatchStyle',
            fields=[
                ('match', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='style', serialize=False, to='league.match')),
                ('counts', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='MeetingSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('matches', models.PositiveIntegerField(default=0)),
                ('boards', models.PositiveIntegerField(default=0)),
                ('wins', models.PositiveIntegerField(default=0)),
                ('draws', models.PositiveIntegerField(default=0)),
                ('losses', models.PositiveIntegerField(default=0)),
                ('difference', models.BigIntegerField(default=0)),
                ('bot', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='meetings', to='league.bot')),
                ('opponent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.bot')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
            ],
        ),
        migrations.CreateModel(
            name='PlayedSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('matches', models.PositiveIntegerField(default=0)),
                ('boards', models.PositiveIntegerField(default=0)),
                ('wins', models.PositiveIntegerField(default=0)),
                ('draws', models.PositiveIntegerField(default=0)),
                ('losses', models.PositiveIntegerField(default=0)),
                ('points', models.BigIntegerField(default=0)),
                ('faults', models.PositiveIntegerField(default=0)),
                ('places', models.PositiveBigIntegerField(default=0)),
                ('sung', models.PositiveBigIntegerField(default=0)),
                ('capotes', models.PositiveBigIntegerField(default=0)),
                ('leads', models.PositiveBigIntegerField(default=0)),
                ('trump_leads', models.PositiveBigIntegerField(default=0)),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='played_sums', to='league.botversion')),
            ],
        ),
        migrations.AddField(
            model_name='match',
            name='summed',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name='meetingsum',
            constraint=models.UniqueConstraint(fields=('bot', 'pool', 'opponent'), name='meeting_sum_once'),
        ),
        migrations.AddConstraint(
            model_name='playedsum',
            constraint=models.UniqueConstraint(fields=('version', 'pool'), name='played_sum_once'),
        ),
        migrations.AddConstraint(
            model_name='playedsum',
            constraint=models.UniqueConstraint(condition=models.Q(('version__isnull', True)), fields=('pool',), name='played_sum_of_pool'),
        ),
    ]
