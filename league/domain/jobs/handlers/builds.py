"""Builds of versions that are source, on workers that have the toolchain. They go before matches, because an author waits, for half of the time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from django.db.models import QuerySet

import engine
from engine.packages import building
from engine.packages.archive import BotPackage
from engine.packages.building import Built
from engine.runner import MatchSpec, runtimes
from engine.runner.spec import POSSIBLE
from engine.runner.trial import try_bot
from league.domain.bots import builds, packages
from league.domain.core import clock
from league.domain.core.queue import AttemptTerms
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import Allowance, IdleHandler, JobLease
from league.domain.jobs.handlers.validation import SLOW
from league.domain.matches import validation
from league.models import BotVersion, Build, Job

LOG_S = 2.0  # Seconds between two looks of the page at the log.
SECRET = b"build" * 6 + b".."  # Deals the cards of a trial, which counts for nothing.
BuildJob = JobLease[Build]


@dataclass(frozen=True)
class BuildTask:
    """Sources, and the folder where they are unpacked."""

    content: BotPackage
    folder: Path


class BuildHandler(IdleHandler[Build, BuildTask, Built]):
    """The work on a build."""

    kinds = (builds.JOB,)
    terms = AttemptTerms(attempts=3, limit=timedelta(minutes=15))
    allowance = Allowance(share=0.5)

    def subject(self, row: Job) -> Build:
        """Load the build."""
        return Build.objects.select_related("version__bot").defer("log", "result").get(jobs=row)

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs in languages that this machine builds."""
        jobs = super().waiting(now)
        return jobs.filter(build__language__in=builds.languages_here()) if jobs.exists() else jobs

    def is_overdue(self, *, now: datetime | None = None) -> bool:
        """Return True if a build is waiting that this machine can do."""
        return self.has_waiting(now=clock.now_or(now))

    def goes_after(self, *, before_ladders: bool, now: datetime | None = None) -> bool:
        """Return False: no other work goes first, and the allowance leaves time for it."""
        return False

    def read(self, job: BuildJob, site: Site) -> BuildTask:
        """Load the source and unpack it."""
        content = packages.submitted(job.subject.version)
        return BuildTask(content, packages.unpack(content, site.folder))

    def run(self, job: BuildJob, task: BuildTask, site: Site, signals: Signals) -> Built | None:
        """Run the compiler. Raise SandboxError for a fault of this machine."""
        last = 0.0

        def tell(log: str) -> None:
            nonlocal last
            if time.monotonic() - last >= LOG_S and not job.lost:
                last = time.monotonic()
                Build.objects.filter(pk=job.subject.pk, finished=None).update(log=log)

        state_dir = site.proven_sandbox().state_dir
        built = building.build(task.content, task.folder, state_dir, tell=tell, stop=signals.stop)
        if built is None or built.package is None or job.subject.version.source_id is None:
            return built
        return self._tried(job.subject.version, built, built.package, site, signals)

    def _tried(
        self, version: BotVersion, built: Built, package: BotPackage, site: Site, signals: Signals
    ) -> Built | None:
        """Try what was built again for another Python at one table, because its version is accepted and plays without a validation.

        A slow answer refuses nothing: it may be a busy machine, and nobody would build the version another time. Its matches judge it.
        """
        if package.runtime not in runtimes.installed():
            return built  # Such as numpy, which only other workers have.
        game = engine.load(next(filter(version.plays, validation.games(version))))
        bots = (packages.unpacked(package, site.folder),) * len(game.sides)
        spec = MatchSpec(f"build-{built.digest[:12]}", game.key, SECRET, "build", range(1, 2), bots)
        trial = try_bot(replace(spec, sealing=POSSIBLE), site.proven_sandbox(), stop=signals.stop)
        if not trial.complete:
            return None
        fault = trial.faulty and trial.faulty.fault
        if not fault or fault.kind in SLOW:
            return built
        why = f"it compiles, but fails at {game.key}: {fault.kind}: {fault.detail}"
        return replace(built, package=None, why=why, log=f"{built.log}\n{why}\n{trial.stderr}")

    def store(self, job: BuildJob, result: Built, *, now: datetime) -> None:
        """Fill in the row; the scheduler does the rest."""
        Build.objects.filter(pk=job.subject.pk, finished=None).update(
            log=result.log,
            why=result.why,
            toolchain=result.toolchain,
            digest=result.digest,
            result=result.package.zip() if result.package else None,
            finished=now,
        )
