"""Who plays which match, and for how long: claims with a deadline and a fencing token.

The token grows with every claim. Whatever a worker does with a match names the token it got; one that was overtaken is refused.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, Count, F, Q, QuerySet, Sum, When

from engine.runner import Limits, bounds
from league.domain.core import clock, journal, moves
from league.domain.core.errors import IllegalMove, without_folders
from league.domain.matches import holds, matches, turns, validation, workers
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus, TournamentStatus
from league.models import Match, Party
from league.service import logs, version

log = logging.getLogger("league.matches")
HELD = turns.HELD
AUDIT_S = 600.0  # more than an audit takes, which is bounded by itself (engine.runner.audit)
RECENT = 100  # parties of matches, the latest, that a pace is measured on
SLOW = 1.5  # times the pace of all
ROOM = 1.25  # times the most that the bots of a match may take: a busy machine keeps them waiting, ...
ROOM_S = 60  # ... and the referee takes its own time
GIVES_WAY = 3  # times that a validation or an audit gives way to uploads
NOTHING_AT_STAKE = (
    MatchKind.VALIDATION,
    MatchKind.CHALLENGE,
    MatchKind.AUDIT,
)  # these may begin anew: no board of theirs counts
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

    `uploads_only`: for a slow match that stands aside: an upload that waits to be validated and is not known to be slow itself.

    `ahead`: for when the worker has played its present match. It gets one only if more wait than workers are idle, so that nobody else could
    play it now, and none that was tried before: what killed a worker once shall not take another match with it.

    The next in line: by priority, then by its place (`turns`); but a slow bot that plays in as many matches as half of the workers waits while
    there is other work, so that it delays nobody else; whoever sits with it goes on elsewhere. Matches of a bot that is about to be tested again
    wait for that (`holds`). Slow matches are in a lane of their own: they hold at most half of the workers, where there are two or more, and of equal
    priority the others go first.

    A match of a pool by whose rules this process does not play is left to workers of the release that does (`workers.explain` says so).

    1. Row locks (PostgreSQL skips rows that others are claiming; on SQLite the transaction holds the one write lock).
    2. `move` to leased with token + 1, which updates only a row that is still queued.
    """
    now = clock.given(now)
    with transaction.atomic():
        waiting = holds.playable_matches(Match.objects.filter(status=MatchStatus.QUEUED))
        waiting = waiting.filter(
            Q(not_before=None) | Q(not_before__lte=now), pools.by_rules(pools.revisions(), "pool__")
        )
        others = workers.is_another_able(worker, now=now)
        if others:
            waiting = waiting.exclude(avoid=worker)
        if uploads_only:
            waiting = waiting.filter(kind=MatchKind.VALIDATION, slow=False)
        elif ahead:
            idle = _idle(now)
            if len(waiting.values_list("pk")[: idle + 1]) <= idle:
                return None
            waiting = waiting.filter(attempts=0, slow=False)
        elif _is_lane_full(worker, now):
            waiting = waiting.filter(slow=False)
        # Of the tournament all but its secret, from which the deals of all its matches follow: no worker may read that
        waiting = waiting.select_related("tournament", "pool").defer("tournament__secret")
        waiting = waiting.order_by(*turns.ORDER).select_for_update(skip_locked=True, of=("self",))
        greedy = _greedy_bots(worker, now)
        match = _first(waiting, prefer, greedy)
        while match is not None and not pools.is_known(match.pool):
            waiting = waiting.exclude(pool=match.pool_id)
            match = _first(waiting, prefer, greedy)
        if match is None and not (ahead or uploads_only):
            match = _next_audit(now, without=worker if others else None)
        if match is None:
            return None
        moves.move(
            match,
            MatchStatus.LEASED,
            now=now,
            actor=worker,
            token=match.token + 1,
            worker=worker,
            lease_until=_deadline(now),
            attempts=match.attempts + 1,
            progress=0,
            reason="",
            host=label(match),
        )
        match.secret = _secret_of(match)
    return match


def label(match: Match) -> dict[str, Any]:
    """Which code plays a match: its commit where that is known, and the revision of its rules."""
    commit = version.commit()
    return {**({"commit": commit} if commit else {}), "revision": pools.revisions().get(match.pool.game)}


def about(match: Match) -> AbstractContextManager[None]:
    """Lines of the log within are about this attempt, and asked for by who queued the match."""
    cup = match.tournament.slug if match.tournament else None
    return logs.about(match=match.public_id, attempt=match.attempts, tournament=cup, request=match.request)


def _first(waiting: QuerySet[Match], prefer: int | None, greedy: list[int]) -> Match | None:
    """The match with the id `prefer`, else the first without a greedy bot, else the first; a slow one only where of equal priority no other waits."""
    fair = waiting.exclude(pk__in=_matches_of(greedy)) if greedy else waiting
    match = (
        (waiting.filter(pk=prefer).first() if prefer else None) or fair.first() or (waiting.first() if greedy else None)
    )
    if match is not None and match.slow:
        match = fair.filter(slow=False, priority__gte=match.priority).first() or match
    return match


