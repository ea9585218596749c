from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0067_puzzle_answers'),
    ]

    operations = [
        AddConstraintUnchecked(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('audience__in', ['public', 'entrants', 'hidden'])), name='event_audience_word'),
        ),
    ]
