from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0039_consent_of_old_rows'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='match',
            name='match_kind_word',
        ),
        migrations.AlterField(
            model_name='match',
            name='kind',
            field=models.CharField(choices=[('tournament', 'tournament'), ('validation', 'validation'), ('challenge', 'unrated challenge'), ('audit', 'audit')], max_length=12),
        ),
        AddConstraintUnchecked(
            model_name='match',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['tournament', 'validation', 'challenge', 'audit'])), name='match_kind_word'),
        ),
    ]
