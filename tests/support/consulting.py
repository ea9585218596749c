"""House bots in a league, and matches in which they can be consulted."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from django.conf import settings

from engine.runner import Limits
from engine.sandbox import Sandbox
from league.domain.bots import house
from league.domain.core import transitions
from league.domain.matches import logs
from league.enums import VersionStatus
from league.models import BotVersion, Consultation, Match, Sitting
from tests.support import jobs
from tests.support.league import NOW, SECRET


def enter(*names: str) -> list[BotVersion]:
    """Enter these house bots as accepted versions; withdraw their validations, so that none is queued."""
    versions = [version for version, _new in house.enter(names, secret=SECRET, now=NOW)]
    for match in Match.objects.filter(parties__version__in=versions, kind="validation").distinct():
        transitions.move(match, "cancelled", now=NOW)
    for version in versions:
        transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    return versions


def told(match: Match) -> Match:
    """Add to a match of `league.play` the opening messages of its seats, which a runner would have stored in its sittings."""
    match = Match.objects.select_related("pool", "tournament").get(pk=match.pk)
    opened = logs.opened(match)
    records = {place: opened.record(place) for place in opened.places()}
    boards = sorted({board for board, _number in records})
    for record in records.values():
        seats = len(record["meta"]["seating"])
        record["faults"], record["timings"] = [], {name: [] for name in ("steps", "seats", "cpu", "wall", "latency")}
        record["pass"] = {"boards": boards, "limits": asdict(Limits()), "seeds": list(range(1, seats + 1))}
    logs.replace(match, logs.pack_records(records))
    return match


def carry_out(folder: Path, *, worker: str = "host:1", now=NOW, stop=lambda: False, box: Sandbox | None = None) -> bool:
    """Let a worker run the next consultation, which starts a bot. Return True if the consultation is finished."""
    job = jobs.CONSULTATION.claim(worker, now=now)
    assert job is not None
    box = box or Sandbox("none", settings.STATE_DIR / "sandbox")
    return jobs.run(job, stop=stop, now=now, folder=folder / "bots", box=box)


def sitting(match: Match, row: Consultation) -> Sitting:
    """Return the sitting that a consultation is about."""
    return Sitting.objects.select_related("board__match").get(
        board__match=match, board__number=row.board, number=row.sitting
    )
