"""Quotas: how much of the league a player may use. The settings have the defaults; an operator may set another limit for a player.

Each limit counts the current use with one query. Call `ask` in the transaction that adds to the use: it locks the player, so the second of two
requests sees what the first one added. The owner of the house bots has no limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_noop

from league.domain.core import clock, journal
from league.domain.core.errors import Refused, TooMany
from league.domain.people import players
from league.enums import BotState, MatchKind, MatchStatus, TableStatus, TournamentStatus, VersionStatus
from league.models import (
    Bot,
    BotVersion,
    Circuit,
    Comment,
    Consultation,
    EntryRequest,
    Event,
    Judgement,
    LeagueEvent,
    Match,
    MistakeSearch,
    Package,
    Player,
    Quota,
    Report,
    TablePerson,
    Tournament,
    Try,
)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
(
    BOARDS,
    TOURNAMENTS,
    BOTS,
    VALIDATIONS,
    UPLOADS,
    BYTES,
    REQUESTS,
    CHALLENGES,
    JUDGEMENTS,
    TRIES,
    SERIES,
    TABLES,
    COMMENTS,
    REPORTS,
) = (
    "boards",
    "tournaments",
    "bots",
    "validations",
    "uploads",
    "bytes",
    "requests",
    "challenges",
    "judgements",
    "tries",
    "series",
    "tables",
    "comments",
    "reports",
)
MEGABYTE = 1024 * 1024
Times = QuerySet[Any, datetime]


def _boards(player: Player, now: datetime) -> int:
    """Count the boards that running tournaments may still need: planned boards less finished ones."""
    played = Match.objects.filter(tournament=OuterRef("pk"), status=MatchStatus.FINISHED).order_by()
    finished_boards = Coalesce(
        Subquery(
            played.values("tournament").annotate(n=Sum("boards_planned")).values("n"), output_field=IntegerField()
        ),
        0,
    )
    running = Tournament.objects.filter(owner=player, status=TournamentStatus.RUNNING, booked_boards__gt=0)
    unplayed = running.annotate(unplayed=F("booked_boards") - finished_boards).filter(unplayed__gt=0)
    return unplayed.aggregate(n=Sum("unplayed"))["n"] or 0


def _tournaments(player: Player, now: datetime) -> int:
    """Count the tournaments, events and circuits that the player created; an event or circuit counts once, whatever its number of tournaments."""
    live = [TournamentStatus.OPEN, TournamentStatus.RUNNING]
    alone = Tournament.objects.filter(owner=player, status__in=live, event=None, season=None)
    events = Event.objects.filter(owner=player, status__in=live)
    return alone.count() + events.count() + Circuit.objects.filter(owner=player, active=True).count()


def _responsible(player: Player) -> Q:
    """Return the condition that a version counts for a player: as the owner of its bot, or because they uploaded it for their team."""
    return Q(bot__owner=player) | Q(uploader=player)


def _bots(player: Player, now: datetime) -> int:
    return Bot.objects.filter(owner=player).exclude(state=BotState.RETIRED).count()


def _validations(player: Player, now: datetime) -> int:
    return BotVersion.objects.filter(_responsible(player), status=VersionStatus.VALIDATING).count()


def _bytes(player: Player, now: datetime) -> int:
    versions = BotVersion.objects.filter(_responsible(player))
    rows = Package.objects.filter(Q(pk__in=versions.values("package")) | Q(pk__in=versions.values("source")))
    return rows.aggregate(n=Sum("size"))["n"] or 0


def _uploads(player: Player, now: datetime) -> Times:
    rows = LeagueEvent.objects.filter(kind="version.uploaded", actor=player.name, at__gt=now - HOUR)
    others = BotVersion.objects.filter(bot__owner=player, created__gt=now - HOUR, uploader__isnull=False)
    times = others.exclude(uploader=player).values_list("created", flat=True)
    # A fetch that runs or failed counts, too; one that has just arrived becomes an upload.
    fetches = player.fetches.filter(~Q(why="") | Q(finished=None), version=None, created__gt=now - HOUR)
    return (
        rows.values_list("at", flat=True)
        .union(times, fetches.values_list("created", flat=True), all=True)
        .order_by("at")
    )


def _requests(player: Player, now: datetime) -> Times:
    rows = EntryRequest.objects.filter(asker=player, created__gt=now - DAY).exclude(bot__owner=player)
    return rows.order_by("created").values_list("created", flat=True)


def _challenges(player: Player, now: datetime) -> Times:
    rows = Match.objects.filter(owner=player, kind=MatchKind.CHALLENGE, created__gt=now - DAY)
    counted = rows.exclude(status__in=[MatchStatus.VOID, MatchStatus.CANCELLED])
    return counted.order_by("created").values_list("created", flat=True)


def _judgements(player: Player, now: datetime) -> Times:
    """List analyses, consultations and searches for mistakes, which share a limit."""
    askers = ((Judgement, "asked_by"), (Consultation, "asked_by"), (MistakeSearch, "player"))
    requests = [
        model._default_manager.filter(**{column: player}, created__gt=now - DAY).values_list("created", flat=True)
        for model, column in askers
    ]
    return requests[0].union(*requests[1:], all=True).order_by("created")


def _tries(player: Player, now: datetime) -> Times:
    """List tries of single boards and decisions."""
    return _tried(player, now, Q(work__boards_planned=1))


def _series(player: Player, now: datetime) -> Times:
    """List tries of several boards."""
    return _tried(player, now, Q(work__boards_planned__gt=1))


def _tried(player: Player, now: datetime, which: Q) -> Times:
    rows = Try.objects.filter(which, owner=player, created__gt=now - HOUR)
    counted = rows.exclude(work__status__in=[MatchStatus.VOID, MatchStatus.CANCELLED])
    return counted.order_by("created").values_list("created", flat=True)


def _tables(player: Player, now: datetime) -> Times:
    seats = TablePerson.objects.filter(player=player, table__created__gt=now - HOUR)
    rows = seats.exclude(table__status=TableStatus.VOID).order_by("table__created")
    return rows.values_list("table__created", flat=True)


def _comments(player: Player, now: datetime) -> Times:
    """List comments; a deleted one counts, too."""
    rows = Comment.objects.filter(author=player, created__gt=now - HOUR)
    return rows.order_by("created").values_list("created", flat=True)


def _reports(player: Player, now: datetime) -> Times:
    rows = Report.objects.filter(reporter=player, created__gt=now - DAY)
    return rows.order_by("created").values_list("created", flat=True)


@dataclass(frozen=True)
class LimitKind:
    """A kind of limit. `used` returns a player's use at a time; `default` the limit of everybody without an own one.

    If the use goes down with time, `used` returns the times of creation, oldest first, and `counts_for` is how long each counts.
    """

    name: str
    used: Callable[[Player, datetime], int | Times]
    default: Callable[[], int]
    counts_for: timedelta | None = None


KINDS = {
    kind.name: kind
    for kind in (
        LimitKind(BOARDS, _boards, lambda: settings.QUOTA_BOARDS),
        LimitKind(TOURNAMENTS, _tournaments, lambda: settings.QUOTA_TOURNAMENTS),
        LimitKind(BOTS, _bots, lambda: settings.QUOTA_BOTS),
        LimitKind(VALIDATIONS, _validations, lambda: settings.QUOTA_VALIDATIONS),
        LimitKind(UPLOADS, _uploads, lambda: settings.UPLOADS_PER_HOUR, HOUR),
        LimitKind(BYTES, _bytes, lambda: settings.QUOTA_MEGABYTES * MEGABYTE),
        LimitKind(REQUESTS, _requests, lambda: settings.QUOTA_REQUESTS, DAY),
        LimitKind(CHALLENGES, _challenges, lambda: settings.QUOTA_CHALLENGES, DAY),
        LimitKind(JUDGEMENTS, _judgements, lambda: settings.QUOTA_JUDGEMENTS, DAY),
        LimitKind(TRIES, _tries, lambda: settings.QUOTA_TRIES, HOUR),
        LimitKind(SERIES, _series, lambda: settings.QUOTA_SERIES, HOUR),
        LimitKind(TABLES, _tables, lambda: settings.QUOTA_TABLES, HOUR),
        LimitKind(COMMENTS, _comments, lambda: settings.QUOTA_COMMENTS, HOUR),
        LimitKind(REPORTS, _reports, lambda: settings.QUOTA_REPORTS, DAY),
    )
}


@dataclass(frozen=True)
class Limit:
    """The state of one limit. `most`: None without a limit. `again`: when one more will be allowed, if that depends on time alone."""

    name: str
    used: int
    most: int | None
    default: int
    again: datetime | None = None

    @property
    def free(self) -> int | None:
        """Return how much more may be added now; None without a limit."""
        return None if self.most is None else max(0, self.most - self.used)


def limits(player: Player, *, now: datetime | None = None) -> list[Limit]:
    """Return all limits of a player, in the order of KINDS. Two queries, and one to three for each limit."""
    now = clock.now_or(now)
    own = dict(Quota.objects.filter(player=player).values_list("name", "value"))
    return [_limit(player, kind, own.get(kind.name), now) for kind in KINDS.values()]


def own_limit(player: Player, name: str) -> int | None:
    """Return the limit that an operator has set for a player; None: the player has the default."""
    return Quota.objects.filter(player=player, name=name).values_list("value", flat=True).first()


def limit(player: Player, name: str, *, now: datetime | None = None) -> Limit:
    """Return one limit of a player."""
    return _limit(player, KINDS[name], own_limit(player, name), clock.now_or(now))


def most(player: Player | None, name: str) -> int | None:
    """Return the player's limit, or None if there is none; `player=None` means an anonymous client, who has the default. One query."""
    if player is None:
        return KINDS[name].default()
    own = Quota.objects.filter(player=player, name=name).values_list("value", flat=True).first()
    return _most(player, KINDS[name], own)


