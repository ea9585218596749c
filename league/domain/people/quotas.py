"""How much of the league one player may take: a default for everybody from the settings, and what an operator has set for one.

Each limit counts what is there now by one query, and is asked for in the transaction that adds to it, behind the lock of the player: of two
requests at once the second sees what the first one has added. The bots that the league ships belong to nobody who could flood it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from league.domain.core import clock, journal
from league.domain.core.errors import Refused, TooMany
from league.domain.people import players
from league.enums import BotState, MatchKind, MatchStatus, TableStatus, TournamentStatus, VersionStatus
from league.models import (
    Bot,
    BotVersion,
    Circuit,
    Consultation,
    EntryRequest,
    Event,
    Judgement,
    LeagueEvent,
    Match,
    Package,
    Player,
    Quota,
    Table,
    Tournament,
    Try,
)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BOARDS, TOURNAMENTS, BOTS, VALIDATIONS, UPLOADS, BYTES, REQUESTS, CHALLENGES, JUDGEMENTS, TRIES, TABLES = (
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
    "tables",
)
MEGABYTE = 1024 * 1024
Moments = QuerySet[Any, datetime]


def _boards(player: Player, now: datetime) -> int:
    """Those that running tournaments will have at most, less those that are played."""
    played = Match.objects.filter(tournament=OuterRef("pk"), status=MatchStatus.FINISHED).order_by()
    done = Coalesce(
        Subquery(
            played.values("tournament").annotate(n=Sum("boards_planned")).values("n"), output_field=IntegerField()
        ),
        0,
    )
    running = Tournament.objects.filter(owner=player, status=TournamentStatus.RUNNING, booked_boards__gt=0)
    left = running.annotate(left=F("booked_boards") - done).filter(left__gt=0)
    return left.aggregate(n=Sum("left"))["n"] or 0


def _tournaments(player: Player, now: datetime) -> int:
    """What its owner has made: a circuit or an event is one, whatever number of tournaments the scheduler makes for it."""
    live = [TournamentStatus.OPEN, TournamentStatus.RUNNING]
    alone = Tournament.objects.filter(owner=player, status__in=live, event=None, season=None)
    events = Event.objects.filter(owner=player, status__in=live)
    return alone.count() + events.count() + Circuit.objects.filter(owner=player, active=True).count()


def _bots(player: Player, now: datetime) -> int:
    return Bot.objects.filter(owner=player).exclude(state=BotState.RETIRED).count()


def _validations(player: Player, now: datetime) -> int:
    return BotVersion.objects.filter(bot__owner=player, status=VersionStatus.VALIDATING).count()


def _bytes(player: Player, now: datetime) -> int:
    mine = Package.objects.filter(pk__in=BotVersion.objects.filter(bot__owner=player).values("package"))
    return mine.aggregate(n=Sum("size"))["n"] or 0


def _uploads(player: Player, now: datetime) -> Moments:
    mine = LeagueEvent.objects.filter(kind="version.uploaded", actor=player.name, at__gt=now - HOUR)
    return mine.order_by("at").values_list("at", flat=True)


def _requests(player: Player, now: datetime) -> Moments:
    mine = EntryRequest.objects.filter(asker=player, created__gt=now - DAY).exclude(bot__owner=player)
    return mine.order_by("created").values_list("created", flat=True)


def _challenges(player: Player, now: datetime) -> Moments:
    mine = Match.objects.filter(owner=player, kind=MatchKind.CHALLENGE, created__gt=now - DAY)
    counted = mine.exclude(status__in=[MatchStatus.VOID, MatchStatus.CANCELLED])
    return counted.order_by("created").values_list("created", flat=True)


def _judgements(player: Player, now: datetime) -> Moments:
    """With consultations, which are the same kind of work."""
    asked = [
        model._default_manager.filter(asked_by=player, created__gt=now - DAY).values_list("created", flat=True)
        for model in (Judgement, Consultation)
    ]
    return asked[0].union(asked[1], all=True).order_by("created")


def _tries(player: Player, now: datetime) -> Moments:
    mine = Try.objects.filter(owner=player, created__gt=now - HOUR)
    counted = mine.exclude(work__status__in=[MatchStatus.VOID, MatchStatus.CANCELLED])
    return counted.order_by("created").values_list("created", flat=True)


def _tables(player: Player, now: datetime) -> Moments:
    mine = Table.objects.filter(player=player, created__gt=now - HOUR).exclude(status=TableStatus.VOID)
    return mine.order_by("created").values_list("created", flat=True)


@dataclass(frozen=True)
class Kind:
    """A thing of which there is a limit. `used` counts it for a player at a moment, `default` is everybody's limit.

    What time alone takes away says when each was made, from the oldest, and how long it counts.
    """

    name: str
    used: Callable[[Player, datetime], int | Moments]
    default: Callable[[], int]
    counts_for: timedelta | None = None


KINDS = {
    kind.name: kind
    for kind in (
        Kind(BOARDS, _boards, lambda: settings.QUOTA_BOARDS),
        Kind(TOURNAMENTS, _tournaments, lambda: settings.QUOTA_TOURNAMENTS),
        Kind(BOTS, _bots, lambda: settings.QUOTA_BOTS),
        Kind(VALIDATIONS, _validations, lambda: settings.QUOTA_VALIDATIONS),
        Kind(UPLOADS, _uploads, lambda: settings.UPLOADS_PER_HOUR, HOUR),
        Kind(BYTES, _bytes, lambda: settings.QUOTA_MEGABYTES * MEGABYTE),
        Kind(REQUESTS, _requests, lambda: settings.QUOTA_REQUESTS, DAY),
        Kind(CHALLENGES, _challenges, lambda: settings.QUOTA_CHALLENGES, DAY),
        Kind(JUDGEMENTS, _judgements, lambda: settings.QUOTA_JUDGEMENTS, DAY),
        Kind(TRIES, _tries, lambda: settings.QUOTA_TRIES, HOUR),
        Kind(TABLES, _tables, lambda: settings.QUOTA_TABLES, HOUR),
    )
}


@dataclass(frozen=True)
class Limit:
    """Where a player stands. `most` is None for who has no limit; `again`: when there is room for one more, where the clock alone says so."""

    name: str
    used: int
    most: int | None
    default: int
    again: datetime | None = None

    @property
    def free(self) -> int | None:
        """How much more may be added now; None: any number."""
        return None if self.most is None else max(0, self.most - self.used)


def limits(player: Player, *, now: datetime | None = None) -> list[Limit]:
    """All limits of a player, in one order. Two queries, and for each limit one or three."""
    now = clock.now_or(now)
    own = dict(Quota.objects.filter(player=player).values_list("name", "value"))
    return [_limit(player, kind, own.get(kind.name), now) for kind in KINDS.values()]


def limit(player: Player, name: str, *, now: datetime | None = None) -> Limit:
    """One limit of a player."""
    own = Quota.objects.filter(player=player, name=name).values_list("value", flat=True).first()
    return _limit(player, KINDS[name], own, clock.now_or(now))


def most(player: Player | None, name: str) -> int | None:
    """How much of it a player may have, None: of who has not said who they are; the answer None: any number. One query."""
    if player is None:
        return KINDS[name].default()
    own = Quota.objects.filter(player=player, name=name).values_list("value", flat=True).first()
    return _most(player, KINDS[name], own)


def _most(player: Player, kind: Kind, own: int | None) -> int | None:
    return None if player.name == players.HOUSE else kind.default() if own is None else own


def _limit(player: Player, kind: Kind, own: int | None, now: datetime) -> Limit:
    found, allowed = kind.used(player, now), _most(player, kind, own)
    if isinstance(found, int):
        return Limit(kind.name, found, allowed, kind.default())
    used = found.count()
    again = None
    if kind.counts_for is not None and allowed is not None and 0 < allowed <= used:
        again = found[used - allowed] + kind.counts_for
    return Limit(kind.name, used, allowed, kind.default(), again)


def ask(player: Player, name: str, more: int = 1, *, wait_s: float = 60, now: datetime) -> None:
    """Pass if `player` may add so many more; in the transaction that adds them. Refused or TooMany with which limit it is, and when again.

    wait_s: in how many seconds there may be room, where something that goes on makes it.
    """
    players.lock(player.pk)
    found = limit(player, name, now=now)
    if found.most is None or found.used + more <= found.most:
        return
    if found.again is not None:
        wait_s = (found.again - now).total_seconds()
    raise _refusal(found, more, max(1, int(wait_s)))


def _refusal(found: Limit, more: int, wait_s: int) -> Refused:
    values = {"used": found.used, "most": found.most, "more": more, "minutes": -(-wait_s // 60)}
    if found.name == UPLOADS:
        return TooMany(
            "you have uploaded {used} versions within an hour; at most {most} are taken. Try again in {minutes} minutes, "
            "and test with `tute play` on your machine meanwhile",
            retry_after=wait_s,
            **values,
        )
    if found.name == VALIDATIONS:
        return TooMany(
            "{used} of your versions are being validated; at most {most} are at once. Upload this one when one of them is through, in some minutes",
            retry_after=wait_s,
            **values,
        )
    if found.name == BOARDS:
        return TooMany(
            "this needs {more} boards, and {used} of yours wait already; at most {most} may wait at once. "
            "Try again in about {minutes} minutes, when enough of them are played, or cancel a tournament",
            retry_after=wait_s,
            **values,
        )
    if found.name == REQUESTS:
        return TooMany(
            "you have asked for {used} bots of others within a day; at most {most} are allowed. Ask again in {minutes} minutes",
            retry_after=wait_s,
            **values,
        )
    if found.name == CHALLENGES:
        return TooMany(
            "you have challenged {used} times within a day; at most {most} are allowed. Challenge again in {minutes} minutes",
            retry_after=wait_s,
            **values,
        )
    if found.name == JUDGEMENTS:
        return TooMany(
            "you have had {used} matches judged, and seats put to bots of the house, within a day; at most {most} are. Ask again in {minutes} "
            "minutes, or run `tute analyse` on your machine meanwhile",
            retry_after=wait_s,
            **values,
        )
    if found.name == TRIES:
        return TooMany(
            "you have tried {used} times within an hour; at most {most} are allowed. Try again in {minutes} minutes, "
            "and test with `tute play` on your machine meanwhile",
            retry_after=wait_s,
            **values,
        )
    if found.name == TABLES:
        return TooMany(
            "you have sat down {used} times within an hour; at most {most} are allowed. Sit down again in {minutes} minutes",
            retry_after=wait_s,
            **values,
        )
    return _refusal_of_room(found, values)


def _refusal_of_room(found: Limit, values: dict[str, Any]) -> Refused:
    """Of what time alone does not take away."""
    if found.name == TOURNAMENTS:
        return Refused(
            "you have {used} tournaments, events and circuits that are not over; at most {most} are allowed. "
            "Wait for the end of one, cancel one, or ask an operator to raise your limit",
            **values,
        )
    if found.name == BOTS:
        return Refused(
            "you have {used} bots that are not retired; at most {most} are allowed. Upload a new version of one of them, "
            "retire one, or ask an operator to raise your limit",
            **values,
        )
    return Refused(
        "your uploads take {used} megabytes; with this one they would be above {most}. Nothing that was played with is deleted, so "
        "make the package smaller, or ask an operator to raise your limit",
        used=round(found.used / MEGABYTE, 1),
        most=round((found.most or 0) / MEGABYTE, 1),
    )


def set_quota(
    player: Player, name: str, value: int | None, *, why: str, actor: str, now: datetime | None = None
) -> bool:
    """Give a player a limit of their own, or with None the default again; whether that changes something. Each change is in the journal."""
    now = clock.now_or(now)
    if name not in KINDS:
        raise Refused("there is no limit {name!r}; the limits are {names}", name=name, names=", ".join(KINDS))
    if value is not None and not 0 <= value < 2**62:
        raise Refused("a limit is a whole number from 0 on, not {value}", value=value)
    with transaction.atomic():
        players.lock(player.pk)
        mine = Quota.objects.filter(player=player, name=name)
        was = mine.values_list("value", flat=True).first()
        if was == value:
            return False
        if value is None:
            mine.delete()
        else:
            Quota.objects.update_or_create(player=player, name=name, defaults={"value": value})
        journal.append(
            "quota.set", f"player:{player.name}", now=now, actor=actor, why=why, name=name, was=was, to=value
        )
    return True
