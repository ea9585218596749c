"""Leases of tables: the worker that runs a table's bots, guarded by a fencing token, beside the one match of that worker.

While the person thinks the bots are frozen. After a long time the worker releases the table (`rest`); it is claimed again when the person answers.
That works like the loss of a worker: fresh bots get the same deals and the journal of actions.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import BinaryField, F, Func, Q, QuerySet
from django.db.models.lookups import IsNull

from engine.runner.table import Question, TableResult, Taken
from league.domain.core import clock, transitions
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.tables import seating
from league.enums import TableStatus
from league.models import Table, TableAction, TableSeat
from league.models.tables import NO_ADVICE
from league.service import listening

log = logging.getLogger("league.tables")
ATTEMPTS = 3  # Attempts in a row that may fail by a fault of ours.
BACKOFF_S = 2


class LeaseLost(Exception):
    """The worker no longer has the table: its player has left, or the lease ran out."""


@dataclass
class TableLease:
    """A table that this worker has leased. secret: the key of its deals."""

    row: Table
    secret: bytes
    lost: bool = False

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease."""
        self.lost |= not leased(self.row).update(lease_until=_deadline(clock.now_or(now)))


def leased(row: Table) -> QuerySet[Table]:
    """Select the row if it still has the lease that it was read with."""
    return Table.objects.filter(pk=row.pk, token=row.token, status=TableStatus.HELD)


def _due(now: datetime) -> QuerySet[Table]:
    return Table.objects.filter(status=TableStatus.WAITING).exclude(not_before__gt=now)


def is_awaited(*, now: datetime | None = None) -> bool:
    """Return True if a table waits for a worker. One query on an index of such tables."""
    return _due(clock.now_or(now)).exists()


def claim(worker: str, *, now: datetime | None = None) -> TableLease | None:
    """Lease the table that has waited longest to `worker`, those of players before those of guests; None if none waits."""
    now = clock.now_or(now)
    if not is_awaited(now=now):
        return None
    with transaction.atomic():
        rows = _due(now).select_related("pool").order_by(IsNull(F("player"), True), "since", "id")
        row = rows.select_for_update(skip_locked=True, of=("self",)).first()
        if row is None:
            return None
        transitions.move(
            row,
            TableStatus.HELD,
            now=now,
            actor=worker,
            guard={"token": row.token},
            token=row.token + 1,
            worker=worker,
            lease_until=_deadline(now),
            attempts=row.attempts + 1,
            reason="",
        )
        secret: Func | F = F("secret")
        if connection.vendor == "postgresql":  # Workers may not read the column, so a function returns it.
            secret = Func(F("pk"), F("token"), function="league_secret_of_table", output_field=BinaryField())
        key = bytes(Table.objects.annotate(key=secret).values_list("key", flat=True).get(pk=row.pk))
    if _seats(row).filter(Q(version__bot__stopped__isnull=False) | Q(version__bot__owner_banned=True)).exists():
        _move(row, TableStatus.VOID, now=now, why="a bot at this table is paused", **seating.ended(now))
        return None
    return TableLease(row, key)


def _seats(row: Table) -> QuerySet[TableSeat]:
    return TableSeat.objects.filter(table=row)


def seats(row: Table) -> list[TableSeat]:
    """Return the bots with all that is needed to start them; the one at the person's seat gives advice."""
    return list(_seats(row).select_related("version__bot", "version__package").order_by("number"))


def taken(row: Table) -> list[Taken]:
    """Return the journal in order."""
    lines = TableAction.objects.filter(table=row).order_by("number").values_list("seat", "action")
    return [Taken(seat, action) for seat, action in lines]


def ask(lease: TableLease, question: Question, actions: Sequence[Taken], *, now: datetime | None = None) -> None:
    """Store the actions of the bots since the last question, and ask the person; both or neither. Raise LeaseLost."""
    now = clock.now_or(now)
    with transaction.atomic():
        _write(lease, question.number - len(actions), actions, now)
        columns = {
            "legal": question.legal,
            "seen": question.events,
            "scores": question.scores,
            "board": question.board,
            "hand": question.hand,
        }
        leased(lease.row).update(turn=question.number, since=now, attempts=0, **columns)
        listening.notify(transitions.subject(lease.row))


def _write(lease: TableLease, first: int, actions: Sequence[Taken], now: datetime) -> None:
    """Append lines to the journal, with the row locked."""
    if leased(lease.row).select_for_update().first() is None:
        raise LeaseLost
    TableAction.objects.bulk_create(
        TableAction(table=lease.row, number=first + place, seat=taken.seat, action=taken.action, at=now)
        for place, taken in enumerate(actions)
    )


def answer(lease: TableLease, number: int) -> str | None:
    """Return the person's answer; None while they think. Raise LeaseLost. One query, two if there is an answer."""
    row = leased(lease.row).values_list("turn").first()
    if row is None:
        raise LeaseLost
    if row[0] is not None:
        return None
    return TableAction.objects.values_list("action", flat=True).get(table=lease.row, number=number)


def wants_advice(lease: TableLease) -> bool:
    """Return True if the person waits for advice. One query."""
    return leased(lease.row).filter(advice_asked__isnull=False, advice="").exists()


