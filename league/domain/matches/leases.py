"""Leases: which worker may play which match until when, guarded by a fencing token.

The token grows with every claim. A worker sends its token with every change to a match; an older token is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import (
    BinaryField,
    Exists,
    F,
    Func,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    prefetch_related_objects,
)
from django.db.models.functions import JSONObject

from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.core.queue import LeaseLost
from league.domain.matches import fairness, holds, kinds, matches, snapshot, workers
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus, TournamentStatus
from league.models import Audit, Match, Package, Party, Pool
from league.service import logs, version

log = logging.getLogger("league.matches")
SHORT_S = 1.0  # If a claim takes several matches, their expected seconds add up to at most this
LOOKED_AT = 100  # The most withheld matches that a claim reads if nothing else is ready
AUDITS_WAIT = timedelta(hours=1)  # An audit that has waited for this time may go before matches
MOST_YIELDS = 3  # The number of times that a validation or an audit yields to uploads
# The columns that a claim reads. Not the secret of a tournament: all its deals are derived from it, and the role of the workers may not read it
MATCH_COLUMNS = (
    *("public_id", "kind", "key", "table", "first_board", "boards_planned", "limits", "rated", "request"),
    *("status", "token", "worker", "lease_until", "attempts", "slow", "priority", "virtual_s"),
    *("pool__game", "pool__players", "pool__options", "pool__team", "pool__revision"),
    *("tournament__slug", "tournament__status", "tournament__sealed", "tournament__paused", "tournament__stopped"),
)
SEAT_COLUMNS = (
    *("match", "number", "broken_off", "version__number", "version__package"),
    *("version__bot__slug", "version__bot__state", "version__bot__paused_for", "version__bot__retests"),
    *("version__bot__held_until", "version__bot__stopped", "version__bot__owner_banned", "version__bot__is_house"),
)


def claim(
    worker: str,
    *,
    prefer: int | None = None,
    ahead: bool = False,
    uploads_only: bool = False,
    after_urgent: bool = False,
    now: datetime | None = None,
) -> Match | None:
    """Lease the match with the id `prefer` to `worker` if it is queued, else the next one. Return None if there is none.

    The arguments are those of `claim_several`.
    """
    matches = claim_several(
        worker, 1, prefer=prefer, ahead=ahead, uploads_only=uploads_only, after_urgent=after_urgent, now=now
    )
    return matches[0] if matches else None


def claim_several(
    worker: str,
    most: int | None = None,
    *,
    prefer: int | None = None,
    ahead: bool = False,
    uploads_only: bool = False,
    after_urgent: bool = False,
    overdue_audits: bool = False,
    remote: bool = False,
    now: datetime | None = None,
) -> list[Match]:
    """Lease the next matches to `worker`, in their order, read with their parties, bots, versions and packages.

    most: the most matches (by default `snapshot.BATCH`). Several are leased only if together they are expected to take no longer than `SHORT_S`,
    and the queue is long. For none of them an attempt is counted until its bots start (`count_attempt`, `start`): if the worker dies before that,
    the match was never tried.

    uploads_only: lease only an upload that waits for validation and is not known to be slow; for a worker whose slow match stands still.

    after_urgent: for a worker whose last claim was an upload or a try: a match of a tournament or a challenge goes before further ones, and before
    `prefer`. So every worker takes turns, and no number of uploads holds the tournaments still.

    overdue_audits: lease only an audit that has waited for AUDITS_WAIT, whatever is queued.

    remote: lease only a match of remote bots, which no other claim gets: a worker plays such matches beside all others.

    ahead: for a worker that is still playing. It gets a match only if more are queued than workers are idle, so that nobody else could play it now;
    and none that was tried before, because a match that killed a worker must not end another match.

    The next match is the first by priority, then by position (`fairness`), with these exceptions. A slow bot that plays in as many matches as half
    of the workers waits while there is other work, so that it delays nobody else; its opponents play on at other tables. Matches of a bot that is
    about to be tested again wait for the test (`holds`). Slow matches occupy at most half of the workers, if there are two or more, and other
    matches of equal priority go first.

    Matches of a pool whose rules this process does not have are left to workers of another release (`workers.explain` shows that), and matches whose
    bots need a runtime that this machine lacks to workers that have it.

    One statement chooses and leases (`queue.take`): PostgreSQL skips rows that others are claiming; on SQLite the transaction holds the one write
    lock. It reads the first rows of an index of playable matches only, so its time does not grow with the queue or with past matches.
    """
    now = clock.now_or(now)
    most = snapshot.BATCH if most is None else most
    plan = _Plan(
        worker=worker,
        most=most,
        prefer=prefer,
        ahead=ahead,
        uploads_only=uploads_only,
        after_urgent=after_urgent,
        overdue_audits=overdue_audits,
        remote=remote,
        now=now,
    )
    with suppress(_Changed), transaction.atomic():
        return _claim(plan)
    plan.exact = True
    while True:
        try:
            with transaction.atomic():
                return _claim(plan)
        except _Changed as changed:
            plan.strange.add(changed.pool)


@dataclass(kw_only=True)
class _Plan:
    """The request for a claim."""

    worker: str
    most: int
    prefer: int | None
    ahead: bool
    uploads_only: bool
    after_urgent: bool
    overdue_audits: bool
    remote: bool
    now: datetime
    # True if the statement itself checks bots, tournaments and rules. Planning such a statement takes longer than running it, and it is needed only
    # if the scheduler has not run since a pause, or if workers of two releases play
    exact: bool = False
    strange: set[int] = field(default_factory=set)  # Pools with options that only another release knows


class _Changed(Exception):
    """The signal that this worker must not play the chosen match; the transaction is rolled back, and nothing has changed."""

    def __init__(self, pool: int) -> None:
        super().__init__(pool)
        self.pool = pool


def _claim(plan: _Plan) -> list[Match]:
    if plan.overdue_audits or plan.remote:
        return _leased(_take(_beside_queue(plan), 1, plan), plan)
    load = snapshot.queue_snapshot(plan.worker, now=plan.now, counts=plan.ahead or plan.most > 1)
    if plan.ahead and not load.is_short_of_workers:
        return []
    waiting = _waiting(plan)
    if plan.uploads_only:
        waiting = waiting.filter(kind__in=kinds.UPLOADS, slow=False)
    elif plan.ahead:
        waiting = waiting.filter(attempts=0, slow=False)
    elif load.is_lane_full:
        waiting = waiting.filter(slow=False)
    if taken := _first(waiting, plan, load):
        return _leased(taken, plan)
    if plan.ahead or plan.uploads_only:
        return []
    return _leased(_take(_next_audit(plan.worker, plan.now), 1, plan), plan)


def _waiting(plan: _Plan) -> QuerySet[Match]:
    """Return the queued matches that this worker may play."""
    waiting = Match.line.filter(holds.due(plan.now), status=MatchStatus.QUEUED).exclude(pool__in=plan.strange)
    if plan.exact:
        waiting = holds.playable_matches(waiting.filter(pools.with_rules(pools.revisions(), "pool__")))
    return waiting.exclude(workers.left_to_others(plan.worker, _sits_with, Q(avoid=plan.worker), now=plan.now))


def _beside_queue(plan: _Plan) -> QuerySet[Match]:
    """Return the matches of remote bots, or the audits that have waited long."""
    if plan.overdue_audits:
        return _next_audit(plan.worker, plan.now).filter(created__lte=plan.now - AUDITS_WAIT)
    rows = Match.work.filter(holds.due(plan.now), kinds.REMOTE_ROWS, status=MatchStatus.QUEUED, held_back=False)
    rows = rows.filter(pools.with_rules(pools.revisions(), "pool__")).exclude(pool__in=plan.strange)
    return holds.playable_matches(rows.exclude(workers.left_to_others(plan.worker, _sits_with, now=plan.now)))


def _leased(taken: list[int], plan: _Plan) -> list[Match]:
    """Return the rows with these ids, in their order, with secrets and parties. Raise _Changed if one must not be played."""
    if not taken:
        return []
    leased = Match.work.filter(pk__in=taken).select_related("tournament", "pool").only(*MATCH_COLUMNS)
    rows: list[Any] = list(leased.annotate(secret_of_lease=_secret()).order_by(*fairness.ORDER))
    seats = Party.objects.select_related("version__bot").only(*SEAT_COLUMNS)
    if len(taken) == 1:
        seats = seats.select_related("version__package").only(*SEAT_COLUMNS, "version__package__data")
    else:  # A package is large, and several matches may use the same one
        seats = seats.prefetch_related(Prefetch("version__package", Package.objects.only("data")))
    played = [match for match in rows if not kinds.kind_of(match).is_idle]
    prefetch_related_objects(played, Prefetch("parties", seats.order_by("number")))
    for match in played:
        if not plan.exact and not holds.is_playable(match):
            raise _Changed(0)
        if not pools.is_known(match.pool):
            raise _Changed(match.pool_id)
    for match in rows:
        match.secret = bytes(match.secret_of_lease)
    return rows


def _take(rows: QuerySet[Match], count: int, plan: _Plan) -> list[int]:
    """Lease the first `count` rows, unless another worker does. Return their ids."""
    course: dict[str, Any] = {"progress": 0, "decided": None, "reason": "", "host": _label_of_row()}
    rows = rows.order_by(*fairness.ORDER)
    return queue.take(rows, count, plan.worker, now=plan.now, is_attempt=count == 1, **course)


def _first(waiting: QuerySet[Match], plan: _Plan, load: snapshot.QueueSnapshot) -> list[int]:
    """Lease the match `prefer`, else the first without a greedy bot, else the first; a slow one only if no other of its priority is queued.

    If none is ready, try the first few matches that the scheduler has withheld: the hold of one may have ended since.
    """
    ready = waiting.filter(held_back=False)
    fair = others = _without(ready, load.greedy)
    if load.slow_waits:
        quick = fair.filter(slow=False, priority__gte=OuterRef("priority"))
        others = fair.filter(Q(slow=False) | ~Exists(quick))
    most = min(plan.most, load.share) if load.is_flooded else 1

    def some(rows: QuerySet[Match]) -> tuple[QuerySet[Match], int]:
        return _as_many_as_are_short(rows, most) if most > 1 else (rows, 1)

    choices = [some(others.filter(priority__range=fairness.SHARING))] if plan.after_urgent else []
    choices += [(waiting.filter(pk=plan.prefer), 1)] if plan.prefer else []
    choices.append(some(others))
    choices += [(ready, 1)] if load.greedy else []
    for rows, count in choices:
        if taken := _take(rows, count, plan):
            return taken
    back = Match.line.filter(status=MatchStatus.QUEUED, held_back=True).order_by(*fairness.ORDER)
    looked_at = list(back.values_list("pk", flat=True)[:LOOKED_AT])
    if looked_at and not plan.exact:
        raise _Changed(0)
    return _take(waiting.filter(pk__in=looked_at), 1, plan) if looked_at else []


def _as_many_as_are_short(line: QuerySet[Match], most: int) -> tuple[QuerySet[Match], int]:
    """Return the matches of a queue that together take at most `SHORT_S`, and their number; one match if the first is long or is claimed alone."""
    head = line.order_by(*fairness.ORDER).only("expected_s", "slow", "attempts", "kind").first()
    if head is None or head.slow or head.attempts or kinds.kind_of(head).is_alone:
        return line, 1
    count = min(most, int(SHORT_S / max(fairness.LEAST_S, head.expected_s)))
    if count < 2:
        return line, 1
    alone = Q(slow=True) | Q(attempts__gt=0) | Q(kind__in=kinds.ALONE)
    return line.exclude(alone).filter(expected_s__lte=max(head.expected_s, SHORT_S / count)), count


def _without(matches: QuerySet[Match], bots: Sequence[int]) -> QuerySet[Match]:
    """Return the matches without any of these bots at the table."""
    return (
        matches.exclude(Exists(Party.objects.filter(version__bot__in=bots, match=OuterRef("pk")))) if bots else matches
    )


def _sits_with(names: Collection[str], versions: Q) -> Q:
    return Q(Exists(Party.objects.filter(versions, match=OuterRef("pk")).exclude(version__runtime__in=names)))


def _audits(names: Collection[str], versions: Q) -> Q:
    return Q(Exists(Audit.objects.filter(versions, work=OuterRef("pk")).exclude(version__runtime__in=names)))


def _label_of_row() -> JSONObject:
    """Return `label` as an SQL expression: a worker claims only matches whose rules it has."""
    revision = Pool.objects.filter(pk=OuterRef("pool")).values("revision")[:1]
    commit = version.commit()
    return JSONObject(**({"commit": Value(commit)} if commit else {}), revision=Subquery(revision))


def label(match: Match) -> dict[str, Any]:
    """Return the code that plays a match: its commit, if known, and the revision of its rules."""
    commit = version.commit()
    return {**({"commit": commit} if commit else {}), "revision": match.pool.revision}


def log_context(match: Match) -> AbstractContextManager[None]:
    """Return a context in which log lines name this attempt and the request that queued the match."""
    cup = match.tournament.slug if match.tournament else None
    return logs.about(match=match.public_id, attempt=max(1, match.attempts), tournament=cup, request=match.request)


def _secret() -> Func | F:
    """Return the secret of a match for the holder of its lease. On PostgreSQL a function returns it, because workers may not read the column."""
    if connection.vendor != "postgresql":
        return F("secret")
    return Func(F("pk"), F("token"), function="league_secret_of_lease", output_field=BinaryField())


def _next_audit(worker: str, now: datetime) -> QuerySet[Match]:
    """Return the queued audits, for a worker without other work. Matches that were played on its host are audited on other hosts."""
    waiting = holds.playable_audits(Match.work.filter(holds.due(now), status=MatchStatus.QUEUED, kind__in=kinds.IDLE))
    return waiting.exclude(workers.better_left_by(worker, _audits, now=now))


def must_yield(match: Match, *, now: datetime | None = None) -> bool:
    """Return True if a running slow match or audit should yield to an upload: one waits for validation and no worker is idle.

    As many yield as uploads are queued, first those that started last. A match that counts stands still (`stand_still`): it never restarts for an
    upload, or a bot could delay a board with bad cards until it is interrupted. A match with nothing at stake is given back (`yield_lease`), at
    most `MOST_YIELDS` times, so that it ends at some time. If a match stands still already, its worker is validating an upload.
    """
    now = clock.now_or(now)
    waiting = Match.objects.filter(status=MatchStatus.QUEUED, kind__in=kinds.UPLOADS, slow=False)
    needed = waiting.exclude(not_before__gt=now).count()
    if not needed:
        return False
    needed -= snapshot.count_idle(now=now)
    running = Match.work.filter(status=MatchStatus.RUNNING)
    aside = running.filter(kind__in=kinds.UPLOADS).values("worker")
    counting = ~Q(kind__in=kinds.UNCOUNTED) & ~Q(worker__in=aside)
    again = Q(kind__in=kinds.UNCOUNTED, gave_way__lt=MOST_YIELDS)
    slow = running.filter(Q(slow=True) | Q(kind__in=kinds.IDLE)).filter(counting | again)
    return match.pk in slow.order_by("-started", "-pk").values_list("pk", flat=True)[: max(0, needed)]


def count_attempt(match: Match) -> bool:
    """Count the attempt of a match that was leased with others, before its bots start in advance. Return False if the lease is lost."""
    if match.attempts:
        return True
    match.attempts = queue.leased(match).update(attempts=1)
    return bool(match.attempts)


def start(match: Match, *, now: datetime | None = None) -> None:
    """Begin an attempt: the worker of a leased match starts its bots.

    Raise IllegalMove if the lease is lost, or if since the claim the match was put on hold: then the worker must give it back.
    """
    now = clock.now_or(now)
    if _is_held_back(match):
        raise IllegalMove("{name} was paused before it began", name=transitions.subject(match))
    transitions.move(
        match,
        MatchStatus.RUNNING,
        now=now,
        actor=match.worker,
        guard={"token": match.token},
        attempts=max(1, match.attempts),
        started=now,
        lease_until=queue.deadline(now),
        ends_by=now + timedelta(seconds=kinds.time_limit_s(match)),
    )


def _is_held_back(match: Match) -> bool:
    """Return True if a leased match may no longer begin. A match that has begun is always finished. One query."""
    rows = Match.work.filter(pk=match.pk, token=match.token)
    if kinds.kind_of(match).is_idle:
        return rows.exclude(pk__in=holds.playable_audits(rows).values("pk")).exists()
    return holds.blocked_matches(rows).exists()


def finish(work: Match, *, now: datetime) -> None:
    """Finish an audit or try whose result is stored, in the transaction that has locked its row."""
    over: dict[str, Any] = {"finished": now, "lease_until": None, "progress": 100, "reason": ""}
    transitions.move(work, MatchStatus.FINISHED, now=now, actor=work.worker, guard={"token": work.token}, **over)


def release(match: Match, *, why: str, now: datetime | None = None) -> bool:
    """Put a match back into the queue because its worker stops; no attempt is counted. Return False if the lease is lost."""
    return _give_back(match, why, now)


def stand_still(match: Match, upload: Match, *, now: datetime | None = None) -> bool:
    """Extend the time of a slow match by the longest time that the validation of `upload` may take on its worker.

    Return False if the lease is lost.
    """
    now = clock.now_or(now)
    leased = queue.leased(match).filter(status=MatchStatus.RUNNING).exclude(ends_by__lte=now)
    ends_by = F("ends_by") + timedelta(seconds=kinds.time_limit_s(upload))
    return bool(leased.update(lease_until=queue.deadline(now), ends_by=ends_by, gave_way=F("gave_way") + 1))


def yield_lease(match: Match, *, now: datetime | None = None) -> bool:
    """Put a slow validation or an audit back into the queue because an upload waits; no attempt is counted. Return False if the lease is lost."""
    why = "its bots take long, so it gave way to uploads that wait"
    return _give_back(match, why, now, slow=True, gave_way=F("gave_way") + 1)


def _give_back(match: Match, why: str, now: datetime | None, **columns: Any) -> bool:
    row = queue.leased(match).first()
    uncounted: dict[str, Any] = {"attempts": queue.UNCOUNTED, "not_before": None, **columns}
    return row is not None and _requeue(row, now=clock.now_or(now), why=why, **uncounted)


def fail(match: Match, *, why: str, party: int | None = None, now: datetime | None = None) -> bool:
    """End an attempt after a fault of ours: the match is played again after a pause. Return False if the lease is lost.

    After too many attempts, and if the cards were seen, the worker only releases the match; then `expire` voids it, because a worker may not.

    party: the number of the bot that made the attempt break off. This is stored, and another worker makes the next attempt, if there is another.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = queue.leased(match).select_for_update().first()
        if row is None:
            return False
        avoid = row.avoid
        if party is not None and kinds.kind_of(row).has_seats:
            seat = row.parties.get(number=party)
            attempt = {"worker": row.worker, "attempt": row.attempts, "why": without_folders(why)}
            Party.objects.filter(pk=seat.pk).update(broken_off=[*seat.broken_off, attempt])
            avoid = row.worker
        if row.attempts < settings.MAX_ATTEMPTS:
            return _requeue(row, now=now, why=why, not_before=now + queue.pause(row), avoid=avoid)
        return _give_up(row, why, now)


