"""Who plays which match, and for how long: claims with a deadline and a fencing token.

The token grows with every claim. Whatever a worker does with a match names the token it got; one that was overtaken is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import (
    BinaryField,
    Case,
    Exists,
    F,
    Func,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    prefetch_related_objects,
)
from django.db.models.functions import JSONObject

from engine.runner import Limits, bounds
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.matches import holds, matches, outlook, turns, validation, workers
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus, TournamentStatus
from league.models import Match, Package, Party, Pool
from league.service import logs, version

log = logging.getLogger("league.matches")
HELD = turns.HELD
AUDIT_S = 600.0  # more than an audit takes, which is bounded by itself (engine.runner.audit)
SHORT_S = 1.0  # expected seconds of all matches of one claim, where it takes several
LOOKED_AT = 100  # matches that were held back, of those a claim looks at where nothing else is ready
ROOM = 1.25  # times the most that the bots of a match may take: a busy machine keeps them waiting, ...
ROOM_S = 60  # ... and the referee takes its own time
GIVES_WAY = 3  # times that a validation or an audit gives way to uploads
NOTHING_AT_STAKE = (
    MatchKind.VALIDATION,
    MatchKind.CHALLENGE,
    MatchKind.AUDIT,
)  # these may begin anew: no board of theirs counts
ALONE = (MatchKind.VALIDATION, MatchKind.TRY)  # somebody waits for each, so none stands in line on a worker
UNCOUNTED = Case(When(attempts__gt=0, then=F("attempts") - 1), default=0)
# The columns that a claim reads. The secret of a tournament is not among them: the deals of all its matches follow from it, and the role of the
# workers may not read it
MATCH_COLUMNS = (
    *("public_id", "kind", "key", "table", "first_board", "boards_planned", "limits", "request"),
    *("status", "token", "worker", "lease_until", "attempts", "slow", "priority", "virtual_s"),
    *("pool__game", "pool__players", "pool__options", "pool__team", "pool__revision"),
    *("tournament__slug", "tournament__status", "tournament__sealed", "tournament__paused", "tournament__stopped"),
)
SEAT_COLUMNS = (
    *("match", "number", "broken_off", "version__number", "version__package"),
    *("version__bot__slug", "version__bot__state", "version__bot__paused_for", "version__bot__retests"),
    *("version__bot__held_until", "version__bot__stopped", "version__bot__owner_banned"),
)
BACKOFF_S = 2  # before the second try; doubles with each further one


def _deadline(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_S)


def most_s(match: Match) -> float:
    """Wall-clock seconds after which an attempt is taken from its worker: more than its bots may take, by its limits, game and boards."""
    if match.kind == MatchKind.AUDIT:
        return AUDIT_S
    if validation.is_validation(match):
        bots_s = validation.most_s(match)
    else:
        game, limits = pools.game_of(match.pool), Limits(**match.limits)
        bots_s = bounds.match_s(limits, game, pools.parties(match.pool), match.boards_planned)
    return ROOM * bots_s + ROOM_S


def claim(
    worker: str,
    *,
    prefer: int | None = None,
    ahead: bool = False,
    uploads_only: bool = False,
    now: datetime | None = None,
) -> Match | None:
    """Lease a queued match to `worker`: the one with the id `prefer` if it still waits, else the next in line; None if there is none.

    The arguments are those of `claim_several`.
    """
    found = claim_several(worker, 1, prefer=prefer, ahead=ahead, uploads_only=uploads_only, now=now)
    return found[0] if found else None


def claim_several(
    worker: str,
    most: int | None = None,
    *,
    prefer: int | None = None,
    ahead: bool = False,
    uploads_only: bool = False,
    now: datetime | None = None,
) -> list[Match]:
    """Lease the next matches in line to `worker`, in their order.

    One, and where it is short and the queue is long, up to `most` (`outlook.BATCH`), which take `SHORT_S` together, by what is expected of them.
    Of several none counts as an attempt until its bots begin (`count_attempt`, `start`): those that a worker dies with in its line were never tried.

    Their parties are read with them, with bots, versions and packages.

    `uploads_only`: for a slow match that stands aside: an upload that waits to be validated and is not known to be slow itself.

    `ahead`: for when the worker has played its present match. It gets one only if more wait than workers are idle, so that nobody else could
    play it now, and none that was tried before: what killed a worker once shall not take another match with it.

    The next in line: by priority, then by its place (`turns`); but a slow bot that plays in as many matches as half of the workers waits while
    there is other work, so that it delays nobody else; whoever sits with it goes on elsewhere. Matches of a bot that is about to be tested again
    wait for that (`holds`). Slow matches are in a lane of their own: they hold at most half of the workers, where there are two or more, and of equal
    priority the others go first.

    A match of a pool by whose rules this process does not play is left to workers of the release that does (`workers.explain` says so).

    One statement chooses and leases (`transitions.take`): PostgreSQL skips rows that others are claiming; on SQLite the transaction holds the one
    write lock. It reads the first rows of an index that holds only what may be played, so it takes no longer where much waits or was played.
    """
    now = clock.now_or(now)
    most = outlook.BATCH if most is None else most
    plan = _Plan(worker=worker, most=most, prefer=prefer, ahead=ahead, uploads_only=uploads_only, now=now)
    with suppress(_Changed), transaction.atomic():
        return _claim(plan)
    plan.exact = True
    while True:
        try:
            with transaction.atomic():
                return _claim(plan)
        except _Changed as found:
            plan.strange.add(found.pool)


@dataclass(kw_only=True)
class _Plan:
    """What is asked of a claim."""

    worker: str
    most: int
    prefer: int | None
    ahead: bool
    uploads_only: bool
    now: datetime
    # Whether the statement itself looks at bots, tournaments and rules. That is planned for longer than it runs, and needed only where the
    # scheduler has not looked since a pause, or where workers of two releases play
    exact: bool = False
    strange: set[int] = field(default_factory=set)  # pools with options that only another release knows


class _Changed(Exception):
    """What was chosen is not to be played by this worker; the transaction takes it back, and nothing has happened."""

    def __init__(self, pool: int) -> None:
        super().__init__(pool)
        self.pool = pool


def _claim(plan: _Plan) -> list[Match]:
    seen = outlook.of(plan.worker, now=plan.now, counts=plan.ahead or plan.most > 1)
    if plan.ahead and not seen.is_short_of_workers:
        return []
    waiting = Match.line.filter(holds.due(plan.now), status=MatchStatus.QUEUED).exclude(pool__in=plan.strange)
    if plan.exact:
        waiting = holds.playable_matches(waiting.filter(pools.with_rules(pools.revisions(), "pool__")))
    if seen.crew > 1 or workers.is_another_able(plan.worker, now=plan.now):
        waiting = waiting.exclude(avoid=plan.worker)
    if plan.uploads_only:
        waiting = waiting.filter(kind=MatchKind.VALIDATION, slow=False)
    elif plan.ahead:
        waiting = waiting.filter(attempts=0, slow=False)
    elif seen.is_lane_full:
        waiting = waiting.filter(slow=False)
    if taken := _first(waiting, plan, seen):
        return _leased(taken, plan)
    if plan.ahead or plan.uploads_only:
        return []
    return _leased(_take(_next_audit(plan.worker, plan.now), 1, plan), plan)


def _leased(taken: list[int], plan: _Plan) -> list[Match]:
    """The rows with these ids, in their order, with secrets and parties. Raises _Changed for what may not be played."""
    if not taken:
        return []
    leased = Match.work.filter(pk__in=taken).select_related("tournament", "pool").only(*MATCH_COLUMNS)
    rows: list[Any] = list(leased.annotate(secret_of_lease=_secret()).order_by(*turns.ORDER))
    seats = Party.objects.select_related("version__bot").only(*SEAT_COLUMNS)
    if len(taken) == 1:
        seats = seats.select_related("version__package").only(*SEAT_COLUMNS, "version__package__data")
    else:  # a package is large, and several matches may share one
        seats = seats.prefetch_related(Prefetch("version__package", Package.objects.only("data")))
    played = [match for match in rows if match.kind != MatchKind.AUDIT]
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
    """Lease the first `count` rows, unless somebody else does; their ids."""
    rows = rows.order_by(*turns.ORDER).select_for_update(skip_locked=True, of=("self",))[:count]
    return transitions.take(
        rows,
        MatchStatus.QUEUED,
        MatchStatus.LEASED,
        now=plan.now,
        actor=plan.worker,
        token=F("token") + 1,
        worker=plan.worker,
        lease_until=_deadline(plan.now),
        attempts=F("attempts") + int(count == 1),
        progress=0,
        decided=None,
        reason="",
        host=_label_of_row(),
    )


def _first(waiting: QuerySet[Match], plan: _Plan, seen: outlook.Seen) -> list[int]:
    """The match with the id `prefer`, else the first without a greedy bot, else the first; a slow one only where of equal priority no other waits.

    Where nothing is ready, of those that the scheduler has seen held back the first few are looked at: one may have been let go since.
    """
    ready = waiting.filter(held_back=False)
    fair = others = _without(ready, seen.greedy)
    if seen.slow_waits:
        quick = fair.filter(slow=False, priority__gte=OuterRef("priority"))
        others = fair.filter(Q(slow=False) | ~Exists(quick))
    wanted = [(waiting.filter(pk=plan.prefer), 1)] if plan.prefer else []
    most = min(plan.most, seen.share) if seen.is_flooded else 1
    wanted.append(_as_many_as_are_short(others, most) if most > 1 else (others, 1))
    wanted += [(ready, 1)] if seen.greedy else []
    for rows, count in wanted:
        if taken := _take(rows, count, plan):
            return taken
    back = Match.line.filter(status=MatchStatus.QUEUED, held_back=True).order_by(*turns.ORDER)
    looked_at = list(back.values_list("pk", flat=True)[:LOOKED_AT])
    if looked_at and not plan.exact:
        raise _Changed(0)
    return _take(waiting.filter(pk__in=looked_at), 1, plan) if looked_at else []


def _as_many_as_are_short(line: QuerySet[Match], most: int) -> tuple[QuerySet[Match], int]:
    """Of a line as many as can be played within `SHORT_S`, and how many these are; one where its first match is long, or is to be alone."""
    head = line.order_by(*turns.ORDER).only("expected_s", "slow", "attempts", "kind").first()
    if head is None or head.slow or head.attempts or head.kind in ALONE:
        return line, 1
    count = min(most, int(SHORT_S / max(turns.LEAST_S, head.expected_s)))
    if count < 2:
        return line, 1
    alone = Q(slow=True) | Q(attempts__gt=0) | Q(kind__in=ALONE)
    return line.exclude(alone).filter(expected_s__lte=max(head.expected_s, SHORT_S / count)), count


def _without(matches: QuerySet[Match], bots: Sequence[int]) -> QuerySet[Match]:
    """Those of `matches` at whose table none of these bots sits."""
    return (
        matches.exclude(Exists(Party.objects.filter(version__bot__in=bots, match=OuterRef("pk")))) if bots else matches
    )


def _label_of_row() -> JSONObject:
    """`label`, as the database writes it: a match is only claimed by who plays by the revision of its pool."""
    revision = Pool.objects.filter(pk=OuterRef("pool")).values("revision")[:1]
    commit = version.commit()
    return JSONObject(**({"commit": Value(commit)} if commit else {}), revision=Subquery(revision))


def label(match: Match) -> dict[str, Any]:
    """Which code plays a match: its commit where that is known, and the revision of its rules."""
    commit = version.commit()
    return {**({"commit": commit} if commit else {}), "revision": pools.revisions().get(match.pool.game)}


def about(match: Match) -> AbstractContextManager[None]:
    """Lines of the log within are about this attempt, and asked for by who queued the match."""
    cup = match.tournament.slug if match.tournament else None
    return logs.about(match=match.public_id, attempt=max(1, match.attempts), tournament=cup, request=match.request)


def _secret() -> Func | F:
    """The secret of a match for who holds its lease. On PostgreSQL a function tells it, for workers may not read the column."""
    if connection.vendor != "postgresql":
        return F("secret")
    return Func(F("pk"), F("token"), function="league_secret_of_lease", output_field=BinaryField())


def _next_audit(worker: str, now: datetime) -> QuerySet[Match]:
    """The audits that wait: work for who has no other, and never taken ahead. What was played by it or beside it, others look at."""
    waiting = holds.playable_audits(Match.work.filter(holds.due(now), status=MatchStatus.QUEUED, kind=MatchKind.AUDIT))
    return waiting.exclude(workers.better_left_by(worker, now=now))


def must_give_way(match: Match, *, now: datetime | None = None) -> bool:
    """Whether a running match in the lane of slow bots, or an audit, is to let an upload pass: one waits to be validated and no worker is idle.

    As many do as uploads wait, those first that began last. A match that counts stands aside (`stand_aside`): it begins anew for no upload,
    or a bot could be slow until its bad cards are dealt once more. Where nothing is at stake it is given back (`give_way`), at most
    `GIVES_WAY` times, so that it is over one day. A match that stands aside already has a validation beside it on its worker.
    """
    now = clock.now_or(now)
    waiting = Match.objects.filter(status=MatchStatus.QUEUED, kind=MatchKind.VALIDATION, slow=False)
    wanted = waiting.exclude(not_before__gt=now).count()
    if not wanted:
        return False
    wanted -= outlook.count_idle(now=now)
    running = Match.work.filter(status=MatchStatus.RUNNING)
    aside = running.filter(kind=MatchKind.VALIDATION).values("worker")
    counting = ~Q(kind__in=NOTHING_AT_STAKE) & ~Q(worker__in=aside)
    again = Q(kind__in=NOTHING_AT_STAKE, gave_way__lt=GIVES_WAY)
    slow = running.filter(Q(slow=True) | Q(kind=MatchKind.AUDIT)).filter(counting | again)
    return match.pk in slow.order_by("-started", "-pk").values_list("pk", flat=True)[: max(0, wanted)]


def count_attempt(match: Match) -> bool:
    """Bots of a match that was leased with others are about to be started ahead; False where it is no longer the caller's. None or one query."""
    if match.attempts:
        return True
    match.attempts = Match.work.filter(pk=match.pk, token=match.token, status__in=HELD).update(attempts=1)
    return bool(match.attempts)


