"""An audit carried out by the worker that leased it, and its result, stored exactly once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from django.db import transaction

from engine.runner import audit as runner
from engine.runner.rebuild import passes
from engine.sandbox import Sandbox
from league.domain.bots import packages
from league.domain.core import clock, journal, transitions
from league.domain.matches import leases, replays
from league.enums import MatchStatus
from league.models import Audit, Match, Sitting


def carry_out(work: Match, box: Sandbox, folder: Path, *, stop: Callable[[], bool]) -> runner.Audit | None:
    """Put the conversation to its bot again; None where `stop` said so. folder: of the unpacked bots.

    Raises Unreadable, ReplayError or ValueError for a log that cannot be played again, SandboxError and OSError for faults of ours.
    """
    rows = Audit.objects.select_related("version__bot", "version__package", "match").defer("match__secret")
    row = rows.get(work=work)
    played = Sitting.objects.filter(board__match=row.match, number=row.sitting).order_by("board__number")
    sittings = list(played.select_related("board"))
    for sitting in sittings:
        sitting.board.match = row.match  # one for all: its log is read once
    (group,) = passes(map(replays.unpack, sittings))
    bot = packages.spec(row.version, folder)
    return runner.audit(
        bot, box, group, row.seat, deterministic=row.version.deterministic, seed=work.public_id, stop=stop
    )


def report(match_id: int, token: int, found: runner.Audit, *, now: datetime | None = None) -> bool:
    """Store the result and finish the work, in one transaction. False, and nothing is changed, where the lease is not the present one."""
    now = clock.now_or(now)
    with transaction.atomic():
        mine = Match.work.select_for_update().filter(pk=match_id, token=token, status=MatchStatus.RUNNING)
        work = mine.first()
        if work is None:
            return False
        row = Audit.objects.select_related("match", "version__bot").defer("match__secret").get(work=work)
        plain = found.plain()
        row.fault_detail = plain.pop("detail").replace("\0", "\ufffd")  # PostgreSQL has no NUL in text
        for column, value in plain.items():
            setattr(row, column, value)
        row.finished = now
        row.save(update_fields=["fault_detail", *plain, "finished"])
        leases.finish(work, now=now)
        journal.append(
            "audit.finished",
            transitions.subject(row.match),
            now=now,
            actor=work.worker,
            verdict=row.verdict,
            version=str(row.version),
            sitting=row.sitting,
            seat=row.seat,
            reason=row.reason,
            decisions=row.decisions,
        )
    return True
