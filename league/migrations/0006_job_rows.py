"""What waits or is being done becomes rows of the table of work; on the way back the old columns get it again."""

from collections.abc import Iterator
from typing import Any

from django.db import migrations
from django.db.models import F

from league.service.migrating import Forget

LEASE = ("token", "worker", "lease_until", "attempts")
REQUESTS = (("analysis", "judgement"), ("consultation", "consultation"))


def of_requests(apps: Any, kind: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the jobs of what players have asked for."""
    rows = apps.get_model("league", name).objects.filter(status__in=["asked", "working"]).order_by("id")
    columns = ("id", "status", "asked_by_id", "place", "created", "progress", "reason", *LEASE)
    for row in rows.values(*columns):
        state = "leased" if row.pop("status") == "working" else "queued"
        subject = {f"{name}_id": row.pop("id"), "owner_id": row.pop("asked_by_id"), "position": row.pop("place")}
        yield {"kind": kind, "state": state, **subject, **row}


def of_puzzles(apps: Any) -> Iterator[dict[str, Any]]:
    """Yield the jobs of matches that are to be searched."""
    rows = apps.get_model("league", "PuzzleSearch").objects.filter(finished=None).order_by("judgement")
    for row in rows.values("judgement_id", "worker", "lease_until", "attempts", created=F("judgement__created")):
        if not row["worker"]:  # it waits until then
            row["not_before"] = row.pop("lease_until")
        yield {"kind": "puzzles", "state": "leased" if row["worker"] else "queued", **row}


def of_tables(apps: Any) -> Iterator[dict[str, Any]]:
    """Yield the jobs of tables whose bots are to move."""
    rows = apps.get_model("league", "Table").objects.filter(status__in=["waiting", "held"]).order_by("since", "id")
    for row in rows.values("id", "status", "since", "not_before", *LEASE):
        state = "leased" if row.pop("status") == "held" else "queued"
        yield {"kind": "table", "state": state, "table_id": row.pop("id"), "created": row.pop("since"), **row}


def fill(apps: Any, editor: Any) -> None:
    """Give everything that waits or is being done its job, with its lease."""
    model = apps.get_model("league", "Job")
    jobs = [*(job for kind, name in REQUESTS for job in of_requests(apps, kind, name)), *of_puzzles(apps), *of_tables(apps)]
    model.objects.bulk_create([model(**job) for job in jobs], batch_size=500)


def empty(apps: Any, editor: Any) -> None:
    """Write the leases into the columns of the release before."""
    for job in apps.get_model("league", "Job").objects.order_by("id"):
        lease = {name: getattr(job, name) for name in LEASE}
        if job.kind == "table":
            apps.get_model("league", "Table").objects.filter(pk=job.table_id).update(not_before=job.not_before, **lease)
        elif job.kind == "puzzles":
            lease["lease_until"] = job.lease_until or job.not_before
            del lease["token"]
            apps.get_model("league", "PuzzleSearch").objects.filter(pk=job.judgement_id).update(**lease)
        else:
            model, pk = next((name, getattr(job, f"{name}_id")) for kind, name in REQUESTS if kind == job.kind)
            rows = apps.get_model("league", model).objects.filter(pk=pk)
            rows.update(place=job.position, progress=job.progress, **lease)
    apps.get_model("league", "Job").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("league", "0005_jobs")]

    operations = [
        migrations.RunPython(fill, empty),
        Forget("judgement", ("place", *LEASE, "progress"), ("judgement_waits",)),
        Forget("consultation", ("place", *LEASE, "progress"), ("consultation_waits",)),
        Forget("puzzlesearch", ("worker", "lease_until", "attempts")),
        Forget("table", (*LEASE, "not_before"), ("table_waits",)),
    ]
