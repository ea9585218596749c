"""Open bots: who may read the source of a version, from when, under which licence, and from which version it comes. The slowest decision of ratings."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked, AddIndexMeanwhile, CheckOldRows

LICENCES = [
    ("MIT", "MIT: any use, if it names you"),
    ("Apache-2.0", "Apache 2.0: any use, if it names you; with patents"),
    ("GPL-3.0-or-later", "GPL 3 or later: published forks stay open"),
    ("CC0-1.0", "CC0: any use, without conditions"),
]


def fill_in(apps: Any, _schema_editor: Any) -> None:
    """Look up the slowest decision of each rated version, pool by pool."""
    rating, party, pool = (apps.get_model("league", name) for name in ("Rating", "Party", "Pool"))
    counted = party.objects.filter(
        version=models.OuterRef("version"), match__pool=models.OuterRef("pool"), match__counted__isnull=False
    )
    slowest = counted.order_by().values("version").annotate(most=models.Max("max_cpu_s")).values("most")
    for pk in pool.objects.values_list("pk", flat=True):
        rating.objects.filter(pool=pk).update(slowest_s=models.Subquery(slowest))


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("league", "0002_squashed_0030_lobby")]

    operations = [
        migrations.AddField(
            "botversion",
            "licence",
            models.CharField(blank=True, choices=LICENCES, db_default="", default="", max_length=20),
        ),
        migrations.AddField("botversion", "opened", models.DateTimeField(null=True)),
        migrations.AddField("botversion", "opens", models.DateTimeField(null=True)),
        migrations.AddField(
            "botversion", "opens_after", models.CharField(blank=True, db_default="", default="", max_length=80)
        ),
        migrations.AddField(
            "botversion",
            "origin",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="forks",
                to="league.botversion",
            ),
        ),
        migrations.AddField("rating", "slowest_s", models.FloatField(null=True)),
        AddIndexMeanwhile(
            "botversion",
            models.Index(condition=models.Q(origin__isnull=False), fields=["origin"], name="version_forks"),
        ),
        AddIndexMeanwhile(
            "botversion",
            models.Index(
                condition=models.Q(models.Q(opens__isnull=False) | ~models.Q(opens_after=""), opened=None),
                fields=["id"],
                name="version_to_open",
            ),
        ),
        AddConstraintUnchecked(
            "botversion",
            models.CheckConstraint(
                condition=models.Q(licence__in=["MIT", "Apache-2.0", "GPL-3.0-or-later", "CC0-1.0", ""]),
                name="version_licence_word",
            ),
        ),
        CheckOldRows("botversion", "version_licence_word"),
        migrations.RunPython(fill_in, migrations.RunPython.noop),
    ]
