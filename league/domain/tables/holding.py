"""The worker that has a table's bots: a lease with a fencing token, like that of a match, beside the one match of the worker.

While the person thinks the bots are frozen; who thinks for long gives the worker back (`rest`), and the table is taken up again when they
answer. That is the same as after the loss of a worker: the same deals and the journal of actions are put to fresh bots.
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

from engine.runner.table import Question, TableResult, Taken
from league.domain.core import clock, transitions
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.tables import seating
from league.enums import TableStatus
from league.models import Table, TableAction, TableSeat
from league.models.tables import NO_ADVICE
from league.service import listening

log = logging.getLogger("league.tables")
ATTEMPTS = 3  # in a row that may fail for a reason of ours
BACKOFF_S = 2


class Lost(Exception):
    """The table is not this worker's any more: its player has left, or the lease ran out."""


@dataclass
class Held:
    """A table that this worker has leased. secret: keys its deals."""

    row: Table
    secret: bytes
    lost: bool = False

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease."""
        self.lost |= not mine(self.row).update(lease_until=_deadline(clock.now_or(now)))


def mine(row: Table) -> QuerySet[Table]:
    """The row, while it is held by the lease that it was read with."""
    return Table.objects.filter(pk=row.pk, token=row.token, status=TableStatus.HELD)


def _due(now: datetime) -> QuerySet[Table]:
    return Table.objects.filter(status=TableStatus.WAITING).exclude(not_before__gt=now)


def is_awaited(*, now: datetime | None = None) -> bool:
    """Whether a table waits for a worker. One query, of an index that holds nothing else."""
    return _due(clock.now_or(now)).exists()


def claim(worker: str, *, now: datetime | None = None) -> Held | None:
    """Lease the table to `worker` that has waited longest; None if none does."""
    now = clock.now_or(now)
    if not is_awaited(now=now):
        return None
    with transaction.atomic():
        rows = _due(now).select_related("pool").order_by("since", "id")
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
        if connection.vendor == "postgresql":  # a function tells it, for workers may not read the column
            secret = Func(F("pk"), F("token"), function="league_secret_of_table", output_field=BinaryField())
        told = bytes(Table.objects.annotate(told=secret).values_list("told", flat=True).get(pk=row.pk))
    if _seats(row).filter(Q(version__bot__stopped__isnull=False) | Q(version__bot__owner_banned=True)).exists():
        _move(row, TableStatus.VOID, now=now, why="a bot at this table is held back", **seating.ended(now))
        return None
    return Held(row, told)


def _seats(row: Table) -> QuerySet[TableSeat]:
    return TableSeat.objects.filter(table=row)


def seats(row: Table) -> list[TableSeat]:
    """The bots, with what is needed to start them; that at the person's seat gives advice."""
    return list(_seats(row).select_related("version__bot", "version__package").order_by("number"))


def taken(row: Table) -> list[Taken]:
    """The journal, in order."""
    lines = TableAction.objects.filter(table=row).order_by("number").values_list("seat", "action")
    return [Taken(seat, action) for seat, action in lines]


def ask(held: Held, question: Question, made: Sequence[Taken], *, now: datetime | None = None) -> None:
    """Write down what the bots have done since, and ask the person: both or nothing. Raises Lost."""
    now = clock.now_or(now)
    with transaction.atomic():
        _write(held, question.number - len(made), made, now)
        told = {
            "legal": question.legal,
            "seen": question.events,
            "scores": question.scores,
            "board": question.board,
            "hand": question.hand,
        }
        mine(held.row).update(turn=question.number, since=now, attempts=0, **told)
        listening.notify(transitions.subject(held.row))


def _write(held: Held, first: int, made: Sequence[Taken], now: datetime) -> None:
    """The next lines of the journal, behind the lock of the row."""
    if mine(held.row).select_for_update().first() is None:
        raise Lost
    TableAction.objects.bulk_create(
        TableAction(table=held.row, number=first + place, seat=one.seat, action=one.action, at=now)
        for place, one in enumerate(made)
    )


def answer(held: Held, number: int) -> str | None:
    """What the person has answered; None while they think. Raises Lost. One query, two where there is an answer."""
    found = mine(held.row).values_list("turn").first()
    if found is None:
        raise Lost
    if found[0] is not None:
        return None
    return TableAction.objects.values_list("action", flat=True).get(table=held.row, number=number)


def wants_advice(held: Held) -> bool:
    """Whether the person has asked for advice that nobody has given. One query."""
    return mine(held.row).filter(advice_asked__isnull=False, advice="").exists()