def _give_up(row: Match, why: str, now: datetime) -> bool:
    """Release a match that must not be played again, so that `expire` voids it. Return False if the lease is lost."""
    over = {"lease_until": now - timedelta(seconds=1), "ends_by": now}  # No heartbeat extends the lease from now on
    with transaction.atomic():
        if not queue.leased(row).update(reason=without_folders(why), **over):
            return False
        journal.append("match.given_up", transitions.subject(row), now=now, actor=row.worker, why=why)
    return True


def _are_cards_seen(match: Match) -> bool:
    """Return True if people may have seen cards of an unfinished match: the author of a remote bot. Nobody may meet these cards again."""
    return match.kind == MatchKind.REMOTE and match.status == MatchStatus.RUNNING


def expire(*, now: datetime | None = None, most: int = 500) -> int:
    """Take back the matches whose leases have expired or been released. Return their number."""
    now = clock.now_or(now)
    taken = 0
    for match in queue.overdue(Match, now=now).select_related("tournament")[:most]:
        with log_context(match):
            taken += _take_back(match, now=now)
    return taken


def retry(match: Match, *, why: str, now: datetime | None = None) -> bool:
    """End the pause of a queued match after a failed attempt, or take a match back from its worker. Return False if there is nothing to do."""
    now = clock.now_or(now)
    if match.status in Match.HELD:
        return _requeue(match, now=now, why=why, attempts=queue.UNCOUNTED, not_before=None)
    rows = Match.work.filter(pk=match.pk, status=MatchStatus.QUEUED, not_before__gt=now)
    return bool(rows.update(not_before=None))


