"""The search for a player's mistakes (`puzzles.mistakes`), by workers without other work: at a table, or of the player's bots in an analysed match.

At a table every decision of the player is judged; in a match those of which the fair analysis says that they gave points away. Each is proved over
other deals (`engine.puzzles`), and the costliest are stored.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from engine.analysis import decisions
from engine.judging import Broken, Child, Stopped
from engine.puzzles import DEALS, Puzzle
from engine.replay import ReplayError
from league.domain.core import clock, queue
from league.domain.core.errors import Refused
from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, JobLease, is_match_waiting
from league.domain.jobs.handlers.requests import PATIENCE
from league.domain.judgements import bodies, reading
from league.domain.matches import logs, replays, sight
from league.domain.puzzles import mistakes
from league.domain.tables import seating
from league.models import Job, Judgement, Match, MistakeSearch, Party, Sitting, Table, TablePerson

MOST = 5  # The most mistakes of a search: the costliest.
MOST_S = 600.0  # Seconds of wall time; what was found up to then is stored.

MistakeJob = JobLease[MistakeSearch]


@dataclass
class PlayedRecord:
    """A record with the steps at which the player or their bot may have made a mistake."""

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

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if a request has waited longer than `PATIENCE` and only ladder matches go before it."""
        now = clock.now_or(now)
        jobs = queue.waiting(self.kind, now=now).filter(created__lte=now - PATIENCE)
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
            for played in _of_table(task) if task.table_id else _of_match(task):
                puzzles, is_whole = child.find(
                    played.record, stop=lambda: signals.stop() or time.monotonic() > until, mistakes=played.steps
                )
                results += puzzles
                if not is_whole:
                    break
        except Stopped:
            if time.monotonic() <= until:
                return None
        finally:
            child.close()
        return sorted(results, key=lambda puzzle: -puzzle.margin)[:MOST]

    def store(self, job: MistakeJob, result: list[Puzzle], *, now: datetime) -> None:
        """Store the mistakes and end the search."""
        mistakes.store(job.subject, result, now=now)
        _end(job.row, now)

    def given_up(self, row: Job, job: MistakeJob | None, why: str, *, now: datetime) -> None:
        """End the search without a result."""
        _end(row, now)


def _end(row: Job, now: datetime) -> None:
    MistakeSearch.objects.filter(pk=row.mistake_search_id or 0).update(finished=now)


def _of_table(search: MistakeSearch) -> Iterator[PlayedRecord]:
    table = Table.objects.get(pk=search.table_id or 0)
    seats = set(TablePerson.objects.filter(table=table, player=search.player_id).values_list("number", flat=True))
    for number, record in enumerate(seating.opened(table), 1):
        record.setdefault("meta", {}).update({"board": number})
        try:
            steps = [decision.step for decision in decisions(record) if decision.state.turn in seats]
        except ReplayError:  # Damaged: its page says so.
            continue
        if steps:
            yield PlayedRecord(record, steps)


def _of_match(search: MistakeSearch) -> Iterator[PlayedRecord]:
    judged = Judgement.objects.get(pk=search.judgement_id or 0)
    match = Match.objects.select_related("tournament").defer("secret", "tournament__secret").get(pk=judged.match_id)
    if replays.reason_closed(match) or logs.was_let_go(match) or sight.is_held_back(match):
        return
    parties = Party.objects.filter(match=match, version__bot__owner=search.player_id).values_list("number", flat=True)
    body = bodies.unpack(bytes(judged.body))
    steps: dict[tuple[int, int], list[int]] = {}
    for decision in reading.placed(body, reading.seatings(judged)):
        if decision.party in set(parties) and decision.mark(body.unit):
            steps.setdefault((decision.board, decision.sitting), []).append(decision.verdict.step)
    for sitting in (
        Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    ):
        place = (sitting.board.number, sitting.number)
        if place not in steps:
            continue
        sitting.board.match = match  # Shared, so that its log is read once.
        record = replays.unpack(sitting)
        record.setdefault("meta", {}).update({"match": match.public_id, "board": place[0], "sitting": place[1]})
        yield PlayedRecord(record, steps[place])
