from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False  # indexes are built meanwhile

    dependencies = [
        ('league', '0077_table_advice'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(fields=['pool', '-id'], name='match_age_in_pool'),
        ),
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(fields=['tournament', '-id'], name='match_age_in_tournament'),
        ),
    ]
