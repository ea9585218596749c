"""The processes that play, as they report themselves, and what the queue lacks when it stands still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, Min, Q, QuerySet, Value, When

from league.domain.core import clock, journal
from league.domain.core.errors import without_folders
from league.domain.core.loops import Loops
from league.domain.matches import holds, turns
from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Match, Pool, Worker
from league.service import version

SILENT = timedelta(seconds=30)  # a worker not heard of for so long is not there: it reports itself every 5 s
ON_HOLD = "a bot at this table failed in each of its last matches; it is tested again first"
PAUSED = "its tournament is paused, or a bot at this table, by its owner or an operator"
LEFT = (
    "no worker that runs plays by revision {revision} of the rules of {game}; start one of that release, or play by the present rules: "
    "manage.py repair --game {game} --revisions {revision} --why ..."
)
FORGOTTEN = timedelta(days=7)


def register(name: str, *, tier: str, refusal: str = "", now: datetime | None = None) -> Worker:
    """Note that a worker has started. `tier` is the sandbox tier that it proved; where it is empty, `refusal` says why the worker plays nothing."""
    now = clock.now_or(now)
    fields: dict[str, Any] = {"tier": tier, "refusal": refusal, "match": None, "started": now, "seen": now}
    fields |= {"errors": {}, "trouble": "", "broker": "", "commit": version.commit() or "", "rules": pools.revisions()}
    worker, _ = Worker.objects.update_or_create(name=name, defaults=fields)
    Worker.objects.filter(seen__lt=now - FORGOTTEN).delete()
    kind = "worker.refused" if refusal else "worker.started"
    told = {"tier": tier, "commit": fields["commit"], **({"why": refusal} if refusal else {})}
    journal.append(kind, f"worker:{name}", now=now, actor=name, **told)
    return worker


def note_alive(
    name: str,
    *,
    match: Match | None = None,
    loops: Loops | None = None,
    free_mb: int | None = None,
    now: datetime | None = None,
) -> None:
    """Note that a worker is alive, which match it plays, and what it has to tell of its loops.

    free_mb: on its disk, where it has been looked at.
    """
    told: dict[str, Any] = (
        {"errors": dict(loops.errors), "trouble": loops.trouble, "broker": loops.broker} if loops else {}
    )
    if free_mb is not None:
        told["free_mb"] = free_mb
    Worker.objects.filter(name=name).update(seen=clock.now_or(now), match=match, **told)


def change(name: str, *, tier: str, refusal: str, now: datetime | None = None) -> None:
    """Note that a worker refuses from now on, for the reason given, or that it takes work again: in the tier it proved."""
    now = clock.now_or(now)
    if Worker.objects.filter(name=name).update(tier=tier, refusal=refusal, seen=now):
        kind = "worker.refused" if refusal else "worker.resumed"
        journal.append(kind, f"worker:{name}", now=now, actor=name, tier=tier, **({"why": refusal} if refusal else {}))


def unregister(name: str, *, now: datetime | None = None) -> None:
    """Take a worker that has ended in good order off the list."""
    now = clock.now_or(now)
    if Worker.objects.filter(name=name).delete()[0]:
        journal.append("worker.stopped", f"worker:{name}", now=now, actor=name)


def count_able(*, now: datetime) -> int:
    """How many workers are alive and may play. One query."""
    return living(now).exclude(tier="").count()


def living(now: datetime) -> QuerySet[Worker]:
    """Return the workers that were heard of lately. One that has lost a loop is about to end, or has ended, and is none."""
    return Worker.objects.filter(seen__gte=now - SILENT, trouble="")


def is_another_able(name: str, *, now: datetime) -> bool:
    """Whether another worker is alive and may play. One query."""
    return _others(name, now).exists()


def _others(name: str, now: datetime) -> QuerySet[Worker]:
    return living(now).exclude(tier="").exclude(name=name)


def better_left_by(name: str, *, now: datetime) -> Q:
    """Of the work that avoids a worker, what `name` leaves to others. At most two queries.

    That of all workers of its host while one of another host is able: whoever breaks out there may be any of them, also a new one. Else its own
    while another worker is able; else none.
    """
    host = name.rpartition(":")[0] or name
    if _others(name, now).exclude(name__startswith=f"{host}:").exists():
        return Q(avoid=name) | Q(avoid__startswith=f"{host}:")
    return Q(avoid=name) if is_another_able(name, now=now) else Q(pk=None)


@dataclass(frozen=True)
class Queue:
    """The state of the work. `starved` is empty while matches flow, else a sentence for people.

    `waiting` counts the queued matches by why they wait: "turn" (nothing but their turn), "retry" (a fault of ours, played again soon),
    "paused" (its tournament, or a bot at the table, by the owner or an operator), "retest" (a bot at the table is tested again first),
    "rules" (no worker plays by the rules of its pool: they are those of another release), "worker" (no worker is there),
    "sandbox" (every worker refuses). `least_free_mb`: on the fullest disk of a worker.
    """

    queued: int
    playing: int
    oldest: datetime | None
    workers: int
    refusing: int
    starved: str
    waiting: dict[str, int]
    least_free_mb: int | None = None


def queue(*, now: datetime | None = None) -> Queue:
    """How many matches wait, since when and why, how many workers play, and why nothing is played where that is so. Two queries."""
    now = clock.now_or(now)
    waiting = Q(status=MatchStatus.QUEUED)
    held = Q(status__in=[MatchStatus.LEASED, MatchStatus.RUNNING])
    retest = holds.matches_on_hold(Match.objects.filter(waiting)).values("pk")
    paused = holds.paused_matches(Match.objects.filter(waiting)).values("pk")
    later = Q(not_before__gt=now)
    alive = list(living(now).order_by("name"))
    ready = [worker for worker in alive if worker.tier]
    held_back = Q(pk__in=paused) | Q(pk__in=retest)
    work = Match.objects.filter(waiting | held).aggregate(
        queued=Count("id", filter=waiting),
        playing=Count("id", filter=held),
        oldest=Min("created", filter=waiting),
        retry=Count("id", filter=waiting & later),
        paused=Count("id", filter=waiting & ~later & Q(pk__in=paused)),
        retest=Count("id", filter=waiting & ~later & ~Q(pk__in=paused) & Q(pk__in=retest)),
        rules=Count("id", filter=waiting & ~later & ~held_back & _strange(ready)),
    )
    starved = _why_starved(alive) if work["queued"] and not ready else ""
    waits = {name: work[name] for name in ("retry", "paused", "retest", "rules")}
    rest = work["queued"] - sum(waits.values())
    why = "turn" if ready else "sandbox" if alive else "worker"
    reasons = {"turn": 0, **waits, "worker": 0, "sandbox": 0} | {why: rest}
    free = min((worker.free_mb for worker in alive if worker.free_mb is not None), default=None)
    refusing = len(alive) - len(ready)
    return Queue(work["queued"], work["playing"], work["oldest"], len(ready), refusing, starved, reasons, free)


def count_ready(*, now: datetime | None = None) -> int:
    """How many workers play, as `queue` has it. One query."""
    return count_able(now=clock.now_or(now))


def waiting_line(*, now: datetime | None = None) -> QuerySet[Match, Any]:
    """The queued matches in the order in which they are claimed, each with the reason `why` it waits (see `Queue.waiting`). One query besides."""
    now = clock.now_or(now)
    waiting = Match.objects.filter(status=MatchStatus.QUEUED)
    alive = list(living(now))
    ready = [worker for worker in alive if worker.tier]
    usual = "turn" if ready else "sandbox" if alive else "worker"
    retest = Q(pk__in=holds.matches_on_hold(waiting).values("pk"))
    paused = Q(pk__in=holds.paused_matches(waiting).values("pk"))
    why = Case(
        When(not_before__gt=now, then=Value("retry")),
        When(paused, then=Value("paused")),
        When(retest, then=Value("retest")),
        When(_strange(ready), then=Value("rules")),
        default=Value(usual),
    )
    first = Case(When(why=usual, then=0), default=1)
    return waiting.annotate(why=why).annotate(first=first).order_by("first", *turns.ORDER)


def _strange(ready: Sequence[Worker], prefix: str = "pool__") -> Q:
    """Which pools, of rows that have theirs as `prefix`, none of these workers can play. One that tells no rules is of a release that plays all."""
    rules = {frozenset(worker.rules.items()) for worker in ready}
    if not all(rules) or not rules:
        return Q(pk__in=[])
    known = Q(pk__in=[])
    for some in rules:
        known |= pools.with_rules(dict(some), prefix)
    return ~known


def _why_starved(alive: list[Worker]) -> str:
    if not alive:
        return "no worker is running; start one with `manage.py worker` (or `manage.py serve` for all in one)"
    worker = alive[0]
    return f"every worker refuses to play (SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER}); one says: {worker.refusal}"


def hold_back(strange: QuerySet[Match]) -> None:
    """Mark the queued matches that may not be played now, and the `strange` ones, for claims to pass them over; take it back from the others."""
    queued = Match.line.filter(status=MatchStatus.QUEUED)
    ready, back = queued.filter(held_back=False), queued.filter(held_back=True)
    holds.blocked_matches(ready).update(held_back=True)
    strange.filter(status=MatchStatus.QUEUED, held_back=False).update(held_back=True)
    holds.playable_matches(back).exclude(pk__in=strange.values("pk")).update(held_back=False)


def explain(*, now: datetime | None = None) -> int:
    """Write into the queued matches why nothing is played, or take that back; the number of rows changed."""
    now = clock.now_or(now)
    if not Match.line.filter(status=MatchStatus.QUEUED).exists():
        return 0
    alive = list(living(now).order_by("name"))
    ready = [worker for worker in alive if worker.tier]
    starved = not ready and Match.objects.filter(status=MatchStatus.QUEUED).exists()
    reason = without_folders(_why_starved(alive)) if starved else ""
    waiting = Match.line.filter(status=MatchStatus.QUEUED, attempts=0)
    strange = Pool.objects.filter(_strange(ready, ""), matches__in=waiting).distinct()
    left = {pool: LEFT.format(game=pool.game, revision=pool.revision) for pool in strange}
    playable = holds.playable_matches(waiting)
    changed = playable.exclude(pool__in=left).exclude(reason=reason).update(reason=reason)
    for pool, why in left.items():
        changed += playable.filter(pool=pool).exclude(reason=why).update(reason=why)
    hold_back(Match.line.filter(pool__in=left))
    paused = holds.paused_matches(waiting)
    changed += paused.exclude(reason=PAUSED).update(reason=PAUSED)
    tested = holds.matches_on_hold(waiting).exclude(pk__in=paused.values("pk"))
    return changed + tested.exclude(reason=ON_HOLD).update(reason=ON_HOLD)
