"""Running tables: the lease by which a worker runs the bots of a table, besides the one match of that worker.

While a person thinks, the bots are frozen. After a long time the worker ends the job (`rest`), and the table gets a new job when the person
answers. The next worker starts new bots and repeats the deals and the journal for them, as after the loss of a worker.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import BinaryField, Exists, F, Func, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.lookups import IsNull

from engine.runner.table import NEXT, Question, SeatView, TableResult, Taken
from league.domain.core import clock, queue, transitions
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.core.queue import AttemptTerms, LeaseLost
from league.domain.matches import workers
from league.domain.tables import clocks, people, seating
from league.domain.tables.seating import JOB
from league.enums import JobState, TableStatus
from league.models import Job, Table, TableAction, TablePerson, TableSeat
from league.models.tables import LIVE, NO_ADVICE
from league.service import listening, topics

log = logging.getLogger("league.tables")
TERMS = AttemptTerms(attempts=3)  # The attempts are counted from zero again at each decision of a person.
SHORTEST = timedelta(seconds=5)  # The shortest time between two looks at a resting shared table.
NO_SEATS = "all seats for bots are taken"  # Why a table has been put back. The page says it, too.
ROOM = timedelta(minutes=10)  # A table at which nobody gets ready ends after this time without a change.


@dataclass(eq=False)
class TableLease:
    """A table that this worker has leased. secret: the key of its deals."""

    job: Job
    row: Table
    secret: bytes
    lost: bool = False

    def __str__(self) -> str:
        return f"table {self.row.public_id}"

    def beat(self, *, now: datetime | None = None) -> None:
        """Renew the lease."""
        beat([self], now=now)


def beat(leases: Sequence[TableLease], *, now: datetime | None = None) -> None:
    """Renew leases, and note which are lost. Two queries for any number."""
    leased = queue.beat_all([lease.job for lease in leases], now=clock.now_or(now)) if leases else ()
    for lease in leases:
        lease.lost |= (lease.job.pk, lease.job.token) not in leased


def _leased(lease: TableLease) -> QuerySet[Table]:
    """Select the row if the worker still has the lease."""
    return Table.objects.filter(pk=lease.row.pk, jobs__pk=lease.job.pk, jobs__token=lease.job.token)


def is_awaited(*, now: datetime | None = None) -> bool:
    """Return True if a table waits for a worker. One query, on an index of such jobs."""
    return queue.waiting(JOB, now=clock.now_or(now)).exists()


def claim(worker: str, *, now: datetime | None = None) -> TableLease | None:
    """Lease the table that has waited longest to `worker`, tables of players before tables of guests; None if no table waits."""
    now = clock.now_or(now)
    if not is_awaited(now=now):
        return None
    rows = queue.waiting(JOB, now=now).filter(table__status=TableStatus.WAITING)
    rows = rows.exclude(workers.left_to_others(worker, _sits_with, now=now))
    # Guests come after people with an account.
    rows = rows.order_by(IsNull(F("table__player"), True), "position", "id")
    with suppress(IllegalMove), transaction.atomic():
        job = queue.claim(rows, worker, TERMS, now=now)
        if job is None:
            return None
        row = Table.objects.select_related("pool").get(jobs=job)
        people.inherit(row)
        if _seats(row).filter(Q(version__bot__stopped__isnull=False) | Q(version__bot__owner_banned=True)).exists():
            queue.finish(job)
            _move(row, TableStatus.VOID, worker, now=now, why="a bot at this table is paused", **seating.ended(now))
            return None
        transitions.move(row, TableStatus.HELD, now=now, actor=worker, reason="")
        return TableLease(job, row, _secret(job, row))
    return None


def _sits_with(names: Collection[str], versions: Q) -> Q:
    seats_there = TableSeat.objects.filter(versions, table=OuterRef("table"))
    return Q(Exists(seats_there.exclude(version__runtime__in=names)))


def _secret(job: Job, row: Table) -> bytes:
    secret: Func | F = F("secret")
    if connection.vendor == "postgresql":  # Workers may not read the column of the secret, so a function returns it.
        key = Value(job.pk), Value(job.token)
        secret = Func(*key, function="league_secret_of_table_job", output_field=BinaryField())
    return bytes(Table.objects.annotate(key=secret).values_list("key", flat=True).get(pk=row.pk))


def _seats(row: Table) -> QuerySet[TableSeat]:
    return TableSeat.objects.filter(table=row)


def seats(row: Table) -> list[TableSeat]:
    """Return the bots with everything that is needed to start them; a bot at the seat of a person stands behind that person."""
    return list(_seats(row).select_related("version__bot").order_by("number"))


def places(row: Table) -> list[int]:
    """Return the seats of the people, in order."""
    return list(TablePerson.objects.filter(table=row).order_by("number").values_list("number", flat=True))


def taken(row: Table) -> list[Taken]:
    """Return the journal in order."""
    lines = TableAction.objects.filter(table=row).order_by("number").values_list("seat", "action")
    return [Taken(seat, action) for seat, action in lines]


def ask(lease: TableLease, question: Question, actions: Sequence[Taken], *, now: datetime | None = None) -> None:
    """Store the bots' actions since the last question, and the next question to a person, in one transaction. Raise LeaseLost.

    After a board all people are asked, and the first answer counts for all.
    """
    now = clock.now_or(now)
    columns: dict[str, Any] = {"scores": question.scores, "board": question.board}
    if people.is_watched(lease.row):
        columns["spectated"] = question.spectated
    with transaction.atomic():
        queue.lock(lease.job)
        rows = Table.objects.filter(pk=lease.row.pk, status=TableStatus.HELD)
        if not rows.update(turn=question.number, since=now, **columns):
            raise LeaseLost(f"table {lease.row.public_id} has ended")
        _write(lease, question.number - len(actions), actions, now)
        _show(lease.row, SeatView(question.seat, question.hand, question.events), legal=question.legal)
        for view in question.others:
            _show(lease.row, view, legal=[NEXT] if question.legal == [NEXT] else [])
        queue.count_from_here(lease.job)
        listening.notify(transitions.subject(lease.row), listening.PAGES)


def _show(row: Table, view: SeatView, **columns: Any) -> None:
    """Store what a person may know."""
    people_there = TablePerson.objects.filter(table=row, number=view.seat)
    people_there.update(hand=view.hand, events=view.events, **columns)


def _lock(lease: TableLease) -> Table:
    """Lock the job and its table, and return the table as it is now. Raise LeaseLost."""
    queue.lock(lease.job)
    row = Table.objects.select_for_update().get(pk=lease.row.pk)
    if row.status != TableStatus.HELD:
        raise LeaseLost(f"table {row.public_id} is {row.status}")
    return row


def _write(lease: TableLease, first: int, actions: Sequence[Taken], now: datetime) -> None:
    """Append lines to the journal; the caller has locked job and table."""
    TableAction.objects.bulk_create(
        TableAction(table=lease.row, number=first + place, seat=taken.seat, action=taken.action, at=now)
        for place, taken in enumerate(actions)
    )


def answer(lease: TableLease, number: int) -> str | None:
    """Return the answer to decision `number`; None while the person is thinking. Raise LeaseLost. One query."""
    lines = TableAction.objects.filter(table=OuterRef("pk"), number=number)
    row = _leased(lease).values_list(Subquery(lines.values("action"))).first()
    if row is None:
        raise LeaseLost
    action: str | None = row[0]
    return action


def wants_advice(lease: TableLease) -> bool:
    """Return True if the person waits for advice. One query."""
    return _leased(lease).filter(people__advice_asked__isnull=False, people__advice="").exists()


def advise(lease: TableLease, number: int, action: str | None) -> None:
    """Store the advisor's action for this decision if advice is still wanted; None if the advisor failed."""
    with suppress(LeaseLost), transaction.atomic():
        row = _lock(lease)
        wanting = TablePerson.objects.filter(table=row, advice_asked=number, advice="")
        if row.turn == number and wanting.update(advice=action or NO_ADVICE):
            people.tell(row)
            listening.notify(transitions.subject(row))


