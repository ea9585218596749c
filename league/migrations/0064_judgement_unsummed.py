from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False  # indexes are built meanwhile

    dependencies = [
        ('league', '0063_judged_sums'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='judgement',
            index=models.Index(condition=models.Q(('status', 'done'), ('summed', False)), fields=['id'], name='judgement_unsummed'),
        ),
    ]