def _most(player: Player, kind: LimitKind, own: int | None) -> int | None:
    return None if player.name == players.HOUSE else kind.default() if own is None else own


def _limit(player: Player, kind: LimitKind, own: int | None, now: datetime) -> Limit:
    use, allowed = kind.used(player, now), _most(player, kind, own)
    if isinstance(use, int):
        return Limit(kind.name, use, allowed, kind.default())
    used = use.count()
    again = None
    if kind.counts_for is not None and allowed is not None and 0 < allowed <= used:
        again = use[used - allowed] + kind.counts_for
    return Limit(kind.name, used, allowed, kind.default(), again)


def ask(player: Player, name: str, more: int = 1, *, wait_s: float = 60, now: datetime) -> None:
    """Check that `player` may add `more`, in the transaction that adds them. Raise Refused or TooMany with the limit and the time to wait.

    wait_s: the time to wait if running work uses up the limit.
    """
    players.lock(player.pk)
    check_free(player, name, more, wait_s=wait_s, now=now)


def check_free(player: Player, name: str, more: int, *, wait_s: float = 60, now: datetime | None = None) -> None:
    """Raise Refused or TooMany, like `ask`, if `player` may not add `more` now. Without the lock the result may change at once."""
    now = clock.now_or(now)
    limit_now = limit(player, name, now=now)
    if limit_now.most is None or limit_now.used + more <= limit_now.most:
        return
    if limit_now.again is not None:
        wait_s = (limit_now.again - now).total_seconds()
    raise _refusal(limit_now, more, max(1, int(wait_s)))


