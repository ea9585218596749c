"""The search for puzzles in the league's own matches: those that were judged fairly are searched by workers that have nothing else to do.

Each judgement that everybody may see gets a row when it is counted (`judgements.summing`), and is searched once, the newest first, by the fair
judgement over other deals that proves the margin (`engine.puzzles`). A worker holds the row by a lease without a heartbeat; after that another
worker goes on. A search yields as soon as anything else waits, and goes on at the sitting where it stopped.

Only finished matches count that everybody may see and that were never hidden from anybody. A puzzle whose match is hidden or voided later is
no longer shown (`puzzles.shelf`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from engine.judging import Broken, Child, Stopped
from engine.puzzles import DEALS, Puzzle
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, IdleJob, is_match_waiting
from league.domain.matches import holds, logs, replays, sight
from league.domain.matches.reports import Receipt
from league.enums import MatchKind, MatchStatus
from league.models import FoundPuzzle, Match, PuzzleSearch, Sitting

log = logging.getLogger("league.puzzles")
PER_MATCH = 3  # puzzles: more are much alike
MOST = 500  # puzzles in all; the oldest are removed
ATTEMPTS = 2  # that may fail by a fault of ours
MOST_S = 300.0  # an attempt ends after this, with the sitting at hand
LEASE = timedelta(seconds=2 * MOST_S + 60)
PAUSE = timedelta(minutes=1)  # after the search has yielded or failed
DAY = timedelta(days=1)
LOOKED_AT = 20  # rows of one claim
READS = ("worker", "lease_until", "attempts", "done", "made", "finished", "judgement__match")
MATCH_COLUMNS = ("public_id", "kind", "status", "embargo", "tournament__embargo", "tournament__opens")


class SearchJob(IdleJob):
    """A search that this worker has leased."""

    def __init__(self, row: PuzzleSearch, claimed: datetime, yields: Callable[[], bool]) -> None:
        super().__init__("puzzles", yields)
        self.row = row
        self.claimed = claimed

    def __str__(self) -> str:
        return f"puzzles of judgement {self.row.pk}"

    def write(self, **columns: object) -> bool:
        """Write columns of the row. Return False if another worker has the lease."""
        row = self.row
        leased = PuzzleSearch.objects.filter(pk=row.pk, worker=row.worker, lease_until=row.lease_until, finished=None)
        if not leased.update(**columns):
            return False
        for name, value in columns.items():
            setattr(row, name, value)
        return True


class PuzzleHandler(IdleHandler[SearchJob, Match, bool]):
    """The search of one match for puzzles. The result of a run is True if there was time for all of it."""

    kinds = ("puzzles",)
    allowance = Allowance(share=0.1, pause_s=60.0)
    needs_sandbox = False

    def has_waiting(self, *, now: datetime) -> bool:
        """Return True if a match may be searched."""
        return _waiting(now).exists()

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True: a search always has its small share of the time."""
        return True

    def claim(
        self, worker: str, *, before_ladders: bool = False, by_hand: bool = False, now: datetime | None = None
    ) -> SearchJob | None:
        """Lease the next judged match to `worker`. Return None if none is left, something waits that goes first, or the day has its puzzles.

        by_hand: neither other work nor the day counts. At most two queries if nothing is left.
        """
        now = clock.now_or(now)
        if not settings.PUZZLES_PER_DAY:
            return None
        rows = list(_waiting(now).select_related("judgement").only(*READS).order_by("-judgement")[:LOOKED_AT])
        if not rows:
            return None
        if not by_hand and (_day_is_full(now) or is_work_waiting(before_ladders=before_ladders, now=now)):
            return None
        for row in rows:
            free = PuzzleSearch.objects.filter(pk=row.pk, finished=None, lease_until=row.lease_until)
            if not is_open(_match_of(row)):
                free.update(finished=now)
            elif free.update(worker=worker, lease_until=now + LEASE, attempts=row.attempts + 1):
                row.worker, row.lease_until, row.attempts = worker, now + LEASE, row.attempts + 1
                yields = partial(is_work_waiting, before_ladders=before_ladders)
                return SearchJob(row, now, (lambda: False) if by_hand else yields)
        return None

    def expire(self, *, now: datetime | None = None) -> int:
        """Do nothing: a claim takes rows whose lease is over."""
        return 0

    def read(self, job: SearchJob, site: Site) -> Match:
        """Load the match."""
        return _match_of(job.row)

    def run(self, job: SearchJob, task: Match, site: Site, signals: Signals) -> bool | None:
        """Search the sittings that are left, and store the puzzles of each. Raises Broken."""
        child = Child(cpu_s=settings.JUDGE_CPU_S, puzzles=DEALS)
        try:
            return _search(job, task, child, signals.stop)
        except Stopped:
            return None
        finally:
            child.close()

    def report(self, job: SearchJob, result: bool, *, now: datetime | None = None) -> Receipt:
        """Note that the match is searched."""
        if not result:
            log.info("%s: its time was over", job)
        return Receipt.STORED if job.write(finished=clock.now_or(now), lease_until=None) else Receipt.REFUSED

    def give_back(self, job: SearchJob, why: str, *, now: datetime | None = None) -> None:
        """Let the row wait a little; no attempt is counted."""
        job.write(worker="", lease_until=clock.now_or(now) + PAUSE, attempts=job.row.attempts - 1)

    def fail(self, job: SearchJob, error: Exception, *, now: datetime | None = None) -> None:
        """Let the row wait a little and be tried once more."""
        unexpected = None if isinstance(error, Broken) else error
        log.error("%s: attempt %d failed: %s", job, job.row.attempts, error, exc_info=unexpected)
        job.write(worker="", lease_until=clock.now_or(now) + PAUSE)


