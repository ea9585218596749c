from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False  # an index is built meanwhile

    dependencies = [
        ('league', '0049_ready_index'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='rating',
            index=models.Index(
                condition=models.Q(('listed', True)),
                fields=['pool', '-elo', 'version', 'provisional'],
                name='rating_listed',
            ),
        ),
    ]
