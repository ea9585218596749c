"""The search for puzzles in the league's own matches, by workers without other work.

Each fair analysis that everybody may see gets a job when it is counted (`judgements.summing`). The newest ones are searched first, each once:
another fair analysis over other deals proves the margin of a puzzle (`engine.puzzles`). A search yields as soon as other work is waiting, and
continues with the sitting where it stopped (`PuzzleSearch`).

Only finished matches are searched that everybody may see and that were never hidden from anybody. A puzzle whose match is hidden or voided later is
no longer shown (`puzzles.shelf`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from engine.judging import Broken, Child, Stopped
from engine.puzzles import DEALS, Puzzle
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import Refused
from league.domain.core.queue import AttemptTerms, LeaseLost
from league.domain.jobs.handlers.background import BackgroundHandler
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, JobLease
from league.domain.judgements.summing import SEARCH as JOB
from league.domain.matches import logs, replays, sight
from league.enums import MatchKind, MatchStatus
from league.models import FoundPuzzle, Job, Match, PuzzleSearch, Sitting

log = logging.getLogger("league.puzzles")
PER_MATCH = 3  # The most puzzles of a match: more would be much alike
MOST = 500  # The most puzzles in all; the oldest are removed
MOST_S = 300.0  # An attempt ends after this, with the sitting that it is searching
DAY = timedelta(days=1)
READS = ("done", "made", "judgement__match")
MATCH_COLUMNS = ("public_id", "kind", "status", "embargo", "tournament__embargo", "tournament__opens")

SearchJob = JobLease[PuzzleSearch]


class PuzzleHandler(BackgroundHandler[PuzzleSearch, Match, bool]):
    """The search of one match for puzzles. The result of a run is True if there was time for the whole match."""

    kinds = (JOB,)
    terms = AttemptTerms(attempts=2, limit=timedelta(seconds=2 * MOST_S + 60))
    allowance = Allowance(share=0.1, pause_s=60.0)
    order = ("-position", "-id")
    needs_sandbox = False
    expected_errors = (Broken,)

    def subject(self, row: Job) -> PuzzleSearch:
        """Load the search."""
        return PuzzleSearch.objects.select_related("judgement").only(*READS).get(pk=row.judgement_id)

    def goes_after(self, *, before_ladders: bool, now: datetime | None = None) -> bool:
        """Return True if other work is waiting, or the day has enough puzzles."""
        now = clock.now_or(now)
        return _day_is_full(now) or super().goes_after(before_ladders=before_ladders, now=now)

    def claim(self, worker: str, *, before_ladders: bool = False, now: datetime | None = None) -> SearchJob | None:
        """Lease the next match to search to `worker`. Return None if there is none, other work goes first, or the day has enough puzzles."""
        return super().claim(worker, before_ladders=before_ladders, now=now) if settings.PUZZLES_PER_DAY else None

    def claim_by_hand(self, worker: str, *, now: datetime | None = None) -> SearchJob | None:
        """Lease the next match to search, whatever else is waiting and however many puzzles the day has."""
        return self.lease(worker, lambda: False, now=clock.now_or(now))

    def read(self, job: SearchJob, site: Site) -> Match:
        """Load the match."""
        rows = Match.objects.select_related("tournament").only(*MATCH_COLUMNS)
        return rows.get(pk=job.subject.judgement.match_id)

    def run(self, job: SearchJob, task: Match, site: Site, signals: Signals) -> bool | None:
        """Search the remaining sittings, and store the puzzles of each. Raise Broken."""
        if not is_open(task):
            return True
        child = Child(cpu_s=settings.JUDGE_CPU_S, puzzles=DEALS)
        try:
            return _search(job, task, child, signals.stop)
        except Stopped:
            return None
        finally:
            child.close()

    def store(self, job: SearchJob, result: bool, *, now: datetime) -> None:
        """Note that the match has been searched."""
        if not result:
            log.info("%s: its time was over", job)
        _end(job.row, now)

    def given_up(self, row: Job, job: SearchJob | None, why: str, *, now: datetime) -> None:
        """Give up the search of this match."""
        _end(row, now)

    def expire(self, *, now: datetime | None = None) -> int:
        """Take back jobs whose leases have expired. Give a job to analyses that a scheduler of the previous release has counted."""
        now = clock.now_or(now)
        for row in PuzzleSearch.objects.filter(finished=None).exclude(judgement__jobs__kind=JOB)[: queue.MOST]:
            queue.add(JOB, judgement_id=row.pk, now=now)
        return super().expire(now=now)


def _end(row: Job, now: datetime) -> None:
    PuzzleSearch.objects.filter(pk=row.judgement_id).update(finished=now)


def _note(job: SearchJob, **columns: int) -> None:
    """Note the progress of the search. Raise Stopped if another worker has the search."""
    try:
        with transaction.atomic():
            queue.lock(job.row)
            PuzzleSearch.objects.filter(pk=job.subject.pk).update(**columns)
    except LeaseLost as error:
        job.lost = True
        raise Stopped from error
    for name, value in columns.items():
        setattr(job.subject, name, value)


def _day_is_full(now: datetime) -> bool:
    most = settings.PUZZLES_PER_DAY
    return len(FoundPuzzle.objects.filter(created__gt=now - DAY).values_list("pk")[:most]) >= most


def is_open(match: Match) -> bool:
    """Return True if everybody may see the cards of a match, and always could since it finished.

    `match` must have been read with its tournament.
    """
    if match.status != MatchStatus.FINISHED or match.kind == MatchKind.VALIDATION or logs.was_let_go(match):
        return False
    return not sight.is_held_back(match) and replays.reason_closed(match) is None


def _search(job: SearchJob, match: Match, child: Child, stop: Callable[[], bool]) -> bool:
    """Search the remaining sittings until there are enough puzzles. Return True if there was time for all. Raise Stopped or Broken."""
    row, until = job.subject, time.monotonic() + MOST_S

    def stops() -> bool:
        return stop() or time.monotonic() > until

    sittings = Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    for number, sitting in enumerate(list(sittings)[row.done :]):
        if row.made >= PER_MATCH:
            break
        if stops() if number else stop():
            raise Stopped
        sitting.board.match = match  # Shared, so that its log is read once
        try:
            record = replays.unpack(sitting)
        except Refused:  # Damaged: the page of the match says so
            _note(job, done=row.done + 1)
            continue
        try:
            puzzles, is_whole = child.find(record, stop=stops)
        except Stopped:
            # The sitting had the whole time of an attempt, and another attempt would give it no more
            if not number and time.monotonic() > until:
                return False
            raise
        with transaction.atomic():
            count = _store(job, match, sitting, puzzles)
            _note(job, done=row.done + 1, made=row.made + count)
        if not is_whole:
            return False
    return True


def _store(job: SearchJob, match: Match, sitting: Sitting, puzzles: list[Puzzle]) -> int:
    """Store the puzzles with the largest margins, as many as the match may still have. Return the number of new ones."""
    row, now, new = job.subject, job.claimed, []
    with transaction.atomic():
        for puzzle in sorted(puzzles, key=lambda puzzle: -puzzle.margin)[: PER_MATCH - row.made]:
            puzzle.source.update({"match": match.public_id, "board": sitting.board.number, "sitting": sitting.number})
            columns = {"match": match, "created": now, "line": puzzle.line()}
            if FoundPuzzle.objects.get_or_create(puzzle=puzzle.id, defaults=columns)[1]:
                new.append(puzzle.id)
        if new:
            journal.append("puzzle.found", transitions.subject(match), now=now, actor=job.row.worker, puzzles=new)
    return len(new)


def tidy(*, most: int = 100) -> int:
    """Remove the oldest puzzles if there are too many. Return their number. One query if there is nothing to remove."""
    rows = FoundPuzzle.objects.order_by("-created", "pk").values_list("pk", flat=True)[MOST : MOST + most]
    oldest = list(rows)
    return FoundPuzzle.objects.filter(pk__in=oldest).delete()[0] if oldest else 0
