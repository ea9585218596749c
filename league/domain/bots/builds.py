"""Builds: versions that are source, and the way from there to a program that plays.

1. `begin` queues a job. A worker with the toolchain runs the compiler and fills in the row `Build` (`jobs.handlers.builds`).
2. `settle`, in the scheduler, checks what came out like an upload. It then becomes the package that plays, and its validation begins; or the version
   is rejected with the compiler's message. So a worker chooses the program of an unfinished build, and changes none that plays.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.db import transaction

from engine.packages import archive, building
from engine.packages.manifest import PackageRefused
from engine.sandbox import SandboxError, why_no_builds
from league.domain.bots import packages
from league.domain.core import clock, journal, queue, transitions
from league.domain.matches import validation, workers
from league.enums import FaultKind, VersionStatus
from league.models import BotVersion, Build, Job, Player

JOB = "build"  # The kind of the jobs.
AGAIN = timedelta(minutes=10)  # The pause before the league tries again what it could not do.


def begin(version: BotVersion, language: str, player: Player, *, now: datetime) -> None:
    """Queue the build of a version. The players take turns."""
    build = Build.objects.create(version=version, language=language, created=now)
    queue.add(JOB, now=now, owner=player, position=queue.turn_of(JOB, player), build=build)


def languages_here() -> tuple[str, ...]:
    """Return the languages that this machine builds: with a compiler, and a sandbox that is strong enough.

    A refusal may come from a busy machine, so the sandbox is tested again after a while.
    """
    return _languages_in(int(time.monotonic() // AGAIN.total_seconds()))


@lru_cache(maxsize=1)
def _languages_in(period: int) -> tuple[str, ...]:
    try:
        if why_no_builds(settings.STATE_DIR / "sandbox"):
            return ()
    except SandboxError:
        return ()
    return tuple(building.installed())


def is_possible(build: Build, *, now: datetime | None = None) -> bool:
    """Return True if a living worker can build the language. One query."""
    reports = workers.living(clock.now_or(now)).values_list("runtimes", flat=True)
    return any(workers.BUILDS + build.language in runtimes for runtimes in reports)


def settle(*, now: datetime | None = None) -> int:
    """Act on the finished builds; queue builds again that have lost their job. Return the number of finished ones."""
    now = clock.now_or(now)
    waiting = Build.objects.filter(version__status=VersionStatus.VALIDATING, version__source=None)
    for build in waiting.filter(finished=None, jobs=None).select_related("version__bot__owner")[: queue.MOST]:
        version = build.version
        job = queue.add(JOB, now=now, owner=version.uploader or version.bot.owner, build=build)
        Job.objects.filter(pk=job.pk).update(not_before=now + AGAIN)
    finished = list(waiting.exclude(finished=None).values_list("pk", flat=True)[: queue.MOST])
    return sum(_settle(pk, now) for pk in finished)


def _settle(pk: int, now: datetime) -> bool:
    with transaction.atomic():
        build = Build.objects.select_for_update(of=("self",)).get(pk=pk)
        version = BotVersion.objects.select_for_update(of=("self",)).select_related("bot").get(pk=build.version_id)
        if version.status != VersionStatus.VALIDATING or version.source_id is not None:
            return False
        why = build.why
        try:
            content = archive.read_stored(bytes(build.result or b""))
            if content.manifest.build:
                raise PackageRefused("the build left source")
        except PackageRefused as refused:
            _refuse(version, why or str(refused), now)
        else:
            _accept(version, content, build, now)
        Build.objects.filter(pk=pk).update(result=None)
    return True


def _refuse(version: BotVersion, why: str, now: datetime) -> None:
    fault = FaultKind.BUILD
    transitions.move(version, VersionStatus.REJECTED, now=now, why=fault, fault=fault, fault_detail=why)


def _accept(version: BotVersion, content: archive.BotPackage, build: Build, now: datetime) -> None:
    package = packages.store(content)
    columns = {"source_id": version.package_id, "package": package, "entry": content.manifest.entry}
    columns["runtime"] = content.runtime
    BotVersion.objects.filter(pk=version.pk).update(**columns)
    version.refresh_from_db()
    journal.append(
        "version.built",
        transitions.subject(version),
        now=now,
        language=build.language,
        toolchain=build.toolchain,
        digest=build.digest,
        sha256=content.sha256,
    )
    validation.begin(version, now=now)
