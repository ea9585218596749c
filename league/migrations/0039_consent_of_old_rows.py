from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0038_consent'),
    ]

    operations = [
        CheckOldRows('bot', 'bot_entry_policy_word'),
    ]