# The refusals for limits whose use goes down with time.
LATER = {
    UPLOADS: gettext_noop(
        "you have uploaded {used} versions in the last hour; the limit is {most}. Try again in {minutes} minutes, "
        "and test with `tute play` on your machine meanwhile"
    ),
    VALIDATIONS: gettext_noop(
        "{used} of your versions are being validated; the limit is {most}. Upload this one when one of them is done, in a few minutes"
    ),
    BOARDS: gettext_noop(
        "this needs {more} boards, and {used} of yours are queued; the limit is {most}. "
        "Try again in about {minutes} minutes, when enough of them are played, or cancel a tournament"
    ),
    REQUESTS: gettext_noop(
        "you have asked for {used} bots of other players in the last day; the limit is {most}. Ask again in {minutes} minutes"
    ),
    JUDGEMENTS: gettext_noop(
        "you have asked for {used} analyses and consultations in the last day; the limit is {most}. Ask again in {minutes} "
        "minutes, or run `tute analyse` on your machine meanwhile"
    ),
    TRIES: gettext_noop(
        "you have made {used} tries in the last hour; the limit is {most}. Try again in {minutes} minutes, "
        "and test with `tute play` on your machine meanwhile"
    ),
    SERIES: gettext_noop(
        "you have played {used} series of boards in the last hour; the limit is {most}. Try single boards, "
        "or start another series in {minutes} minutes; `tute play` on your machine has no limit"
    ),
    TABLES: gettext_noop(
        "you have started {used} tables in the last hour; the limit is {most}. Start another in {minutes} minutes"
    ),
    CHALLENGES: gettext_noop(
        "you have made {used} challenges in the last day; the limit is {most}. Challenge again in {minutes} minutes"
    ),
    COMMENTS: gettext_noop(
        "you have written {used} comments in the last hour; the limit is {most}. Write again in {minutes} minutes"
    ),
    REPORTS: gettext_noop(
        "you have reported {used} comments in the last day; the limit is {most}. Report again in {minutes} minutes"
    ),
}


