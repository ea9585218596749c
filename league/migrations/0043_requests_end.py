from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('league', '0042_session_owners'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='entryrequest',
            index=models.Index(condition=models.Q(('status', 'asked')), fields=['created'], name='request_open'),
        ),
    ]
