from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0068_audience_word'),
    ]

    operations = [
        CheckOldRows(model_name='event', name='event_audience_word'),
    ]