def advise(lease: TableLease, number: int, action: str | None) -> None:
    """Store the advisor's action for this decision if it is still wanted; None if the advisor failed."""
    with transaction.atomic():
        waiting = leased(lease.row).filter(turn=number, advice_asked=number, advice="")
        if waiting.update(advice=action or NO_ADVICE):
            listening.notify(transitions.subject(lease.row))


def rest(lease: TableLease, number: int, *, now: datetime | None = None) -> bool:
    """Release the table until the person answers. Return False if they just have, wait for advice, or the lease is lost."""
    with transaction.atomic():
        row = leased(lease.row).select_for_update().first()
        if row is None or row.awaits_advice:
            return False
        return _move(row, TableStatus.RESTING, now=clock.now_or(now), guard={"turn": number})


def release(lease: TableLease, why: str, *, now: datetime | None = None) -> None:
    """Release the table because the worker stops; this counts as no attempt."""
    _release(lease.row, why, clock.now_or(now), attempts=0)


def fail(lease: TableLease, error: Exception, *, now: datetime | None = None) -> None:
    """Handle a fault of ours: try again, and void the table after ATTEMPTS."""
    now, row = clock.now_or(now), lease.row
    log.error("table %s: attempt %d failed", row.public_id, row.attempts, exc_info=error)
    _retry_or_void(row, without_folders(f"{type(error).__name__}: {error}"[:500]), now)


def finish(lease: TableLease, result: TableResult, first: int, *, now: datetime | None = None) -> None:
    """Store the result, once. first: the number of the first decision in `result.decisions`. Raise LeaseLost."""
    now = clock.now_or(now)
    columns: dict[str, Any] = {
        "scores": result.scores,
        "seen": result.events,
        "board": len(result.scores),
        "fault": result.fault.kind if result.fault else "",
        "records": seating.packed(result.records),
    }
    with transaction.atomic():
        _write(lease, first, result.decisions, now)
        if not _move(lease.row, TableStatus.FINISHED, now=now, **seating.ended(now), **columns):
            raise LeaseLost


def expire(*, now: datetime | None = None, most: int = 500) -> int:
    """Take back the tables of workers whose leases have run out; return their number."""
    now = clock.now_or(now)
    overdue = Table.objects.filter(status=TableStatus.HELD, lease_until__lt=now).order_by("id")[:most]
    return sum(_retry_or_void(row, f"worker {row.worker} was lost", now, overdue=True) for row in overdue)


def away_s(row: Table) -> int:
    """Return the seconds without an answer after which this table is abandoned."""
    return settings.GUEST_AWAY_S if row.player_id is None else settings.TABLE_AWAY_S


def abandon(*, now: datetime | None = None, most: int = 500) -> int:
    """End tables whose person has not answered for `away_s`, or that no worker claimed for that time; return their number."""
    now = clock.now_or(now)
    count = 0
    for is_guest, away in ((False, settings.TABLE_AWAY_S), (True, settings.GUEST_AWAY_S)):
        old = Table.objects.filter(player__isnull=is_guest, since__lt=now - timedelta(seconds=away)).order_by("id")
        for row in old.filter(status=TableStatus.RESTING)[:most]:
            count += _end(row, TableStatus.ABANDONED, "its player was away", now)
        for row in old.filter(status=TableStatus.WAITING)[:most]:
            count += _end(row, TableStatus.VOID, "no worker was free for it", now)
    return count


def _end(row: Table, to: str, why: str, now: datetime) -> bool:
    return _move(row, to, now=now, why=why, guard={"since": row.since}, **seating.ended(now))


def _retry_or_void(row: Table, why: str, now: datetime, *, overdue: bool = False) -> bool:
    guard: dict[str, Any] | None = {"lease_until__lt": now} if overdue else None
    if row.attempts < ATTEMPTS:
        pause = now + timedelta(seconds=BACKOFF_S * row.attempts)
        return _release(row, why, now, guard=guard, not_before=pause)
    return _move(row, TableStatus.VOID, now=now, why=why, guard=guard, **seating.ended(now))


def _release(row: Table, why: str, now: datetime, guard: dict[str, Any] | None = None, **columns: Any) -> bool:
    """Release a lease: the table rests if the person is to move, else it waits for another worker."""
    with transaction.atomic():
        current = leased(row).select_for_update().first()
        if current is None:
            return False
        to = TableStatus.WAITING if current.turn is None or current.awaits_advice else TableStatus.RESTING
        return _move(current, to, now=now, why=why, guard=guard, **columns)


def _move(
    row: Table, to: str, *, now: datetime, why: str = "", guard: dict[str, Any] | None = None, **columns: Any
) -> bool:
    """Change the status, guarded by the lease and by `guard`."""
    columns = {"worker": "", "lease_until": None, "reason": why, **columns}
    try:
        with transaction.atomic():
            transitions.move(
                row, to, now=now, actor=row.worker, why=why, guard={"token": row.token, **(guard or {})}, **columns
            )
            listening.notify(transitions.subject(row))
    except IllegalMove as error:
        log.info("table %s: %s", row.public_id, error)
        return False
    return True


def _deadline(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_S)
