from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False  # indexes are built meanwhile

    dependencies = [
        ('league', '0058_tables_of_days'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='rating',
            index=models.Index(
                condition=models.Q(('idle', False), ('listed', True)),
                fields=['pool', '-elo', 'version'],
                name='rating_active',
            ),
        ),
        AddIndexMeanwhile(
            model_name='bot',
            index=models.Index(condition=models.Q(('is_house', True)), fields=['id'], name='bot_of_house'),
        ),
    ]
