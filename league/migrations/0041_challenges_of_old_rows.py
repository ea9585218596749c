from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0040_challenges'),
    ]

    operations = [
        CheckOldRows('match', 'match_kind_word'),
    ]
