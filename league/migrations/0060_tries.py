import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0059_shown_indexes'),
    ]

    operations = [
        migrations.CreateModel(
            name='Try',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(blank=True, max_length=60)),
                ('source', models.TextField()),
                ('result', models.BinaryField(null=True)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tries', to='league.player')),
                ('rival', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
                ('work', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='tried', to='league.match')),
            ],
            options={
                'indexes': [models.Index(fields=['owner', '-created'], name='try_of_owner'), models.Index(fields=['created'], name='try_created')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('finished__isnull', True), ('result__isnull', True)), models.Q(('finished__isnull', False), ('result__isnull', False)), _connector='OR'), name='try_result_finished')],
            },
        ),
        migrations.RemoveConstraint(
            model_name='match',
            name='match_kind_word',
        ),
        migrations.AlterField(
            model_name='match',
            name='kind',
            field=models.CharField(choices=[('tournament', 'tournament'), ('validation', 'validation'), ('challenge', 'unrated challenge'), ('ladder', 'standing ladder'), ('try', 'try'), ('audit', 'audit')], max_length=12),
        ),
        AddConstraintUnchecked(
            model_name='match',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['tournament', 'validation', 'challenge', 'ladder', 'try', 'audit'])), name='match_kind_word'),
        ),
    ]