def stands_in(lease: TableLease, question: Question, *, now: datetime | None = None) -> bool:
    """Return True if the bot behind the seat has to answer, because the person has left or has been away for too long. Two queries."""
    now = clock.now_or(now)
    person = TablePerson.objects.filter(table=lease.row, number=question.seat).exclude(legal=[]).first()
    if person is None or question.legal == [NEXT]:
        return False
    return person.away or _replace(Table.objects.get(pk=lease.row.pk), now)


def answer_for(lease: TableLease, question: Question, action: str | None, *, now: datetime | None = None) -> None:
    """Write the answer of the bot behind a seat into the journal, unless the person has come back. action: None if the bot failed."""
    with transaction.atomic():
        row = _lock(lease)
        away = TablePerson.objects.filter(table=row, number=question.seat, away=True).first()
        if away is not None and row.turn == question.number:
            seating.answer(row, away, question.number, action or question.legal[0], clock.now_or(now))


def _replace(row: Table, now: datetime) -> bool:
    """Let the bot behind the seat play for a person who has not answered in time. Return False if they have time left, or nobody else waits.

    The last person who is present is waited for as at a table for one.
    """
    if not row.shared or row.gathering:
        return False
    present = list(TablePerson.objects.filter(table=row, seated=True, away=False))
    late = next((person for person in present if clocks.is_running(person)), None)
    if late is None or all(person.legal for person in present) or not _is_late(row, late, now):
        return False
    TablePerson.objects.filter(pk=late.pk).update(away=True, left_ms=0)
    people.tell(row)
    listening.notify(transitions.subject(row))
    return True


