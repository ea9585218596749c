"""The search for a player's mistakes (`puzzles.mistakes`), by workers without other work: at a table, or of the player's bots in an analysed match.

At a table every decision of the player is judged; in a match those of which the fair analysis says that they gave points away. Each is proved over
other deals (`engine.puzzles`), and the costliest are stored. A search that yields goes on with the deal where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from engine.analysis import decisions
from engine.judging import Broken, Child, Stopped
from engine.puzzles import DEALS, NotAPuzzleError, Puzzle, read
from engine.replay import ReplayError
from league.domain.core import clock, queue
from league.domain.core.errors import Refused
from league.domain.core.queue import AttemptTerms, LeaseLost
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, JobLease, is_match_waiting
from league.domain.jobs.handlers.requests import PATIENCE
from league.domain.judgements import asking, bodies, reading
from league.domain.matches import logs, replays, sight
from league.domain.puzzles import mistakes
from league.domain.tables import seating
from league.models import Job, Judgement, Match, MistakeSearch, Party, Sitting, Table, TablePerson

MOST = 5  # The most mistakes of a search: the costliest.
MOST_S = 600.0  # Seconds of wall time; what was found up to then is stored.

MistakeJob = JobLease[MistakeSearch]


@dataclass
class PlayedDeal:
    """A deal of a record with the steps at which the player or their bot may have made a mistake."""

    key: str
    record: dict[str, Any]
    steps: list[int]


class MistakeHandler(IdleHandler[MistakeSearch, MistakeSearch, list[Puzzle]]):
    """The search of a table or match for mistakes."""

    kinds = (mistakes.JOB,)
    terms = AttemptTerms(attempts=2, limit=timedelta(seconds=MOST_S + 60))
    allowance = Allowance(share=0.5)
    needs_sandbox = False
    final_errors = (Refused,)
    expected_errors = (Broken,)

    def subject(self, row: Job) -> MistakeSearch:
        """Load the search."""
        return MistakeSearch.objects.get(pk=row.mistake_search_id or 0)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the searches that can be done: while a worker repeats an analysis, it says nothing."""
        return super().waiting(now).exclude(mistake_search__judgement__status__in=asking.WAITING)

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if a request has waited longer than `PATIENCE` and only ladder matches go before it."""
        now = clock.now_or(now)
        jobs = self.waiting(now).filter(created__lte=now - PATIENCE)
        return jobs.exists() and not is_match_waiting(before_ladders=True, now=now)

    def read(self, job: MistakeJob, site: Site) -> MistakeSearch:
        """Return the search; its records are read one after another."""
        return job.subject

    def run(self, job: MistakeJob, task: MistakeSearch, site: Site, signals: Signals) -> list[Puzzle] | None:
        """Search all records. Raise Broken, Refused."""
        child = Child(cpu_s=settings.JUDGE_CPU_S, puzzles=DEALS)
        results: list[Puzzle] = []
        until = time.monotonic() + MOST_S
        try:
            for deal in _of_table(task) if task.table_id else _of_match(task):
                if (puzzles := _judged(task, deal)) is None:
                    puzzles, is_whole = child.find(
                        deal.record, stop=lambda: signals.stop() or time.monotonic() > until, mistakes=deal.steps
                    )
                    if not is_whole:
                        results += puzzles
                        break
                    _note(job, deal, _best(puzzles))
                results += puzzles
        except Stopped:
            if time.monotonic() <= until:
                return None
        finally:
            child.close()
        return _best(results)

    def store(self, job: MistakeJob, result: list[Puzzle], *, now: datetime) -> None:
        """Store the mistakes and end the search."""
        mistakes.store(job.subject, result, now=now)
        _end(job.row, now)

    def given_up(self, row: Job, job: MistakeJob | None, why: str, *, now: datetime) -> None:
        """End the search without a result."""
        _end(row, now)


def _end(row: Job, now: datetime) -> None:
    MistakeSearch.objects.filter(pk=row.mistake_search_id or 0).update(finished=now, judged={})


def _best(puzzles: list[Puzzle]) -> list[Puzzle]:
    return sorted(puzzles, key=lambda puzzle: -puzzle.margin)[:MOST]


def _judged(search: MistakeSearch, deal: PlayedDeal) -> list[Puzzle] | None:
    """Return the puzzles of a deal that an earlier attempt has searched; None if none has, or the rules have changed since."""
    try:
        return [read(line) for line in search.judged[deal.key]]
    except (KeyError, NotAPuzzleError):
        return None


def _note(job: MistakeJob, deal: PlayedDeal, puzzles: list[Puzzle]) -> None:
    """Note that a deal has been searched. Raise Stopped if another worker has the search."""
    judged = job.subject.judged | {deal.key: [puzzle.line() for puzzle in puzzles]}
    try:
        with transaction.atomic():
            queue.lock(job.row)
            MistakeSearch.objects.filter(pk=job.subject.pk).update(judged=judged)
    except LeaseLost as error:
        job.lost = True
        raise Stopped from error
    job.subject.judged = judged


def _deals(place: str, record: dict[str, Any], steps: Iterable[tuple[int, int]]) -> Iterator[PlayedDeal]:
    """Yield the deals of a record that have a step to search. steps: pairs of deal and step, in order."""
    for number, pairs in groupby(steps, key=itemgetter(0)):
        yield PlayedDeal(f"{place}.{number}", record, [step for _, step in pairs])


def _of_table(search: MistakeSearch) -> Iterator[PlayedDeal]:
    table = Table.objects.get(pk=search.table_id or 0)
    seats = set(TablePerson.objects.filter(table=table, player=search.player_id).values_list("number", flat=True))
    for number, record in enumerate(seating.opened(table), 1):
        record.setdefault("meta", {}).update({"board": number})
        try:
            steps = [(row.state.deal_no, row.step) for row in decisions(record) if row.state.turn in seats]
        except ReplayError:  # Damaged: its page says so.
            continue
        yield from _deals(f"{number}", record, steps)


def _of_match(search: MistakeSearch) -> Iterator[PlayedDeal]:
    judged = Judgement.objects.get(pk=search.judgement_id or 0)
    match = Match.objects.select_related("tournament").defer("secret", "tournament__secret").get(pk=judged.match_id)
    if replays.reason_closed(match) or logs.was_let_go(match) or sight.is_held_back(match):
        return
    parties = Party.objects.filter(match=match, version__bot__owner=search.player_id).values_list("number", flat=True)
    body = bodies.unpack(bytes(judged.body))
    steps: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for decision in reading.placed(body, reading.seatings(judged)):
        if decision.party in set(parties) and decision.mark(body.unit):
            step = (decision.verdict.deal, decision.verdict.step)
            steps.setdefault((decision.board, decision.sitting), []).append(step)
    for sitting in (
        Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    ):
        place = (sitting.board.number, sitting.number)
        if place not in steps:
            continue
        sitting.board.match = match  # Shared, so that its log is read once.
        record = replays.unpack(sitting)
        record.setdefault("meta", {}).update({"match": match.public_id, "board": place[0], "sitting": place[1]})
        yield from _deals(f"{place[0]}.{place[1]}", record, steps[place])
