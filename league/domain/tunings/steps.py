"""The steps of tunings: each is a job of a few boards. A worker stores the result of a step, and the scheduler counts it, once.

Results count in the order of their arrival, as in fishtest: each step has the gains of its place, so the order hardly matters, and nobody waits for a
slow worker. A step whose worker dies is played again with the same values and cards. The step is deleted in the transaction that counts it.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from engine import spsa
from engine.spsa import BotParameter
from engine.tuning import BOARDS
from league.domain.core import clock, hints, queue
from league.domain.ladders import version_tests
from league.enums import BotState, VersionTestVerdict
from league.models import Tuning, TuningStep

JOB = "tuning"  # The kind of the jobs.
AHEAD = 8  # Steps of a tuning that are queued or running.
SEARCH_S, MOST_S = 3 * 3600.0, 4 * 3600.0  # Time of the workers for the search, and for all.
# Tunings with a bot that is retired, that an operator stopped, or whose owner is banned.
WITHHELD = (
    Q(version__bot__state=BotState.RETIRED)
    | Q(version__bot__owner_banned=True)
    | Q(version__bot__stopped__isnull=False)
    | Q(opponent__bot__stopped__isnull=False)
)
COURSE = 200  # The most points of a course that are stored.


def parameters_of(row: Tuning) -> list[BotParameter]:
    """Return the parameters of a tuning."""
    return [BotParameter(**fields) for fields in row.parameters]


def plan(row: Tuning, *, now: datetime) -> None:
    """Queue the next steps of a tuning that the caller has locked or created; begin the test after the search; end without anything to test."""
    waiting = row.steps.count()
    parameters = parameters_of(row)
    if row.tested is None and not waiting and not _searches(row, 0):
        row.tested, row.values = now, spsa.final_values(parameters, row.values)
        if row.values == spsa.start_values(parameters):
            end(row, "", now=now, verdict=VersionTestVerdict.CAP)
            return
    jobs = 0
    while waiting < AHEAD and (_searches(row, waiting) if row.tested is None else _tests(row, waiting)):
        secret = secrets.token_bytes(32)
        if row.tested is None:
            played = row.played + waiting * BOARDS
            pair = spsa.draw_pair(parameters, row.values, played=played, boards=row.boards, seed=secret.hex())
        else:
            pair = spsa.ValuePair(row.values, spsa.start_values(parameters), {})
        row.matches, waiting, jobs = row.matches + 1, waiting + 1, jobs + 1
        step = TuningStep.objects.create(
            tuning=row, number=row.matches, secret=secret, plus=pair.plus, minus=pair.minus, change=pair.change
        )
        queue.add(JOB, now=now, owner=row.player, position=queue.turn_of(JOB, row.player), tuning=step)
    row.save()
    if jobs:
        hints.matches_wait()


def _searches(row: Tuning, waiting: int) -> bool:
    return row.played + waiting * BOARDS < row.boards and row.spent_s < SEARCH_S


def _tests(row: Tuning, waiting: int) -> bool:
    return version_tests.count_boards(row) + waiting * BOARDS < version_tests.CAP and row.spent_s < MOST_S


def end(row: Tuning, why: str, *, now: datetime, verdict: str = "") -> None:
    """End a tuning that the caller has locked, and remove its steps. Workers that play them lose their leases."""
    row.steps.all().delete()
    row.values = spsa.final_values(parameters_of(row), row.values)
    row.decided, row.why, row.verdict = now, why, verdict
    row.save()


def settle(*, now: datetime | None = None) -> int:
    """Count the results of steps, and queue the next ones; end the tunings of bots that may not play any more.

    Return the number of tunings that went on or ended. Repeatable.
    """
    now = clock.now_or(now)
    rows = Tuning.objects.filter(Q(steps__finished__isnull=False) | WITHHELD, decided=None).distinct()
    count = 0
    for pk in list(rows.order_by("pk").values_list("pk", flat=True)[: queue.MOST]):
        with transaction.atomic():
            row = Tuning.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk, decided=None).first()
            if row is None:
                continue
            if Tuning.objects.filter(WITHHELD, pk=pk).exists():
                end(row, "a bot of it may not play any more", now=now)
            else:
                _count(row, now)
            count += 1
    return count


def _count(row: Tuning, now: datetime) -> None:
    finished = list(row.steps.filter(finished__isnull=False).order_by("finished", "pk"))
    for step in finished:
        result: dict[str, Any] = step.result or {}
        if result.get("why"):
            end(row, result["why"], now=now)
            return
        won, drawn, lost = (int(result[name]) for name in ("won", "drawn", "lost"))
        row.spent_s += float(result["seconds"])
        if step.change:
            row.values = spsa.learn(parameters_of(row), row.values, step.change, won - lost)
            row.played += won + drawn + lost
            row.course.append([row.played, *row.values.values()])
        else:
            row.won, row.drawn, row.lost = row.won + won, row.drawn + drawn, row.lost + lost
    row.steps.filter(pk__in=[step.pk for step in finished]).delete()
    if len(row.course) > COURSE:
        row.course = [*row.course[:-1:2], row.course[-1]]
    if row.tested is not None and version_tests.count_boards(row):
        row.llr, verdict = version_tests.rules_of(row).decide(row.lost, row.drawn, row.won)
        if verdict or row.spent_s >= MOST_S:
            end(row, "", now=now, verdict=verdict or VersionTestVerdict.CAP)
            return
    plan(row, now=now)