def _is_late(row: Table, person: TablePerson, now: datetime) -> bool:
    """Return True if the time of the person whose answer a shared table waits for is up."""
    return clocks.left_ms(row, person, now) == 0 or now - row.since >= timedelta(seconds=away_s(row))


def _patience(row: Table, now: datetime) -> timedelta:
    """Return the time until the clock of the person whose answer a table waits for is up, at most `away_s`."""
    seated = TablePerson.objects.filter(table=row, seated=True)
    times = [clocks.left_ms(row, person, now) for person in seated if clocks.is_running(person)]
    away = timedelta(seconds=away_s(row))
    return min([away, *(timedelta(milliseconds=time_ms) for time_ms in times if time_ms is not None)])


def rest(lease: TableLease, number: int, *, now: datetime | None = None) -> bool:
    """End the job until the person answers. Return False if the person has just answered, waits for advice, or the lease is lost."""
    now = clock.now_or(now)
    with suppress(LeaseLost), transaction.atomic():
        row = _lock(lease)
        if row.turn != number or not _is_asked(row):
            return False
        queue.finish(lease.job)
        return _move(row, TableStatus.RESTING, lease.job.worker, now=now, due=now + SHORTEST)
    return False


def release(lease: TableLease, why: str, *, now: datetime | None = None) -> None:
    """Put the job back because the worker stops or has no seats for the bots; this does not count as an attempt."""
    with suppress(LeaseLost), transaction.atomic():
        row = _lock(lease)
        if not _rest(row, lease.job, why, now=clock.now_or(now)):
            queue.release(lease.job, now=clock.now_or(now))
            _move(row, TableStatus.WAITING, lease.job.worker, now=clock.now_or(now), why=why)


def fail(lease: TableLease, error: Exception, *, now: datetime | None = None) -> None:
    """Handle a fault of ours: try again, and void the table after the last attempt."""
    log.error("%s: attempt %d failed", lease, lease.job.attempts, exc_info=error)
    why = without_folders(f"{type(error).__name__}: {error}"[:500])
    with suppress(LeaseLost), transaction.atomic():
        _end_attempt(_lock(lease), lease.job, why, now=clock.now_or(now))


def finish(lease: TableLease, result: TableResult, first: int, *, now: datetime | None = None) -> None:
    """Store the result. first: the number of the first decision in `result.decisions`. Raise LeaseLost."""
    now = clock.now_or(now)
    columns: dict[str, Any] = {
        "scores": result.scores,
        "spectated": result.spectated if people.is_watched(lease.row) else None,
        "board": len(result.scores),
        "fault": result.fault.kind if result.fault else "",
        "records": seating.packed(result.records),
    }
    with transaction.atomic():
        _lock(lease)
        _write(lease, first, result.decisions, now)
        for view in result.views:
            _show(lease.row, view)
        queue.finish(lease.job)
        if not _move(lease.row, TableStatus.FINISHED, lease.job.worker, now=now, **seating.ended(now), **columns):
            raise LeaseLost


def expire(*, now: datetime | None = None) -> int:
    """Take back the tables of workers whose leases have run out; return their number."""
    now = clock.now_or(now)

    def take_back(job: Job, why: str) -> None:
        row = Table.objects.select_for_update(of=("self",)).get(jobs=job)
        if row.status == TableStatus.HELD:
            _end_attempt(row, job, why, now=now)
        else:
            queue.finish(job)

    count = queue.expire(JOB, take_back, now=now)
    _mend(now)
    return count


def _mend(now: datetime) -> None:
    """Give a job to each table where the bots are to move, and end all other jobs: the previous release does not maintain jobs."""
    for row in Table.objects.filter(status=TableStatus.HELD).exclude(jobs__state=JobState.LEASED)[: queue.MOST]:
        to = TableStatus.RESTING if _is_asked(row) else TableStatus.WAITING
        _move(row, to, "", now=now, why="its worker was lost")
    resting = Table.objects.filter(status=TableStatus.RESTING, shared=True, gathering=False, due=None)
    resting.update(due=F("since"))
    for row in Table.objects.filter(status=TableStatus.WAITING, jobs=None)[: queue.MOST]:
        queue.add(JOB, table=row, now=now)
    previous = Table.objects.filter(status__in=LIVE, shared=False).filter(~Q(legal=[]) | Q(people=None))
    for row in previous[: queue.MOST]:
        people.inherit(row)
    Job.objects.filter(kind=JOB, table__finished__isnull=False).delete()


