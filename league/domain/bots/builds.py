"""Builds: versions that are source, and the way from there to a program that plays.

1. `begin` queues a job. A worker with the toolchain runs the compiler and fills in the row `Build` (`jobs.handlers.builds`).
2. `settle`, in the scheduler, checks what came out like an upload. It then becomes the package that plays, and its validation begins; or the version
   is rejected with the compiler's message. So a worker chooses the program of an unfinished build, and changes none that plays.

A build waits for a worker with the compiler. While none has it, the version's page, the API and `/status/` say so (`why_waiting`, `upkeep.waiting`),
and `settle` refuses the version after PATIENCE.

Compiled modules fit one release of Python. `rebuild`, in the scheduler, sends the versions whose modules no worker can load the same way again; until
then their matches wait (`matches.workers`). Nobody can ask for it, so no owner chooses when a match waits.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from engine.packages import archive, building
from engine.packages.manifest import PackageRefused
from engine.sandbox import SandboxError, why_no_builds
from league.domain.bots import packages
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.matches import validation, workers
from league.enums import BotState, FaultKind, MatchStatus, VersionStatus
from league.models import BotVersion, Build, Job, Match, Package, Player, Worker

JOB = "build"  # The kind of the jobs.
_FAILED = ~Q(why="") & Q(
    version__runtime__contains=" "
)  # A build for another Python that `settle` has not yet acted on.
REBUILDS = 4  # The most builds for another Python in the queue, so that no upload waits for them all.
PATIENCE = timedelta(
    days=7
)  # The longest wait for a worker with the compiler, as long as a lost worker is remembered (`workers.FORGOTTEN`).
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


def languages_of(rows: QuerySet[Worker]) -> list[str]:
    """Return the languages that these workers build, without those that refuse to play, in the order of the recipes. One query."""
    names = {name for runtimes in rows.exclude(tier="").values_list("runtimes", flat=True) for name in runtimes}
    return [language for language in building.RECIPES if workers.BUILDS + language in names]


def languages_now(*, now: datetime | None = None) -> list[str]:
    """Return the languages that the league builds now. One query."""
    return languages_of(workers.living(clock.now_or(now)))


def why_waiting(version: BotVersion, *, now: datetime | None = None) -> Refused | None:
    """Return why the first build of a version does not begin: workers run, but none builds its language. Three queries at most."""
    build = getattr(version, "build", None) if version.status == VersionStatus.VALIDATING else None
    if build is None or build.finished is not None or version.source_id is not None:
        return None
    able = languages_now(now=now)
    if build.language in able or not workers.count_able(now=now):
        return None
    return Refused(
        "no worker here builds {language}; the league builds now: {languages}. Ask the operator for a worker with {packages}, or upload a "
        "program that you have built yourself. Without a worker, this version is refused on {date}.",
        language=build.language,
        languages=", ".join(able) or "–",
        packages=building.RECIPES[build.language].packages,
        date=f"{build.created + PATIENCE:%Y-%m-%d}",
    )


def rebuild(*, now: datetime | None = None) -> int:
    """Queue the builds of versions whose modules no worker can load, first those with a queued match, then the newest. Return their number.

    A retired bot plays nothing but its queued matches, so it is built for these alone.
    """
    now = clock.now_or(now)
    alive = list(workers.living(now))
    names = {name.removeprefix(workers.BUILDS) for worker in alive for name in worker.runtimes}
    space = REBUILDS - Build.objects.filter(finished=None).exclude(version__source=None).count()
    lost = workers.compiled_elsewhere(alive).exclude(build__finished=None).exclude(status=VersionStatus.REJECTED)
    is_awaited = Exists(Match.line.filter(status=MatchStatus.QUEUED, parties__version=OuterRef("pk")))
    rows = lost.filter(is_awaited | ~Q(bot__state=BotState.RETIRED), build__language__in=names)
    first = rows.order_by(is_awaited.desc(), "-pk").values_list("build", flat=True)
    return sum(_queue_again(pk, now) for pk in list(first[: max(0, space)]))


def _queue_again(pk: int, now: datetime) -> bool:
    with transaction.atomic():
        rows = Build.objects.filter(pk=pk).exclude(finished=None)
        if not rows.update(finished=None, result=None, why="", log=""):
            return False
        queue.add(JOB, now=now, build=Build.objects.get(pk=pk))
    return True


def settle(*, now: datetime | None = None) -> int:
    """Act on the finished builds; queue builds again that have lost their job. Return the number of finished ones."""
    now = clock.now_or(now)
    is_first = Q(version__status=VersionStatus.VALIDATING, version__source=None)
    waiting = Build.objects.filter(is_first | Q(version__source__isnull=False))
    for build in waiting.filter(finished=None, jobs=None).select_related("version__bot__owner")[: queue.MOST]:
        version = build.version
        owner = None if version.source_id else version.uploader or version.bot.owner
        job = queue.add(JOB, now=now, owner=owner, build=build)
        Job.objects.filter(pk=job.pk).update(not_before=now + AGAIN)
    _refuse_waiting(waiting.filter(is_first, finished=None, created__lte=now - PATIENCE), now)
    ends = waiting.filter(is_first | Q(result__isnull=False) | _FAILED).exclude(finished=None)
    finished = list(ends.values_list("pk", flat=True)[: queue.MOST])
    return sum(_settle(pk, now) for pk in finished)


def _refuse_waiting(builds: QuerySet[Build], now: datetime) -> None:
    """Refuse the versions that no worker has been able to build for PATIENCE, while the league plays. This is no fault of the bot."""
    if not builds.exists() or not workers.count_able(now=now):
        return
    for build in builds.exclude(language__in=languages_of(Worker.objects.all())).select_related("version")[
        : queue.MOST
    ]:
        why = f"no worker of this league built {build.language} within {PATIENCE.days} days; ask the operator, then upload it again"
        with transaction.atomic(), suppress(IllegalMove):
            _refuse(build.version, why, now, fault=FaultKind.INFRASTRUCTURE)
            Build.objects.filter(pk=build.pk).update(finished=now, why=why)
            queue.withdraw(JOB, build=build)


def _settle(pk: int, now: datetime) -> bool:
    with transaction.atomic():
        build = Build.objects.select_for_update(of=("self",)).get(pk=pk)
        version = BotVersion.objects.select_for_update(of=("self",)).select_related("bot").get(pk=build.version_id)
        is_again = version.source_id is not None
        is_over = version.status != VersionStatus.VALIDATING
        if is_again:
            is_over = build.result is None and not (build.why and " " in version.runtime)
        if is_over or build.finished is None:
            return False
        why = build.why
        try:
            content = archive.read_stored(bytes(build.result or b""))
            if content.manifest.build:
                raise PackageRefused("the build left source")
        except PackageRefused as refused:
            (_give_up if is_again else _refuse)(version, why or str(refused), now)
        else:
            (_exchange if is_again else _accept)(version, content, build, now)
        Build.objects.filter(pk=pk).update(result=None)
    return True


def _refuse(version: BotVersion, why: str, now: datetime, *, fault: FaultKind = FaultKind.BUILD) -> None:
    transitions.move(version, VersionStatus.REJECTED, now=now, why=fault, fault=fault, fault_detail=why)


def _accept(version: BotVersion, content: archive.BotPackage, build: Build, now: datetime) -> None:
    package = packages.store(content)
    columns = {"source_id": version.package_id, "package": package, "entry": content.manifest.entry}
    columns["runtime"] = content.runtime
    BotVersion.objects.filter(pk=version.pk).update(**columns)
    version.refresh_from_db()
    _note(version, content, build, now)
    validation.begin(version, now=now)


def _exchange(version: BotVersion, content: archive.BotPackage, build: Build, now: datetime) -> None:
    """Let the version play what was built of the same source for another Python."""
    before = version.package_id
    BotVersion.objects.filter(pk=version.pk).update(package=packages.store(content), runtime=content.runtime)
    Package.objects.filter(pk=before, versions=None, built_versions=None).delete()
    _note(version, content, build, now)


def _give_up(version: BotVersion, why: str, now: datetime) -> None:
    """Let the matches of a version that the new compiler refuses wait no longer; a worker that tries one says why it cannot be played."""
    BotVersion.objects.filter(pk=version.pk).update(runtime=version.runtime.partition(" ")[0])
    Build.objects.filter(version=version).update(why=why)
    journal.append("version.unbuilt", transitions.subject(version), now=now, why=why)


def _note(version: BotVersion, content: archive.BotPackage, build: Build, now: datetime) -> None:
    journal.append(
        "version.built",
        transitions.subject(version),
        now=now,
        language=build.language,
        toolchain=build.toolchain,
        digest=build.digest,
        sha256=content.sha256,
    )
