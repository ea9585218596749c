"""The look at the tries that were there before the constraint of 0011."""

from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):
    """Validate the constraint, which takes no lock that others wait for."""

    dependencies = [("league", "0011_languages_and_guests")]

    operations = [CheckOldRows("try", "try_has_one_author")]
