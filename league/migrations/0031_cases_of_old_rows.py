from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0030_cases'),
    ]

    operations = [
        CheckOldRows('audit', 'audit_conclusion_word'),
        CheckOldRows('check', 'check_name_word'),
    ]
