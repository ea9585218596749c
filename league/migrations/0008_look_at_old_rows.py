"""The look at the rows that were there before the constraints of 0002 and 0004."""

from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):
    """Validate the constraints, which takes no lock that others wait for."""

    dependencies = [("league", "0007_open_requests")]

    operations = [
        CheckOldRows("table", "table_has_one_person"),
        CheckOldRows("event", "event_entrance_word"),
        CheckOldRows("tournament", "tournament_entrance_word"),
    ]
