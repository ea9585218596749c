"""Consultations: a house bot says what it would have done at the decisions of one seat.

The bot starts in the sandbox, as in a match, and gets the lines that the seat got in this sitting: the same `hello`, the same events and choices.
Whatever it answers, the following events are those of the record. It gets nothing of earlier boards, and its time bank is full.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from engine.analysis import decisions, ply_of
from engine.compiled import COMPILED
from engine.replay import ReplayError
from engine.runner import Limits
from engine.runner.rebuild import exchanges
from engine.runner.rerun import rerun
from league.domain.bots import packages
from league.domain.consultations import asking
from league.domain.consultations.reading import BotAnswer
from league.domain.core.errors import Refused
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import JobLease
from league.domain.jobs.handlers.requests import BotFailed, RequestHandler
from league.domain.matches import replays
from league.models import BotVersion, Consultation, Job, Match, Sitting

MOST_S = 120.0  # Seconds of wall time; answers up to then are stored
MATCH_COLUMNS = ("public_id", "kind", "status", "embargo", "limits", "tournament__embargo")
POOL_COLUMNS = ("pool__game", "pool__players", "pool__options", "pool__revision")
VERSION_COLUMNS = ("number", "bot__slug", "package__data")

ConsultationJob = JobLease[Consultation]


@dataclass
class ConsultationTask:
    """A seat of a sitting, and the bot that is asked about it."""

    match: Match
    sitting: Sitting
    version: BotVersion


@dataclass
class ConsultationResult:
    """The answers of a bot. is_limited: the time ran out before the last decision."""

    answers: list[BotAnswer]
    cpu_s: float = 0.0
    is_limited: bool = False


class ConsultationHandler(RequestHandler[Consultation, ConsultationTask, ConsultationResult]):
    """The work on a consultation. If it is stopped, it begins again from the start, because a bot cannot be asked from the middle on."""

    kinds = (asking.JOB,)
    model, key = Consultation, "consultation"
    reads = ("match", "board", "sitting", "seat", "version", "cpu_s")
    # A log that cannot be read now cannot be read at the next attempt either
    final_errors = (Refused, ReplayError, ValueError)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs that may be claimed, except those of bots that an operator has stopped."""
        return super().waiting(now).filter(consultation__version__bot__stopped=None)

    def read(self, job: ConsultationJob, site: Site) -> ConsultationTask:
        """Load match, sitting and bot."""
        row = job.subject
        matches = Match.objects.select_related("pool", "tournament").only(*MATCH_COLUMNS, *POOL_COLUMNS)
        match = matches.get(pk=row.match_id)
        sittings = Sitting.objects.select_related("board")
        sitting = sittings.get(board__match=match, board__number=row.board, number=row.sitting)
        sitting.board.match = match
        versions = BotVersion.objects.select_related("bot", "package").only(*VERSION_COLUMNS)
        return ConsultationTask(match, sitting, versions.get(pk=row.version_id))

    def run(
        self, job: ConsultationJob, task: ConsultationTask, site: Site, signals: Signals
    ) -> ConsultationResult | None:
        """Ask the bot. Raise Refused, ReplayError or ValueError if that is impossible for this seat, BotFailed if the bot fails."""
        row, match = job.subject, task.match
        if replays.reason_closed(match):  # An embargo was set after the request
            return None
        # If it were given back, it would be the first in the queue again, for ever
        if reason := asking.reason_not(match):
            raise reason
        record = replays.unpack(task.sitting)
        if "pass" not in record:
            raise Refused(
                "match {match} was played before this league could reconstruct the lines that bots were sent",
                match=match.public_id,
            )
        # Leave out the lines at which the bot failed in the match
        lines = [line for line in exchanges([record]) if line.seat == row.seat and not line.fault]
        count = sum(line.step >= 0 and line.answer is not None for line in lines)
        if not lines or lines[0].step >= 0:  # The bot of this seat did not start in the match
            return ConsultationResult([])
        number = 0  # Number of decisions so far

        def note_progress() -> None:
            nonlocal number
            job.progress = 100 * number // count
            number += 1

        answered = rerun(
            packages.spec(task.version, site.folder),
            site.proven_sandbox(),
            lines,
            Limits(**match.limits).lenient(),
            party=0,
            sitting=row.sitting,
            progress=note_progress,
            stop=lambda: job.lost or signals.stop(),
            most_s=MOST_S,
        )
        if answered is None:
            return None
        if answered.fault is not None:
            raise BotFailed(f"the bot failed: {answered.fault.kind}: {answered.fault.detail}")
        places = {decision.step: (decision.state.deal_no, ply_of(decision.state)) for decision in decisions(record)}
        answers = [
            BotAnswer(line.step, *places[line.step], line.answer or "", reply.now)
            for reply in answered.replies
            if (line := reply.exchange).step in places
        ]
        return ConsultationResult(answers, answered.cpu_s, len(answered.replies) < count)

    def result(self, job: ConsultationJob, result: ConsultationResult) -> dict[str, Any]:
        """Return the answers."""
        return {
            "answers": [answer.plain() for answer in result.answers],
            "compiled": COMPILED,
            "cpu_s": job.subject.cpu_s + result.cpu_s,
            "limited": result.is_limited,
        }
