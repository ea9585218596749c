"""Ratings that owners cannot bend: the certain Elo that gives places, which events count, and absences from the ladders."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, Q

from league.service.migrating import Forget

MARGINS = 2.5  # As in league.pure.rating.leaderboard.CERTAIN at the time of this migration.


def fill_in(apps: Any, schema_editor: Any) -> None:
    """Order the tables until they are ranked again, which this asks for; let events count that did, or that the league runs."""
    apps.get_model("league", "Rating").objects.update(certain=F("elo") - MARGINS * F("margin"))
    apps.get_model("league", "PoolSums").objects.update(ranked=1)
    by_league = Q(owner__name="house") | Q(owner__user__is_staff=True)
    for name in ("Event", "Tournament"):
        model = apps.get_model("league", name)
        rows = model.objects.filter(by_league | Q(status="finished"))
        model.objects.filter(pk__in=rows.values("pk")).update(counts=True)


class Migration(migrations.Migration):
    dependencies = [("league", "0014_failed_audits")]

    operations = [
        Forget("rating", indexes=("rating_table", "rating_listed", "rating_active")),
        migrations.AddField("bot", "away_until", models.DateTimeField(null=True)),
        migrations.AddField("event", "counts", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("rating", "certain", models.FloatField(db_default=0.0, default=0.0)),
        migrations.AddField("tournament", "counts", models.BooleanField(db_default=False, default=False)),
        migrations.RunPython(fill_in, migrations.RunPython.noop),
    ]