def advise(held: Held, number: int, action: str | None) -> None:
    """Say what the advisor would do at that decision, if it is still asked for; None: it has failed."""
    with transaction.atomic():
        asked = mine(held.row).filter(turn=number, advice_asked=number, advice="")
        if asked.update(advice=action or NO_ADVICE):
            listening.notify(transitions.subject(held.row))


def rest(held: Held, number: int, *, now: datetime | None = None) -> bool:
    """The person thinks for long: give the table back until they answer. False where they just have, wait for advice, or it is not the caller's."""
    with transaction.atomic():
        there = mine(held.row).select_for_update().first()
        if there is None or there.awaits_advice:
            return False
        return _move(there, TableStatus.RESTING, now=clock.now_or(now), guard={"turn": number})


def release(held: Held, why: str, *, now: datetime | None = None) -> None:
    """Give the table back, because the worker is told to stop; no attempt is counted."""
    _let_go(held.row, why, clock.now_or(now), attempts=0)


def fail(held: Held, error: Exception, *, now: datetime | None = None) -> None:
    """Something of ours failed. It is tried again, and after some tries void."""
    now, row = clock.now_or(now), held.row
    log.error("table %s: attempt %d failed", row.public_id, row.attempts, exc_info=error)
    _give_up_or_let_go(row, without_folders(f"{type(error).__name__}: {error}"[:500]), now)


def finish(held: Held, result: TableResult, first: int, *, now: datetime | None = None) -> None:
    """Store what was played, once. first: the number of the first decision of `result.decisions`. Raises Lost."""
    now = clock.now_or(now)
    told: dict[str, Any] = {
        "scores": result.scores,
        "seen": result.events,
        "board": len(result.scores),
        "fault": result.fault.kind if result.fault else "",
        "records": seating.packed(result.records),
    }
    with transaction.atomic():
        _write(held, first, result.decisions, now)
        if not _move(held.row, TableStatus.FINISHED, now=now, **seating.ended(now), **told):
            raise Lost


def expire(*, now: datetime | None = None, most: int = 500) -> int:
    """Take back the tables of workers that have been silent past their lease; their number."""
    now = clock.now_or(now)
    overdue = Table.objects.filter(status=TableStatus.HELD, lease_until__lt=now).order_by("id")[:most]
    return sum(_give_up_or_let_go(row, f"worker {row.worker} was lost", now, overdue=True) for row in overdue)


def abandon(*, now: datetime | None = None, most: int = 500) -> int:
    """End the tables whose player has answered nothing for `TABLE_AWAY_S`, and those that no worker took for so long; their number."""
    now = clock.now_or(now)
    old = Table.objects.filter(since__lt=now - timedelta(seconds=settings.TABLE_AWAY_S)).order_by("id")
    count = 0
    for row in old.filter(status=TableStatus.RESTING)[:most]:
        count += _end(row, TableStatus.ABANDONED, "its player was away", now)
    for row in old.filter(status=TableStatus.WAITING)[:most]:
        count += _end(row, TableStatus.VOID, "no worker was free for it", now)
    return count


def _end(row: Table, to: str, why: str, now: datetime) -> bool:
    return _move(row, to, now=now, why=why, guard={"since": row.since}, **seating.ended(now))


def _give_up_or_let_go(row: Table, why: str, now: datetime, *, overdue: bool = False) -> bool:
    guard: dict[str, Any] | None = {"lease_until__lt": now} if overdue else None
    if row.attempts < ATTEMPTS:
        pause = now + timedelta(seconds=BACKOFF_S * row.attempts)
        return _let_go(row, why, now, guard=guard, not_before=pause)
    return _move(row, TableStatus.VOID, now=now, why=why, guard=guard, **seating.ended(now))


def _let_go(row: Table, why: str, now: datetime, guard: dict[str, Any] | None = None, **columns: Any) -> bool:
    """Back to where it needs no worker, if the person is asked, else in line for another one."""
    with transaction.atomic():
        there = mine(row).select_for_update().first()
        if there is None:
            return False
        to = TableStatus.WAITING if there.turn is None or there.awaits_advice else TableStatus.RESTING
        return _move(there, to, now=now, why=why, guard=guard, **columns)


def _move(
    row: Table, to: str, *, now: datetime, why: str = "", guard: dict[str, Any] | None = None, **columns: Any
) -> bool:
    """Guarded by the lease, and by what else it was decided on."""
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