def start(match: Match, *, now: datetime | None = None) -> None:
    """The worker of a leased match starts its bots; from now on it is an attempt, whatever it was leased with.

    Raises IllegalMove where it is no longer its own, or was paused, held back or banned since the claim: then it is to be given back.
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
        lease_until=_deadline(now),
        ends_by=now + timedelta(seconds=most_s(match)),
    )


def _is_held_back(match: Match) -> bool:
    """Whether nobody wants it to begin any more. What has begun is played to its end. One query."""
    rows = Match.work.filter(pk=match.pk, token=match.token)
    if match.kind == MatchKind.AUDIT:
        return rows.exclude(pk__in=holds.playable_audits(rows).values("pk")).exists()
    return holds.blocked_matches(rows).exists()


def heartbeat(
    match_id: int,
    token: int,
    *,
    progress: int = 0,
    decided: Sequence[Sequence[Any]] | None = None,
    slow: bool = False,
    now: datetime | None = None,
) -> bool:
    """Prolong a lease, at most until the attempt has to be over, and note the progress in percent, and whether its bots are slow.

    decided: the boards that are over in all their sittings, each as its number and the scores by party; no card of them.

    False: the match is no longer the caller's, or lasts too long; it should stop playing it.
    """
    now = clock.now_or(now)
    until = _deadline(now)
    held = Match.work.filter(pk=match_id, token=token, status__in=HELD).exclude(ends_by__lte=now)
    return bool(
        held.update(
            lease_until=Case(When(ends_by__lt=until, then=F("ends_by")), default=until),
            progress=progress,
            decided=decided,
            slow=slow,
        )
    )


def finish(work: Match, *, now: datetime) -> None:
    """What is no match, an audit or a try, is over and its result stored. In the transaction that has locked its row, by its lease."""
    over: dict[str, Any] = {"finished": now, "lease_until": None, "progress": 100, "reason": ""}
    transitions.move(work, MatchStatus.FINISHED, now=now, actor=work.worker, guard={"token": work.token}, **over)


def release(match_id: int, token: int, *, why: str, now: datetime | None = None) -> bool:
    """Give a match back unplayed, because the worker is told to stop: no attempt is counted. False if it is not the caller's."""
    now = clock.now_or(now)
    match = Match.work.filter(pk=match_id, token=token, status__in=HELD).first()
    if match is None:
        return False
    return _requeue(match, now=now, why=why, attempts=UNCOUNTED, not_before=None)


