import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked

CASCADE = django.db.models.deletion.CASCADE
KEPT = models.Q(('status__in', ['asked', 'granted', 'refused']))


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0037_right_of_audits'),
    ]

    operations = [
        migrations.AddField(
            model_name='bot',
            name='entry_policy',
            field=models.CharField(choices=[('usual', 'as usual: into public leagues anybody, into other rated events who has asked'), ('anybody', 'anybody'), ('ask', 'who has asked'), ('nobody', 'nobody')], db_default='usual', default='usual', max_length=10),
        ),
        AddConstraintUnchecked(
            model_name='bot',
            constraint=models.CheckConstraint(condition=models.Q(('entry_policy__in', ['usual', 'anybody', 'ask', 'nobody'])), name='bot_entry_policy_word'),
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created', models.DateTimeField()),
                ('blocked', models.ForeignKey(db_index=False, on_delete=CASCADE, related_name='+', to='league.player')),
                ('owner', models.ForeignKey(on_delete=CASCADE, related_name='blocks', to='league.player')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('owner', 'blocked'), name='block_once'),
                    models.CheckConstraint(condition=models.Q(('owner', models.F('blocked')), _negated=True), name='block_of_another'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EntryRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message', models.CharField(blank=True, max_length=300)),
                ('status', models.CharField(choices=[('asked', 'waits for its owner'), ('granted', 'granted'), ('refused', 'refused'), ('withdrawn', 'withdrawn'), ('expired', 'expired')], default='asked', max_length=10)),
                ('created', models.DateTimeField()),
                ('answered', models.DateTimeField(null=True)),
                ('asker', models.ForeignKey(on_delete=CASCADE, related_name='requests', to='league.player')),
                ('bot', models.ForeignKey(on_delete=CASCADE, related_name='requests', to='league.bot')),
                ('circuit', models.ForeignKey(null=True, on_delete=CASCADE, related_name='requests', to='league.circuit')),
                ('event', models.ForeignKey(null=True, on_delete=CASCADE, related_name='requests', to='league.event')),
                ('tournament', models.ForeignKey(null=True, on_delete=CASCADE, related_name='requests', to='league.tournament')),
                ('version', models.ForeignKey(db_index=False, null=True, on_delete=CASCADE, related_name='+', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(fields=['asker', 'created'], name='request_asked')],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('status__in', ['asked', 'granted', 'refused', 'withdrawn', 'expired'])), name='request_status_word'),
                    models.CheckConstraint(condition=models.Q(models.Q(('circuit', None), ('event', None), ('tournament__isnull', False)), models.Q(('circuit', None), ('event__isnull', False), ('tournament', None)), models.Q(('circuit__isnull', False), ('event', None), ('tournament', None)), _connector='OR'), name='request_is_for_one'),
                    models.UniqueConstraint(condition=KEPT, fields=('bot', 'tournament'), name='request_tournament_once'),
                    models.UniqueConstraint(condition=KEPT, fields=('bot', 'event'), name='request_event_once'),
                    models.UniqueConstraint(condition=KEPT, fields=('bot', 'circuit'), name='request_circuit_once'),
                ],
            },
        ),
    ]
