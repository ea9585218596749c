"""The words of the names that are there, and the look at old rows of requests."""

from django.db import migrations, models
from django.utils.text import slugify

from league.service.migrating import AddIndexMeanwhile, CheckOldRows

GIVEN_UP = models.Q(until__isnull=False)
BATCH, MOST_WORDS = 1000, 12


def fill(apps, schema_editor):
    """Write the words of each name, in batches. Repeatable."""
    SearchWord = apps.get_model("league", "SearchWord")
    sources = [
        ("player", ("name",), {}),
        ("bot", ("slug",), {}),
        ("tournament", ("name", "slug"), {"event": None, "season": None}),
        ("event", ("name", "slug"), {"private": False}),
        ("circuit", ("name", "slug"), {}),
    ]
    for kind, columns, which in sources:
        rows = apps.get_model("league", kind).objects.filter(**which).order_by("pk")
        last = 0
        while batch := list(rows.filter(pk__gt=last).values_list("pk", *columns)[:BATCH]):
            last = batch[-1][0]
            SearchWord.objects.bulk_create(
                (SearchWord(kind=kind, word=word, row=pk) for pk, *names in batch for word in _split(names)),
                ignore_conflicts=True,
            )


def _split(names):
    words = (word[:60] for name in names for word in slugify(name).split("-") if word)
    return list(dict.fromkeys(words))[:MOST_WORDS]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("league", "0009_fair_contests")]

    operations = [
        CheckOldRows("entryrequest", "request_status_word"),
        AddIndexMeanwhile("takenname", models.Index(fields=["holder"], condition=GIVEN_UP, name="name_given_up")),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