def _secret_of(match: Match) -> bytes:
    """The secret of a match that is held by the lease of `match`. On PostgreSQL a function tells it, for workers may not read the column."""
    if connection.vendor != "postgresql":
        return bytes(Match.work.values_list("secret", flat=True).get(pk=match.pk, token=match.token, status__in=HELD))
    with connection.cursor() as cursor:
        cursor.execute("SELECT league_secret_of_lease(%s, %s)", [match.pk, match.token])
        return bytes(cursor.fetchone()[0])


def _next_audit(now: datetime, *, without: str | None) -> Match | None:
    """The oldest audit that waits: work for who has no other, and never taken ahead. `without`: those that this worker is to leave to others."""
    waiting = holds.playable_audits(Match.work.filter(status=MatchStatus.QUEUED, kind=MatchKind.AUDIT))
    if without:
        waiting = waiting.exclude(avoid=without)
    waiting = waiting.filter(Q(not_before=None) | Q(not_before__lte=now)).select_related("pool").order_by("id")
    return waiting.select_for_update(skip_locked=True, of=("self",)).first()


def _is_lane_full(worker: str, now: datetime) -> bool:
    """Whether slow matches are held by half of the workers, where there is more than one. Two queries at most."""
    crew = workers.count_able(now=now)
    held = Match.objects.filter(status__in=HELD, lease_until__gte=now, slow=True).exclude(worker=worker)
    return crew > 1 and held.count() >= crew // 2


def must_give_way(match: Match, *, now: datetime | None = None) -> bool:
    """Whether a running match in the lane of slow bots, or an audit, is to let an upload pass: one waits to be validated and no worker is idle.

    As many do as uploads wait, those first that began last. A match that counts stands aside (`stand_aside`): it begins anew for no upload,
    or a bot could be slow until its bad cards are dealt once more. Where nothing is at stake it is given back (`give_way`), at most
    `GIVES_WAY` times, so that it is over one day. A match that stands aside already has a validation beside it on its worker.
    """
    now = clock.given(now)
    waiting = Match.objects.filter(status=MatchStatus.QUEUED, kind=MatchKind.VALIDATION, slow=False)
    wanted = waiting.exclude(not_before__gt=now).count()
    if not wanted:
        return False
    wanted -= _idle(now)
    running = Match.work.filter(status=MatchStatus.RUNNING)
    aside = running.filter(kind=MatchKind.VALIDATION).values("worker")
    counting = ~Q(kind__in=NOTHING_AT_STAKE) & ~Q(worker__in=aside)
    again = Q(kind__in=NOTHING_AT_STAKE, gave_way__lt=GIVES_WAY)
    slow = running.filter(Q(slow=True) | Q(kind=MatchKind.AUDIT)).filter(counting | again)
    return match.pk in slow.order_by("-started", "-pk").values_list("pk", flat=True)[: max(0, wanted)]


def _idle(now: datetime) -> int:
    """How many workers that may play hold no match. Two queries."""
    held = Match.work.filter(status__in=HELD, lease_until__gte=now)
    return max(0, workers.count_able(now=now) - held.values("worker").distinct().count())


