from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0060_tries'),
    ]

    operations = [
        CheckOldRows('match', 'match_kind_word'),
    ]
