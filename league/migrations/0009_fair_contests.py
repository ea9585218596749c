"""Bots of each player in a contest, entries that its owner removed, names that were given up, and the words of names for the search."""

from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked

PER_PLAYER = models.PositiveSmallIntegerField(db_default=1, default=1)
STATUSES = [
    ("asked", "waiting for the owner"),
    ("granted", "granted"),
    ("refused", "refused"),
    ("withdrawn", "withdrawn"),
    ("removed", "removed by the organiser"),
    ("expired", "expired"),
]


def forget_removed(apps, schema_editor):
    """Call what the owner removed withdrawn, for the release before."""
    apps.get_model("league", "EntryRequest").objects.filter(status="removed").update(status="withdrawn")


class Migration(migrations.Migration):
    dependencies = [("league", "0008_look_at_old_rows")]

    operations = [
        migrations.AddField("circuit", "per_player", PER_PLAYER.clone()),
        migrations.AddField("event", "per_player", PER_PLAYER.clone()),
        migrations.AddField("tournament", "per_player", PER_PLAYER.clone()),
        migrations.AddField("takenname", "until", models.DateTimeField(null=True)),
        migrations.RemoveConstraint("entryrequest", "request_status_word"),
        migrations.AlterField(
            "entryrequest", "status", models.CharField(choices=STATUSES, default="asked", max_length=10)
        ),
        AddConstraintUnchecked(
            "entryrequest",
            models.CheckConstraint(
                condition=models.Q(("status__in", [word for word, _ in STATUSES])), name="request_status_word"
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_removed),
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=10)),
                ("word", models.CharField(max_length=60)),
                ("row", models.PositiveBigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["kind", "word", "row"],
                        name="search_word_begins",
                        opclasses=["varchar_pattern_ops", "varchar_pattern_ops", "int8_ops"],
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "row", "word"), name="search_word_once")
                ],
            },
        ),
    ]
