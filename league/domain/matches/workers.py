"""The workers, as they report themselves, and the reasons why matches wait."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, Min, Q, QuerySet, Value, When

from engine.game import declared
from engine.packages import manifest
from engine.runner import runtimes
from league.domain.core import clock, journal
from league.domain.core.errors import without_folders
from league.domain.core.loops import Loops
from league.domain.matches import fairness, holds
from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import BotVersion, Match, Party, Pool, Worker
from league.service import version

SILENT = timedelta(seconds=30)  # A worker that has not reported for this long counts as gone; it reports every 5 s
COMPILED = "a bot at this table is compiled for a Python that no worker has any more; the league builds it again first"
ON_HOLD = "a bot at this table failed in each of its last matches; it is tested again first"
PAUSED = "its tournament is paused, or a bot at this table, by its owner or an operator"
NO_RULES = (
    "no worker that runs plays by revision {revision} of the rules of {game}; start one of that release, or play by the present rules: "
    "manage.py repair --game {game} --revisions {revision} --why ..."
)
FORGOTTEN = timedelta(days=7)
BUILDS = "build:"  # Before the languages that a worker builds, among its runtimes.
NOTHING = Q(pk=None)  # The condition that no row meets.
BUILT = Q(version__source__isnull=False)  # Bots that the league has built, so that it can build them again.
Needs = Callable[[Collection[str], Q], Q]  # Returns the condition for work of such bots that need other runtimes.


def register(
    name: str, *, tier: str, refusal: str = "", builds: Collection[str] = (), now: datetime | None = None
) -> Worker:
    """Note that a worker has started.

    `tier`: the sandbox tier whose checks it passed; if it is empty, `refusal` says why the worker plays nothing. `builds`: languages that it builds.
    """
    now = clock.now_or(now)
    fields: dict[str, Any] = {"tier": tier, "refusal": refusal, "match": None, "started": now, "seen": now}
    fields |= {"errors": {}, "trouble": "", "broker": "", "commit": version.commit() or ""}
    fields |= {
        "rules": pools.revisions(),
        "runtimes": [*runtimes.installed(), *(BUILDS + language for language in builds)],
    }
    worker, _ = Worker.objects.update_or_create(name=name, defaults=fields)
    Worker.objects.filter(seen__lt=now - FORGOTTEN).delete()
    kind = "worker.refused" if refusal else "worker.started"
    facts = {"tier": tier, "commit": fields["commit"], **({"why": refusal} if refusal else {})}
    journal.append(kind, f"worker:{name}", now=now, actor=name, **facts)
    return worker


def note_alive(
    name: str,
    *,
    match: Match | None = None,
    loops: Loops | None = None,
    free_mb: int | None = None,
    now: datetime | None = None,
) -> None:
    """Note that a worker is alive, the match that it plays, and the state of its loops.

    free_mb: MiB free on its disk, if known.
    """
    facts: dict[str, Any] = (
        {"errors": dict(loops.errors), "trouble": loops.trouble, "broker": loops.broker} if loops else {}
    )
    if free_mb is not None:
        facts["free_mb"] = free_mb
    Worker.objects.filter(name=name).update(seen=clock.now_or(now), match=match, **facts)


def change(name: str, *, tier: str, refusal: str, now: datetime | None = None) -> None:
    """Note that a worker refuses work from now on, and why, or that it takes work again, in the tier whose checks it passed."""
    now = clock.now_or(now)
    if Worker.objects.filter(name=name).update(tier=tier, refusal=refusal, seen=now):
        kind = "worker.refused" if refusal else "worker.resumed"
        journal.append(kind, f"worker:{name}", now=now, actor=name, tier=tier, **({"why": refusal} if refusal else {}))


def unregister(name: str, *, now: datetime | None = None) -> None:
    """Remove a worker that has ended as it should."""
    now = clock.now_or(now)
    if Worker.objects.filter(name=name).delete()[0]:
        journal.append("worker.stopped", f"worker:{name}", now=now, actor=name)


def count_able(*, now: datetime | None = None) -> int:
    """Return the number of workers that are alive and may play. One query."""
    return living(clock.now_or(now)).exclude(tier="").count()


def living(now: datetime) -> QuerySet[Worker]:
    """Select the workers that have reported lately. A worker that has lost a loop has ended or is about to, and does not count."""
    return Worker.objects.filter(seen__gte=now - SILENT, trouble="")


def is_silent(worker: Worker, now: datetime) -> bool:
    """Return True for a worker that `living` leaves out."""
    return bool(worker.trouble) or worker.seen < now - SILENT


def _others(name: str, now: datetime) -> QuerySet[Worker]:
    return living(now).exclude(tier="").exclude(name=name)


def better_left_by(name: str, needs: Needs, *, now: datetime) -> Q:
    """Return the condition for audits that the worker `name` should leave to others. Two queries.

    While a worker on another host can do it, `name` leaves all work that avoids any worker of its own host: a bot that escaped its sandbox there
    could act as any of them, even as a new one. The rest is as in `left_to_others`.
    """
    host = name.rpartition(":")[0] or name
    elsewhere = _reports(_others(name, now).exclude(name__startswith=f"{host}:"))
    return Q(avoid__startswith=f"{host}:") & _can_do(elsewhere, needs) | left_to_others(
        name, needs, Q(avoid=name), now=now
    )


def left_to_others(name: str, needs: Needs, avoiding: Q = NOTHING, *, now: datetime) -> Q:
    """Return the condition for work that the worker `name` leaves to others: it is `avoiding`, or its bots need a runtime that this machine lacks.

    Work that no other worker can do is never left, because nobody would claim it. Only that of bots that the league has compiled for another Python
    is: it waits until they are built again (`compiled_elsewhere`). One query.
    """
    installed, reports = frozenset(runtimes.installed()), _reports(_others(name, now))
    # A worker whose runtimes are all installed here lacks the same ones.
    richer = [report for report in reports if not report or not report <= installed]
    here = [*installed, manifest.REMOTE]
    compiled = needs(_loaded_by([runtimes.SERIES]), BUILT)
    return avoiding & _can_do(reports, needs) | needs(here, Q()) & _can_do(richer, needs) | compiled


def compiled_elsewhere(alive: Collection[Worker]) -> QuerySet[BotVersion]:
    """Select the versions whose compiled modules none of these workers can load, because its Python was upgraded.

    They are built again (`league.domain.bots.builds`). None without workers that play, or with one of an older release that does not report runtimes.
    None for the Python of this process, the scheduler: a worker that lies about all of them must not choose what accepted versions play.
    """
    ready = [worker for worker in alive if worker.tier]
    if not ready or not all(worker.runtimes for worker in ready):
        return BotVersion.objects.none()
    series = {runtimes.SERIES, *(name.partition(" ")[2] for worker in ready for name in worker.runtimes)} - {""}
    return BotVersion.objects.filter(source__isnull=False).exclude(runtime__in=_loaded_by(series))


def _loaded_by(series: Collection[str]) -> list[str]:
    """Return the runtimes of versions that have no compiled modules, or for one of these releases of Python. They are not built again."""
    return [*manifest.RUNTIMES, *(f"{python} {release}" for python in manifest.PYTHONS for release in series)]


def _reports(rows: QuerySet[Worker]) -> list[frozenset[str]]:
    """Return the runtimes of these workers: each set once, and none that another one contains. Without a report: a worker of an older release.

    The languages that a worker builds do not matter: each further set would cost a subquery for each row that a claim looks at.
    """
    rows = rows.order_by()
    reports = {
        frozenset(name for name in names if not name.startswith(BUILDS))
        for names in rows.values_list("runtimes", flat=True).distinct()
    }
    return [report for report in reports if not report or not any(report < other for other in reports)]


def _can_do(reports: Collection[frozenset[str]], needs: Needs) -> Q:
    """Return the condition for work that a worker with one of these reports has all runtimes for."""
    if not all(reports):
        return Q()
    condition = NOTHING
    for report in reports:
        condition |= ~needs([*report, manifest.REMOTE], Q())
    return condition


@dataclass(frozen=True)
class Queue:
    """The state of the queue. `starved`: a sentence why nothing is played, or empty.

    `waiting` counts the queued matches by why they wait: "turn" (others come first), "retry" (played again soon after a fault of ours), "paused"
    (its tournament or a bot at the table, by the owner or an operator), "retest" (a bot at the table is tested again first), "rules" (no worker has
    the rules of its pool: they are those of another release), "worker" (no worker runs), "sandbox" (every worker refuses). `least_free_mb`: MiB
    free on the fullest disk of a worker.
    """

    queued: int
    playing: int
    oldest: datetime | None
    workers: int
    refusing: int
    starved: str
    waiting: dict[str, int]
    least_free_mb: int | None = None


def queue(*, now: datetime | None = None, rows: Sequence[Worker] | None = None) -> Queue:
    """Count queued matches by reason, count workers, and say why nothing is played if that is so. Two queries; one with the workers in `rows`."""
    now = clock.now_or(now)
    alive = [row for row in (living(now).order_by("name") if rows is None else rows) if not is_silent(row, now)]
    ready = [worker for worker in alive if worker.tier]
    playing = When(status__in=Match.HELD, then=Value("playing"))
    waiting = Match.objects.filter(status__in=[MatchStatus.QUEUED, *Match.HELD]).order_by()
    reasoned = waiting.annotate(why=_reason(alive, now, playing)).values_list("why")
    counted = reasoned.annotate(number=Count("*"), oldest=Min("created"))
    work = {why: (number, oldest) for why, number, oldest in counted}
    playing_count, _since = work.pop("playing", (0, None))
    reasons = dict.fromkeys(("turn", "retry", "paused", "retest", "rules", "worker", "sandbox"), 0)
    reasons |= {why: number for why, (number, _oldest) in work.items()}
    queued = sum(reasons.values())
    oldest = min((oldest for _number, oldest in work.values()), default=None)
    starved = _why_starved(alive) if queued and not ready else ""
    free = min((worker.free_mb for worker in alive if worker.free_mb is not None), default=None)
    return Queue(queued, playing_count, oldest, len(ready), len(alive) - len(ready), starved, reasons, free)


def _reason(alive: Sequence[Worker], now: datetime, *first: When) -> Case:
    """Return the reason why a queued match waits (see `Queue.waiting`), unless one of the conditions `first` holds."""
    ready = [worker for worker in alive if worker.tier]
    waiting = Match.objects.filter(status=MatchStatus.QUEUED)
    return Case(
        *first,
        When(not_before__gt=now, then=Value("retry")),
        When(pk__in=holds.paused_matches(waiting).values("pk"), then=Value("paused")),
        When(pk__in=holds.matches_on_hold(waiting).values("pk"), then=Value("retest")),
        When(_strange(ready), then=Value("rules")),
        default=Value(_usual(alive)),
    )


def _usual(alive: Sequence[Worker]) -> str:
    """Return the reason why a match without a hold waits."""
    return "turn" if any(worker.tier for worker in alive) else "sandbox" if alive else "worker"


def waiting_line(*, now: datetime | None = None) -> QuerySet[Match, Any]:
    """Return the queued matches in the order of claims, each with the reason `why` it waits (see `Queue.waiting`). One more query."""
    now = clock.now_or(now)
    alive = list(living(now))
    waiting = Match.objects.filter(status=MatchStatus.QUEUED).annotate(why=_reason(alive, now))
    first = Case(When(why=_usual(alive), then=0), default=1)
    return waiting.annotate(first=first).order_by("first", *fairness.ORDER)


def _strange(ready: Sequence[Worker], prefix: str = "pool__") -> Q:
    """Select the rows whose pool (under `prefix`) none of these workers can play.

    A worker that reports no rules is of an older release that plays all.
    """
    rules = {frozenset(worker.rules.items()) for worker in ready}
    if not all(rules) or not rules:
        return Q(pk__in=[])
    playable = Q(pk__in=[])
    for revisions in rules:
        playable |= pools.with_rules(dict(revisions), prefix)
    return ~playable


def _outdated(queued: QuerySet[Pool], ready: Sequence[Worker]) -> list[Pool]:
    """Return the pools whose options have other rules since, in a game in which the latest revision belongs to some options only."""
    latest = pools.revisions()
    if any(worker.rules != latest for worker in ready):
        return []
    games = [game for game in latest if declared(game).revised]
    return [pool for pool in queued.filter(game__in=games) if not pools.is_known(pool)]


def _why_starved(alive: list[Worker]) -> str:
    if not alive:
        return "no worker is running; start one with `manage.py worker` (or `manage.py serve` for all in one)"
    worker = alive[0]
    return f"every worker refuses to play (SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER}); one says: {worker.refusal}"


def withhold(strange: QuerySet[Match]) -> None:
    """Mark the queued matches on hold, and the `strange` ones, so that claims skip them; unmark the others."""
    queued = Match.line.filter(status=MatchStatus.QUEUED)
    ready, withheld = queued.filter(held_back=False), queued.filter(held_back=True)
    holds.blocked_matches(ready).update(held_back=True)
    strange.filter(status=MatchStatus.QUEUED, held_back=False).update(held_back=True)
    holds.playable_matches(withheld).exclude(pk__in=strange.values("pk")).update(held_back=False)


def explain(*, now: datetime | None = None) -> int:
    """Store in the queued matches why they are not played, or remove the reason. Return the number of changed rows."""
    now = clock.now_or(now)
    if not Match.line.filter(status=MatchStatus.QUEUED).exists():
        return 0
    alive = list(living(now).order_by("name"))
    ready = [worker for worker in alive if worker.tier]
    starved = not ready and Match.objects.filter(status=MatchStatus.QUEUED).exists()
    reason = without_folders(_why_starved(alive)) if starved else ""
    waiting = Match.line.filter(status=MatchStatus.QUEUED, attempts=0)
    queued = Pool.objects.filter(matches__in=waiting).distinct()
    strange = [*queued.filter(_strange(ready, "")), *_outdated(queued, ready)]
    unplayable = {pool: NO_RULES.format(game=pool.game, revision=pool.revision) for pool in strange}
    compiled = compiled_elsewhere(alive)
    seats = Party.objects.filter(version__in=compiled) if compiled.exists() else Party.objects.none()
    rebuilt = Match.line.filter(status=MatchStatus.QUEUED, pk__in=seats.values("match"))
    playable = holds.playable_matches(waiting).exclude(pk__in=rebuilt.values("pk"))
    changed = playable.exclude(pool__in=unplayable).exclude(reason=reason).update(reason=reason)
    changed += rebuilt.exclude(reason=COMPILED).update(reason=COMPILED)
    for pool, why in unplayable.items():
        changed += playable.filter(pool=pool).exclude(reason=why).update(reason=why)
    withhold(Match.line.filter(Q(pool__in=unplayable) | Q(pk__in=rebuilt.values("pk"))))
    paused = holds.paused_matches(waiting)
    changed += paused.exclude(reason=PAUSED).update(reason=PAUSED)
    tested = holds.matches_on_hold(waiting).exclude(pk__in=paused.values("pk"))
    return changed + tested.exclude(reason=ON_HOLD).update(reason=ON_HOLD)