def _greedy_bots(worker: str, now: datetime) -> list[int]:
    """Ids of the bots that play in as many matches of others as half of the workers, where there is more than one, and may be slow.

    Not slow is who takes about as long for a decision as all bots of late: whoever sits at the table of a slow one. Three queries,
    and one for each bot that plays so much.
    """
    crew = workers.count_able(now=now)
    if crew < 2:
        return []
    held = Party.objects.filter(match__status__in=HELD, match__lease_until__gte=now).exclude(match__worker=worker)
    busy = (
        held.values("version__bot_id")
        .annotate(matches=Count("match", distinct=True))
        .filter(matches__gte=(crew + 1) // 2)
    )
    bots = list(busy.values_list("version__bot_id", flat=True))
    if not bots:
        return []
    usual = _pace(Party.objects.all()) or 0.0
    paces = {bot: _pace(Party.objects.filter(version__bot=bot)) for bot in bots}
    return [bot for bot, pace in paces.items() if pace is None or pace > SLOW * usual]


def _pace(parties: QuerySet[Party]) -> float | None:
    """Seconds a decision at the last tables of these; None where nothing was measured."""
    recent = parties.filter(decisions__gt=0).order_by("-match_id")[:RECENT]
    spent = recent.aggregate(wall=Sum("wall_s"), decisions=Sum("decisions"))
    return spent["wall"] / spent["decisions"] if spent["decisions"] else None


def _matches_of(bots: list[int]) -> QuerySet[Party, Any]:
    return Party.objects.filter(version__bot__in=bots, match__status=MatchStatus.QUEUED).values("match_id")


def start(match: Match, *, now: datetime | None = None) -> None:
    """The worker of a leased match starts its bots."""
    now = clock.given(now)
    moves.move(
        match,
        MatchStatus.RUNNING,
        now=now,
        actor=match.worker,
        guard={"token": match.token},
        started=now,
        lease_until=_deadline(now),
        ends_by=now + timedelta(seconds=most_s(match)),
    )


def heartbeat(match_id: int, token: int, *, progress: int = 0, slow: bool = False, now: datetime | None = None) -> bool:
    """Prolong a lease, at most until the attempt has to be over, and note the progress in percent, and whether its bots are slow.

    False: the match is no longer the caller's, or lasts too long; it should stop playing it.
    """
    now = clock.given(now)
    until = _deadline(now)
    held = Match.work.filter(pk=match_id, token=token, status__in=HELD).exclude(ends_by__lte=now)
    return bool(
        held.update(
            lease_until=Case(When(ends_by__lt=until, then=F("ends_by")), default=until), progress=progress, slow=slow
        )
    )


def release(match_id: int, token: int, *, why: str, now: datetime | None = None) -> bool:
    """Give a match back unplayed, because the worker is told to stop: no attempt is counted. False if it is not the caller's."""
    now = clock.given(now)
    match = Match.work.filter(pk=match_id, token=token, status__in=HELD).first()
    if match is None:
        return False
    return _requeue(match, now=now, why=why, attempts=F("attempts") - 1, not_before=None)


def stand_aside(match_id: int, token: int, upload: Match, *, now: datetime | None = None) -> bool:
    """A slow match stands still while its worker validates an upload: it has to be over later by as much as that may take.

    False: it is not the caller's, or lasts too long already.
    """
    now = clock.given(now)
    held = Match.work.filter(pk=match_id, token=token, status=MatchStatus.RUNNING).exclude(ends_by__lte=now)
    longer = timedelta(seconds=most_s(upload))
    return bool(held.update(lease_until=_deadline(now), ends_by=F("ends_by") + longer, gave_way=F("gave_way") + 1))


def give_way(match_id: int, token: int, *, now: datetime | None = None) -> bool:
    """Give a slow validation or an audit back, because an upload waits: no attempt is counted. False if it is not the caller's."""
    now = clock.given(now)
    match = Match.work.filter(pk=match_id, token=token, status__in=HELD).first()
    if match is None:
        return False
    why = "its bots take long, so it gave way to uploads that wait"
    times = F("gave_way") + 1
    return _requeue(match, now=now, why=why, attempts=F("attempts") - 1, not_before=None, slow=True, gave_way=times)


def fail(match_id: int, token: int, *, why: str, party: int | None = None, now: datetime | None = None) -> bool:
    """A fault of ours ended the attempt: the match waits a little and is played again.

    After too many attempts the worker only lets go of it: `expire` strikes it out, which is no business of a worker.

    party: at whose bot it broke off. That is noted, and the next attempt is another worker's, if there is one.
    """
    now = clock.given(now)
    with transaction.atomic():
        match = Match.work.select_for_update().filter(pk=match_id, token=token, status__in=HELD).first()
        if match is None:
            return False
        avoid = match.avoid
        if party is not None:
            seat = match.parties.get(number=party)
            seen = {"worker": match.worker, "attempt": match.attempts, "why": without_folders(why)}
            Party.objects.filter(pk=seat.pk).update(broken_off=[*seat.broken_off, seen])
            avoid = match.worker
        if match.attempts < settings.MAX_ATTEMPTS:
            return _requeue(match, now=now, why=why, not_before=now + _pause(match), avoid=avoid)
        journal.append("match.given_up", moves.subject(match), now=now, actor=match.worker, why=why)
        over = {"lease_until": now - timedelta(seconds=1), "ends_by": now}  # no heartbeat prolongs it from now on
        Match.work.filter(pk=match.pk).update(reason=without_folders(why), **over)
    return True


def expire(*, now: datetime | None = None, most: int = 500) -> int:
    """Take back the matches whose worker has been silent past its lease, or has let go of them; their number."""
    now = clock.given(now)
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
        return _requeue(match, now=now, why=why, guard=guard, not_before=now + _pause(match))
    why = f"void after {match.attempts} attempts; the last one failed: {why}"
    try:
        moves.move(
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
        moves.move(
            match,
            MatchStatus.QUEUED,
            now=now,
            actor=match.worker,
            why=why,
            guard=guard,
            reason=f"attempt {match.attempts}: {without_folders(why)}",
            worker="",
            lease_until=None,
            ends_by=None,
            progress=0,
            **columns,
        )
    except IllegalMove:
        return False  # the worker reported, or somebody else took it back, in the meantime
    return True