def away_s(row: Table) -> int:
    """Return the seconds without an answer after which this table is abandoned."""
    return settings.GUEST_AWAY_S if row.player_id is None else settings.TABLE_AWAY_S


def abandon(*, now: datetime | None = None, most: int = 500) -> int:
    """End tables whose people have not answered for `away_s` seconds, or that no worker claimed for that time; return their number.

    At a shared table a bot plays for the person who does not answer, as long as somebody else is there. The tables that have waited longest for a
    look come first.
    """
    now = clock.now_or(now)
    count = 0
    resting = Table.objects.filter(status=TableStatus.RESTING).order_by("id")
    late = Table.objects.filter(status=TableStatus.RESTING, shared=True, gathering=False, due__lte=now)
    for row in late.order_by("due")[:most]:
        with transaction.atomic():
            row = Table.objects.select_for_update().get(pk=row.pk)
            if row.status != TableStatus.RESTING:
                continue
            if row.turn is not None and (_replace(row, now) or not _is_asked(row)):
                seating.call_worker(row, "", now)
            else:
                Table.objects.filter(pk=row.pk).update(due=now + max(SHORTEST, _patience(row, now)))
    ready = TablePerson.objects.filter(table=OuterRef("pk"), ready=True)
    for row in resting.filter(~Exists(ready), gathering=True, since__lt=now - ROOM)[:most]:
        count += _end(row, TableStatus.ABANDONED, "nobody was ready to play", now)
    for is_guest, away in ((False, settings.TABLE_AWAY_S), (True, settings.GUEST_AWAY_S)):
        old = Table.objects.filter(player__isnull=is_guest, since__lt=now - timedelta(seconds=away)).order_by("id")
        for row in old.filter(status=TableStatus.RESTING)[:most]:
            count += _end(row, TableStatus.ABANDONED, "its player was away", now)
        for row in old.filter(status=TableStatus.WAITING)[:most]:
            count += _end(row, TableStatus.VOID, "no worker was free for it", now)
    return count


def _end(row: Table, to: str, why: str, now: datetime) -> bool:
    with transaction.atomic():
        queue.withdraw(JOB, table=row)
        columns = {"gathering": False, **seating.ended(now)}
        is_over = _move(row, to, "", now=now, why=why, guard={"since": row.since}, **columns)
        listening.notify(topics.LOBBY)
        transaction.set_rollback(not is_over)
    return is_over


def _end_attempt(row: Table, job: Job, why: str, *, now: datetime) -> None:
    """End an attempt after a fault of ours; the caller has locked job and table."""
    if job.attempts < TERMS.attempts and _rest(row, job, why, now=now):
        return
    if queue.retry(job, TERMS, why, now=now):
        _move(row, TableStatus.WAITING, job.worker, now=now, why=why)
    else:
        _move(row, TableStatus.VOID, job.worker, now=now, why=why, **seating.ended(now))


def _is_asked(row: Table) -> bool:
    """Return True if only a person can act now: none of the people asked waits for advice, or has a bot that plays for them."""
    if row.turn is None:
        return False
    due = Q(advice_asked__isnull=False, advice="") | Q(away=True) & ~Q(legal=[]) & ~Q(legal=[NEXT])
    return not TablePerson.objects.filter(due, table=row).exists()


def _rest(row: Table, job: Job, why: str, *, now: datetime) -> bool:
    """Let the table rest if the person is to move. Return False if the bots are."""
    if not _is_asked(row):
        return False
    queue.finish(job)
    return _move(row, TableStatus.RESTING, job.worker, now=now, why=why, due=now + SHORTEST)


def _move(
    row: Table,
    to: str,
    actor: str,
    *,
    now: datetime,
    why: str = "",
    guard: dict[str, Any] | None = None,
    **columns: Any,
) -> bool:
    """Change the status, and wake whoever is waiting for changes of the table."""
    try:
        with transaction.atomic():
            if to not in LIVE:
                people.rise(row)
            transitions.move(row, to, now=now, actor=actor, why=why, guard=guard, reason=why, **columns)
            listening.notify(transitions.subject(row))
    except IllegalMove as error:
        log.info("table %s: %s", row.public_id, error)
        return False
    return True
