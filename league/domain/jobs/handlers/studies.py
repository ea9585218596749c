"""The parts of studies (league.domain.studies): some boards of a variant between two house bots, or the report of those that are counted.

Nobody waits for them: they yield to every other kind of work that somebody waits for, like the steps of tunings.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db.models import F, QuerySet

from engine.cards import chance
from engine.lab.facts import facts
from engine.lab.report import build
from engine.runner import BotSpec, MatchSpec
from engine.runner.match import play_match
from engine.runner.spec import POSSIBLE
from engine.studying import NAME, part_of, plain_boards
from engine.version import VERSION
from league.domain.bots import packages
from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.background import BackgroundHandler, stored_reason
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, JobLease
from league.domain.studies import parts
from league.models import BotVersion, Job, StudyPart

StudyJob = JobLease[StudyPart]


@dataclass(frozen=True)
class PartResult:
    """The packed result of a part, the processor time of its bots, and the seconds that it took. why: why the study has to end."""

    data: bytes | None
    cpu_s: float
    seconds: float
    why: str = ""


class StudyHandler(BackgroundHandler[StudyPart, tuple[BotSpec, ...], PartResult]):
    """The work on a part. If it is stopped, it begins again, with the same cards."""

    kinds = (parts.JOB,)
    terms = AttemptTerms(attempts=3, limit=parts.PART)
    allowance = Allowance(share=0.05)  # Its own, so that tunings do not take it.

    def subject(self, row: Job) -> StudyPart:
        """Load the part."""
        rows = StudyPart.objects.select_related("study").defer("data", "study__report")
        return rows.get(pk=row.study_id or 0)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs of studies that this release began: another one might play other boards."""
        return super().waiting(now).filter(study__study__inputs__engine=VERSION)

    def read(self, job: StudyJob, site: Site) -> tuple[BotSpec, ...]:
        """Load and unpack the two bots; none for a report."""
        if job.subject.first == parts.REPORT:
            return ()
        rows = BotVersion.objects.select_related("package").only("number", "package__data").filter(bot__is_house=True)
        hashes = [bot["sha256"] for bot in job.subject.study.inputs["bots"]]
        versions = {version.package_id: version for version in rows.filter(package__in=hashes)}
        return tuple(packages.spec(versions[name], site.folder) for name in hashes)

    def run(self, job: StudyJob, task: tuple[BotSpec, ...], site: Site, signals: Signals) -> PartResult | None:
        """Play the boards, or build the report. Raise the errors of `play_match`."""
        part, study, began = job.subject, job.subject.study, time.monotonic()
        game = parts.rules_of(study)
        if not task:
            boards = [board for row in parts.counted(study) for board in parts.unpack(row)]
            report = build(game, boards, {**study.inputs, "cpu_s": round(study.cpu_s, 1)})
            return PartResult(parts.pack(report), 0.0, time.monotonic() - began)
        better, worse = task
        spec = MatchSpec(
            match_id=f"{NAME} {study.inputs['seed']}",
            game=study.game,
            players=study.players,
            options=study.options,
            secret=chance.as_seed(study.inputs["seed"]),
            table=NAME,
            boards=range(1, study.boards + 1),
            parties=(better, *[worse] * (len(game.sides) - 1)),
            sealing=POSSIBLE,
        )
        match = play_match(part_of(spec, parts.numbers_of(study, part.first)), site.proven_sandbox(), stop=signals.stop)
        if signals.stop():
            return None
        cpu_s, seconds = sum(party.cpu_s for party in match.parties), time.monotonic() - began
        fault = next((fault for party in match.parties for fault in party.faults), None)
        if fault is not None:
            return PartResult(None, cpu_s, seconds, f"a bot failed: {fault.kind}: {fault.detail}")
        return PartResult(parts.pack(plain_boards(match, facts)), cpu_s, seconds)

    def store(self, job: StudyJob, result: PartResult, *, now: datetime) -> None:
        """Store the result; the scheduler counts it."""
        digest = sha256(result.data).hexdigest() if result.data is not None else ""
        seconds = F("seconds") + result.seconds  # After those of earlier attempts.
        columns = {"data": result.data, "digest": digest, "cpu_s": result.cpu_s, "seconds": seconds}
        rows = StudyPart.objects.filter(pk=job.row.study_id or 0, finished=None)
        rows.update(finished=now, why=stored_reason(result.why), **columns)

    def waits_again(self, row: Job, job: StudyJob | None, why: str, *, now: datetime) -> None:
        """Count the time of an attempt without a result."""
        _finish_attempt(row, now)

    def given_up(self, row: Job, job: StudyJob | None, why: str, *, now: datetime) -> None:
        """Let the study end: the league cannot play its boards."""
        _finish_attempt(row, now, finished=now, why=stored_reason(f"the league could not play it: {why}"))


def _finish_attempt(row: Job, now: datetime, **columns: Any) -> None:
    seconds = F("seconds") + parts.attempt_s(row, now)
    StudyPart.objects.filter(pk=row.study_id or 0, finished=None).update(seconds=seconds, **columns)