def _why_overdue(match: Match, now: datetime) -> str:
    if match.reason:  # Its worker noted the reason when it released the lease
        return match.reason
    if match.started is not None and match.ends_by is not None and match.ends_by <= now:
        return f"it was not over after {(match.ends_by - match.started).total_seconds():.0f} s on worker {match.worker}"
    return f"worker {match.worker} was lost"


def _take_back(match: Match, *, now: datetime) -> bool:
    why = _why_overdue(match, now)
    log.warning("match %s is overdue: %s", match.public_id, why)
    guard: dict[str, object] = {"token": match.token, "lease_until__lt": now}
    if match.attempts < settings.MAX_ATTEMPTS and not _are_cards_seen(match):
        pause = now + queue.pause(match) if match.attempts else None
        return _requeue(match, now=now, why=why, guard=guard, not_before=pause)
    why = f"void after {match.attempts} attempts; the last one failed: {why}"
    try:
        transitions.move(
            match,
            MatchStatus.VOID,
            now=now,
            actor=match.worker,
            why=why,
            guard=guard,
            reason=without_folders(why),
            finished=now,
            lease_until=None,
        )
    except IllegalMove:
        return False
    if match.tournament is not None and match.tournament.status == TournamentStatus.RUNNING:
        matches.retry_later(match, why=why, now=now)
    return True


def _requeue(match: Match, *, now: datetime, why: str, **columns: Any) -> bool:
    """Put a match back into the queue. Return False if its worker reported, or somebody else took it back, in the meantime."""
    if _are_cards_seen(match):
        return _give_up(match, why, now)
    course: dict[str, Any] = {"progress": 0, "decided": None}
    course["reason"] = f"attempt {max(1, match.attempts)}: {without_folders(why)}"
    try:
        queue.free(match, now=now, why=why, **course, **columns)
    except LeaseLost:
        return False
    return True
