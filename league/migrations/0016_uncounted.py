from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('league', '0015_sealed'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(('counted', None), ('rated', True), ('status', 'finished')), fields=['pool', 'finished'], name='match_uncounted'),
        ),
    ]