def _refusal(limit_now: Limit, more: int, wait_s: int) -> Refused:
    values = {"used": limit_now.used, "most": limit_now.most, "more": more, "minutes": -(-wait_s // 60)}
    if limit_now.name in LATER:
        return TooMany(LATER[limit_now.name], retry_after=wait_s, **values)
    return _lasting_refusal(limit_now, values)


def _lasting_refusal(limit_now: Limit, values: dict[str, Any]) -> Refused:
    """Return the refusal for a limit whose use does not go down with time."""
    if limit_now.name == TOURNAMENTS:
        return Refused(
            "you have {used} unfinished tournaments, events and circuits; the limit is {most}. "
            "Wait until one finishes, cancel one, or ask an operator to raise your limit",
            **values,
        )
    if limit_now.name == BOTS:
        return Refused(
            "you have {used} active bots; the limit is {most}. Upload a new version of one of them, "
            "retire one, or ask an operator to raise your limit",
            **values,
        )
    return Refused(
        "with this upload your packages take {used} megabytes; the limit is {most}. Packages are never deleted, so "
        "make the package smaller, or ask an operator to raise your limit",
        used=round(limit_now.used / MEGABYTE, 1),
        most=round((limit_now.most or 0) / MEGABYTE, 1),
    )


def set_quota(
    player: Player, name: str, value: int | None, *, why: str, actor: str, now: datetime | None = None
) -> bool:
    """Set a player's own limit, or the default with None; return False if nothing changed. The journal records each change."""
    now = clock.now_or(now)
    if name not in KINDS:
        raise Refused("there is no limit {name!r}; choose one of {names}", name=name, names=", ".join(KINDS))
    if value is not None and not 0 <= value < 2**62:
        raise Refused("a limit is a whole number, 0 or more, not {value}", value=value)
    with transaction.atomic():
        players.lock(player.pk)
        row = Quota.objects.filter(player=player, name=name)
        was = row.values_list("value", flat=True).first()
        if was == value:
            return False
        if value is None:
            row.delete()
        else:
            Quota.objects.update_or_create(player=player, name=name, defaults={"value": value})
        journal.append(
            "quota.set", f"player:{player.name}", now=now, actor=actor, why=why, name=name, was=was, to=value
        )
    return True
