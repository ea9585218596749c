"""The steps of tunings (league.domain.tunings): some boards between two sets of values of a bot's parameters.

Nobody waits for them: they yield to every other kind of work, except the search for puzzles.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from engine.runner import BotSpec, MatchSpec, runtimes
from engine.runner.spec import POSSIBLE
from engine.tuning import BOARDS, PairResult, play_pair
from league.domain.bots import packages
from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.background import BackgroundHandler, stored_reason
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, JobLease
from league.domain.tunings import steps
from league.models import BotVersion, Job, TuningStep

MOST_S = 120.0  # Wall seconds of a step; the boards finished by then count.

TuningJob = JobLease[TuningStep]


@dataclass(frozen=True)
class TuningTask:
    """The bots of a step; None: no opponent."""

    bot: BotSpec
    opponent: BotSpec | None


@dataclass(frozen=True)
class StepResult:
    """The boards of a step, and the seconds that they took."""

    outcome: PairResult
    seconds: float


class TuningHandler(BackgroundHandler[TuningStep, TuningTask, StepResult]):
    """The work on a step. If it is stopped, it begins again, with the same values and cards."""

    kinds = (steps.JOB,)
    terms = AttemptTerms(attempts=3, limit=timedelta(seconds=2 * MOST_S + 60))
    allowance = Allowance(share=0.1)

    def subject(self, row: Job) -> TuningStep:
        """Load the step."""
        return TuningStep.objects.select_related("tuning").get(jobs=row)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs whose bots have their runtimes here, and are not stopped: `steps.settle` ends their tunings a little later."""
        jobs = super().waiting(now)
        for version in ("tuning__tuning__version", "tuning__tuning__opponent"):
            jobs = jobs.filter(Q(**{version: None}) | Q(**{f"{version}__runtime__in": runtimes.installed()}))
            jobs = jobs.exclude(**{f"{version}__bot__stopped__isnull": False})
        return jobs

    def read(self, job: TuningJob, site: Site) -> TuningTask:
        """Load and unpack the bots."""
        tuning = job.subject.tuning
        rows = BotVersion.objects.select_related("bot", "package").only("number", "bot__slug", "package__data")
        versions = rows.in_bulk([pk for pk in (tuning.version_id, tuning.opponent_id) if pk])
        specs = {pk: packages.spec(version, site.folder) for pk, version in versions.items()}
        return TuningTask(specs[tuning.version_id], specs.get(tuning.opponent_id))

    def run(self, job: TuningJob, task: TuningTask, site: Site, signals: Signals) -> StepResult | None:
        """Play the boards. Raise the errors of `play_match`."""
        step, began = job.subject, time.monotonic()
        spec = MatchSpec(
            match_id=f"tuning {step.tuning_id}, step {step.number}",
            game=step.tuning.game,
            secret=bytes(step.secret),
            table="tuning",
            boards=range(1, BOARDS + 1),
            parties=(task.bot,),
            sealing=POSSIBLE,
        )
        # The test lets final and starting values meet, even if the search had another opponent.
        opponent = task.opponent if step.change else None
        outcome = play_pair(
            spec, step.plus, step.minus, site.proven_sandbox(), opponent=opponent, most_s=MOST_S, stop=signals.stop
        )
        return None if outcome is None else StepResult(outcome, time.monotonic() - began)

    def store(self, job: TuningJob, result: StepResult, *, now: datetime) -> None:
        """Store the result; the scheduler counts it."""
        outcome, why = result.outcome, ""
        if outcome.fault is not None:
            why = f"the bot failed: {outcome.fault.kind}: {outcome.fault.detail}"
        elif not outcome.boards:
            why = f"no board was finished within {MOST_S:.0f} s"
        _finish(
            job.row,
            {"won": outcome.won, "drawn": outcome.drawn, "lost": outcome.lost, "seconds": result.seconds, "why": why},
            now,
        )

    def given_up(self, row: Job, job: TuningJob | None, why: str, *, now: datetime) -> None:
        """Let the tuning end: the league cannot play its boards."""
        _finish(row, {"why": f"the league could not play it: {why}"}, now)


def _finish(row: Job, result: dict[str, object], now: datetime) -> None:
    result["why"] = stored_reason(str(result["why"]))
    TuningStep.objects.filter(pk=row.tuning_id or 0, finished=None).update(result=result, finished=now)
