"""Validations: a worker plays every game that an upload declares, one after the other, under one lease."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from engine.runner import FaultReport, MatchSpec
from engine.runner.bot_processes import BotProcesses
from engine.runner.trial import WHOLE, TrialCheck, try_bot
from engine.sandbox import Sandbox
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.matches import MatchTask, PlayedHandler, note_progress, plan_spec
from league.domain.jobs.handlers.queued import MatchLease
from league.domain.matches import matches, reports, validation
from league.domain.matches.reports import Receipt
from league.enums import MatchKind
from league.models import Match

SLOW = ("timeout", "start_timeout")  # Faults that hold a worker for seconds each.
MOST_SLOW = 2  # A bot whose first games, as many as this, end by the same one is not tried in the others.


class ValidationHandler(PlayedHandler[list[validation.TriedGame]]):
    """The work on a validation."""

    kinds = (MatchKind.VALIDATION,)

    def run(self, job: MatchLease, task: MatchTask, site: Site, signals: Signals) -> list[validation.TriedGame] | None:
        """Play every game. Raise the errors of `play_match`."""
        with self.playing(job, task):
            tried = play_trials(
                job.match,
                task.spec,
                site.proven_sandbox(),
                site.folder,
                first=task.crew,
                stop=signals.stop,
                progress=note_progress(job),
            )
        return tried or None

    def report(self, job: MatchLease, result: list[validation.TriedGame], *, now: datetime | None = None) -> Receipt:
        """Store the result of each game, and accept or reject the version."""
        whole = result[0].result
        if whole is None:
            raise ValueError(f"the first game of validation {job.match.public_id} has no result")
        return reports.report(job.match, whole, result, now=now)


def play_trials(
    match: Match,
    spec: MatchSpec,
    box: Sandbox,
    folder: Path,
    *,
    first: BotProcesses | None,
    stop: Callable[[], bool],
    progress: Callable[[int, int], None],
    most_s: float = validation.MOST_S,
) -> list[validation.TriedGame]:
    """Play every game of a validation, first that of `match`. Return an empty list if it was stopped. Raise the errors of `play_match`.

    A game is refused untried if the bot was too slow in each of the `MOST_SLOW` first games, or if it has not begun after `most_s` seconds.
    """
    until = time.monotonic() + most_s
    rest = validation.plan_rest(match)
    # Only the validated bot also sits at the other tables
    unplayable = {party: why for party, why in spec.unplayable.items() if party == 0}
    results = []
    ends: list[str] = []  # The faults of the games that were tried, "" without one.
    for number, plan in enumerate([None, *rest]):
        if plan is not None and _is_slow(ends):
            results.append(
                _unreached(plan, f"not tried, because the bot was too slow in {MOST_SLOW} games before; answer sooner")
            )
            continue
        if plan is not None and time.monotonic() > until:
            why = f"the other games took all of the {most_s:.0f} s that a validation has; answer sooner, or declare fewer games"
            results.append(_unreached(plan, why))
            continue
        trial = (
            try_bot(spec, box, stop=stop, first=first)
            if plan is None
            else try_bot(replace(plan_spec(plan, folder), unplayable=unplayable), box, stop=stop)
        )
        if not trial.complete:
            return []
        # Both together, so that the author finds everything in one place
        trial.result.parties[0].stderr += trial.stderr
        results.append(validation.TriedGame(trial.game, trial.checks, plan, trial.result))
        ends.append(trial.faulty.fault.kind if trial.faulty and trial.faulty.fault else "")
        progress(number + 1, 1 + len(rest))
    return results


def _is_slow(ends: Sequence[str]) -> bool:
    """Return True if all games so far ended by the same timeout; a bot that is slow in some games only is accepted for the others."""
    return len(ends) >= MOST_SLOW and len(set(ends)) == 1 and ends[0] in SLOW


def _unreached(plan: matches.MatchPlan, why: str) -> validation.TriedGame:
    return validation.TriedGame(plan.pool.game, [TrialCheck(WHOLE, FaultReport(0, 0, 1, 0, -1, "timeout", why))])