def stand_aside(match_id: int, token: int, upload: Match, *, now: datetime | None = None) -> bool:
    """A slow match stands still while its worker validates an upload: it has to be over later by as much as that may take.

    False: it is not the caller's, or lasts too long already.
    """
    now = clock.now_or(now)
    held = Match.work.filter(pk=match_id, token=token, status=MatchStatus.RUNNING).exclude(ends_by__lte=now)
    longer = timedelta(seconds=most_s(upload))
    return bool(held.update(lease_until=_deadline(now), ends_by=F("ends_by") + longer, gave_way=F("gave_way") + 1))


def give_way(match_id: int, token: int, *, now: datetime | None = None) -> bool:
    """Give a slow validation or an audit back, because an upload waits: no attempt is counted. False if it is not the caller's."""
    now = clock.now_or(now)
    match = Match.work.filter(pk=match_id, token=token, status__in=HELD).first()
    if match is None:
        return False
    why = "its bots take long, so it gave way to uploads that wait"
    times = F("gave_way") + 1
    return _requeue(match, now=now, why=why, attempts=UNCOUNTED, not_before=None, slow=True, gave_way=times)


def fail(match_id: int, token: int, *, why: str, party: int | None = None, now: datetime | None = None) -> bool:
    """A fault of ours ended the attempt: the match waits a little and is played again.

    After too many attempts the worker only lets go of it: `expire` strikes it out, which is no business of a worker.

    party: at whose bot it broke off. That is noted, and the next attempt is another worker's, if there is one.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        match = Match.work.select_for_update().filter(pk=match_id, token=token, status__in=HELD).first()
        if match is None:
            return False
        avoid = match.avoid
        if party is not None and match.kind != MatchKind.TRY:  # that has no seats
            seat = match.parties.get(number=party)
            seen = {"worker": match.worker, "attempt": match.attempts, "why": without_folders(why)}
            Party.objects.filter(pk=seat.pk).update(broken_off=[*seat.broken_off, seen])
            avoid = match.worker
        if match.attempts < settings.MAX_ATTEMPTS:
            return _requeue(match, now=now, why=why, not_before=now + _pause(match), avoid=avoid)
        journal.append("match.given_up", transitions.subject(match), now=now, actor=match.worker, why=why)
        over = {"lease_until": now - timedelta(seconds=1), "ends_by": now}  # no heartbeat prolongs it from now on
        Match.work.filter(pk=match.pk).update(reason=without_folders(why), **over)
    return True


def expire(*, now: datetime | None = None, most: int = 500) -> int:
    """Take back the matches whose worker has been silent past its lease, or has let go of them; their number."""
    now = clock.now_or(now)
    overdue = Match.work.filter(status__in=HELD, lease_until__lt=now).order_by("id")[:most]
    taken = 0
    for match in overdue.select_related("tournament"):
        with about(match):
            taken += _take_back(match, now=now)
    return taken


def _why_overdue(match: Match, now: datetime) -> str:
    if match.reason:  # the worker said so when it let go
        return match.reason
    if match.started is not None and match.ends_by is not None and match.ends_by <= now:
        return f"it was not over after {(match.ends_by - match.started).total_seconds():.0f} s on worker {match.worker}"
    return f"worker {match.worker} was lost"


def _pause(match: Match) -> timedelta:
    return timedelta(seconds=BACKOFF_S * 2 ** (match.attempts - 1))


def _take_back(match: Match, *, now: datetime) -> bool:
    why = _why_overdue(match, now)
    log.warning("match %s is overdue: %s", match.public_id, why)
    guard: dict[str, object] = {"token": match.token, "lease_until__lt": now}
    if match.attempts < settings.MAX_ATTEMPTS:
        pause = now + _pause(match) if match.attempts else None
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


def _requeue(
    match: Match, *, now: datetime, why: str, guard: dict[str, object] | None = None, **columns: object
) -> bool:
    guard = {"token": match.token, **(guard or {})}
    try:
        transitions.move(
            match,
            MatchStatus.QUEUED,
            now=now,
            actor=match.worker,
            why=why,
            guard=guard,
            reason=f"attempt {max(1, match.attempts)}: {without_folders(why)}",
            worker="",
            lease_until=None,
            ends_by=None,
            progress=0,
            decided=None,
            **columns,
        )
    except IllegalMove:
        return False  # the worker reported, or somebody else took it back, in the meantime
    return True
