"""The language of a try and of a draft, tries of guests, and the runtimes of a worker."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


def remove_new_rows(apps: Any, schema_editor: Any) -> None:
    """Remove what the release before has no place for: tries of guests, and second drafts of a bot."""
    tries = apps.get_model("league", "Try").objects.filter(owner=None)
    apps.get_model("league", "Match").objects.filter(pk__in=list(tries.values_list("work", flat=True))).delete()
    apps.get_model("league", "Draft").objects.exclude(language="python").delete()
    if schema_editor.connection.vendor == "postgresql":  # The columns change next, and no check of a removed row may wait.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def nothing(apps: Any, schema_editor: Any) -> None:
    """Change no row."""


class Migration(migrations.Migration):
    dependencies = [("league", "0010_words_of_names")]

    operations = [
        migrations.AddField(
            "worker", "runtimes", models.JSONField(db_default=models.Value([], models.JSONField()), default=list)
        ),
        migrations.AddField(
            "draft", "language", models.CharField(db_default="python", default="python", max_length=12)
        ),
        migrations.AddField("try", "language", models.CharField(db_default="python", default="python", max_length=12)),
        migrations.AddField("try", "guest", models.CharField(blank=True, db_default="", default="", max_length=64)),
        migrations.AddField(
            "try", "guest_from", models.CharField(blank=True, db_default="", default="", max_length=32)
        ),
        migrations.AlterField(
            "try",
            "owner",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tries",
                db_index=False,
                to="league.player",
            ),
        ),
        migrations.RemoveConstraint("draft", "draft_once"),
        migrations.AddConstraint(
            "draft", models.UniqueConstraint(fields=["player", "bot", "language"], name="draft_once")
        ),
        migrations.RunPython(nothing, remove_new_rows),
        # Of rows that are there before, none has a guest.
        AddConstraintUnchecked(
            "try",
            models.CheckConstraint(
                condition=models.Q(owner=None) & ~models.Q(guest="")
                | models.Q(owner__isnull=False, guest="", guest_from=""),
                name="try_has_one_author",
            ),
        ),
    ]