def is_work_waiting(*, before_ladders: bool = False, now: datetime | None = None) -> bool:
    """Return True if anything else waits that may be done now: a match, an audit, or what a player asked for.

    before_ladders: neither matches of ladders count, nor audits, which come after these.
    """
    now = clock.now_or(now)
    others = (handler for handler in registry.idle_handlers() if not isinstance(handler, PuzzleHandler))
    if any(handler.has_waiting(now=now) for handler in others):
        return True
    if is_match_waiting(before_ladders=before_ladders, now=now):
        return True
    audits = Match.work.filter(holds.due(now), kind=MatchKind.AUDIT, status=MatchStatus.QUEUED)
    return not before_ladders and holds.playable_audits(audits).exists()


def _waiting(now: datetime) -> QuerySet[PuzzleSearch]:
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    return PuzzleSearch.objects.filter(free, finished=None, attempts__lt=ATTEMPTS)


def _day_is_full(now: datetime) -> bool:
    most = settings.PUZZLES_PER_DAY
    return len(FoundPuzzle.objects.filter(created__gt=now - DAY).values_list("pk")[:most]) >= most


def _match_of(row: PuzzleSearch) -> Match:
    rows = Match.objects.select_related("tournament").only(*MATCH_COLUMNS)
    return rows.get(pk=row.judgement.match_id)


def is_open(match: Match) -> bool:
    """Return True if everybody may see the cards of a match, and always might since it was finished. Needs its tournament."""
    if match.status != MatchStatus.FINISHED or match.kind == MatchKind.VALIDATION or logs.was_let_go(match):
        return False
    return not sight.is_held_back(match.tournament) and replays.reason_closed(match) is None


def _search(job: SearchJob, match: Match, child: Child, stop: Callable[[], bool]) -> bool:
    """Search the sittings that are left, until there are enough puzzles. Return True if there was time for them. Raises Stopped, Broken."""
    row, until = job.row, time.monotonic() + MOST_S

    def stops() -> bool:
        return stop() or time.monotonic() > until

    sittings = Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    for number, sitting in enumerate(list(sittings)[row.done :]):
        if row.made >= PER_MATCH:
            break
        if stops() if number else stop():
            raise Stopped
        sitting.board.match = match  # shared, so that its log is read once
        try:
            record = replays.unpack(sitting)
        except Refused:  # damaged: its page says so
            job.write(done=row.done + 1)
            continue
        try:
            puzzles, is_whole = child.find(record, stop=stops)
        except Stopped:
            # The sitting had all the time of an attempt, and the next attempt would give it no more
            if not number and time.monotonic() > until:
                return False
            raise
        count = _store(job, match, sitting, puzzles)
        job.write(done=row.done + 1, made=row.made + count)
        if not is_whole:
            return False
    return True


def _store(job: SearchJob, match: Match, sitting: Sitting, puzzles: list[Puzzle]) -> int:
    """Store the puzzles of the largest margins, as many as the match may still have. Return the number of new ones."""
    row, now, new = job.row, job.claimed, []
    with transaction.atomic():
        for puzzle in sorted(puzzles, key=lambda puzzle: -puzzle.margin)[: PER_MATCH - row.made]:
            puzzle.source.update({"match": match.public_id, "board": sitting.board.number, "sitting": sitting.number})
            columns = {"match": match, "created": now, "line": puzzle.line()}
            if FoundPuzzle.objects.get_or_create(puzzle=puzzle.id, defaults=columns)[1]:
                new.append(puzzle.id)
        if new:
            journal.append("puzzle.found", transitions.subject(match), now=now, actor=row.worker, puzzles=new)
    return len(new)


def tidy(*, most: int = 100) -> int:
    """Remove the oldest puzzles if there are too many. Return their number. One query if there are not."""
    rows = FoundPuzzle.objects.order_by("-created", "pk").values_list("pk", flat=True)[MOST : MOST + most]
    oldest = list(rows)
    return FoundPuzzle.objects.filter(pk__in=oldest).delete()[0] if oldest else 0
