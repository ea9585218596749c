"""Tables of guests, who have no account. Tables with advice, which never counted, say so themselves."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


def note_advice(apps: Any, schema_editor: Any) -> None:
    """Mark the tables with a bot at the person's own seat."""
    apps.get_model("league", "Table").objects.filter(seats__number=models.F("seat")).update(rated=False)


def remove_guests(apps: Any, schema_editor: Any) -> None:
    """Remove the tables of guests, which the release before has no place for."""
    apps.get_model("league", "Table").objects.filter(player=None).delete()
    if schema_editor.connection.vendor == "postgresql":  # The columns change next, and no check of a removed row may wait.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    """Add who a guest is, and whether a table is rated."""

    dependencies = [("league", "0001_squashed_0079_consultations")]

    operations = [
        migrations.AlterField(
            "table",
            "player",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tables",
                db_index=False,
                to="league.player",
            ),
        ),
        migrations.AddField("table", "guest", models.CharField(blank=True, db_default="", default="", max_length=64)),
        migrations.AddField(
            "table", "guest_from", models.CharField(blank=True, db_default="", default="", max_length=32)
        ),
        migrations.AddField("table", "rated", models.BooleanField(db_default=True, default=True)),
        migrations.RunPython(note_advice, remove_guests),
        # Of rows that are there before, none has a guest.
        AddConstraintUnchecked(
            "table",
            models.CheckConstraint(
                condition=models.Q(player=None, rated=False) & ~models.Q(guest="")
                | models.Q(player__isnull=False, guest="", guest_from=""),
                name="table_has_one_person",
            ),
        ),
    ]
