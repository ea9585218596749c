from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('league', '0033_operators'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='leagueevent',
            index=models.Index(condition=models.Q(('kind', 'operator.acted')), fields=['id'], name='event_operators'),
        ),
    ]
