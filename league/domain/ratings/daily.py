"""Daily leaderboards: tables as they stood at the end of a day (UTC), from which movements and rising bots are computed.

Before the scheduler counts the first result of a day, it stores the table as it stands, if it has changed since the last stored one. It deletes
tables older than eight days, except the newest of them, so a pool has at most nine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery

from league.domain.core import clock, journal, paging
from league.domain.ratings import leaderboards
from league.domain.ratings.leaderboards import Moved, RankedBot
from league.enums import MatchStatus
from league.models import Match, PlaceOfDay, Pool, PoolSums, Rating, TableOfDay
from league.pure.portable import ELO_DIGITS, comparable

DAY, WEEK = timedelta(days=1), timedelta(days=7)
RISEN = 3  # The number of most rising bots that are stored with a table.
RISE = 10.0  # Elo. Smaller rises are not shown.
ROWS = 1000  # Rows of one statement.


@dataclass(frozen=True)
class Movement:
    """The changes since the end of yesterday, and since a week before that. A day is None if no table for it is stored."""

    day: date | None = None
    week: date | None = None
    by_day: dict[int, Moved] = field(default_factory=dict)  # By bot, without the bots that had no place on that day.
    by_week: dict[int, Moved] = field(default_factory=dict)

    def add_to(self, page: paging.Page[RankedBot]) -> paging.Page[RankedBot]:
        """Return the page with the movements of its rows."""
        rows = [
            replace(
                row, day=self.by_day.get(row.rating.version.bot_id), week=self.by_week.get(row.rating.version.bot_id)
            )
            for row in page
        ]
        return paging.Page(rows, page.before, page.after)


def keep(*, now: datetime | None = None) -> int:
    """Store the tables that changed since they were last stored, as of the end of yesterday; return their number. Repeatable.

    A table that began today is stored tomorrow.
    """
    now = clock.now_or(now)
    today = _today(now)
    last = TableOfDay.objects.filter(pool=OuterRef("pool")).order_by("-day")
    old = Match.objects.filter(pool=OuterRef("pool"), status=MatchStatus.FINISHED, finished__lt=_begin(today))
    heads = PoolSums.objects.annotate(kept=Subquery(last.values("ranked")[:1]), on=Subquery(last.values("day")[:1]))
    heads = heads.filter(Q(kept=None) | ~Q(kept=F("ranked")), Q(on=None) | Q(on__lt=today - DAY)).filter(Exists(old))
    return sum(
        _keep(pool, ranked, today - DAY, now)
        for pool, ranked in list(heads.order_by("pool").values_list("pool", "ranked"))
    )


def _keep(pool: int, ranked: int, day: date, now: datetime) -> bool:
    """Store one table; return False if another process has. `ranked` was read before the rows, so the rows are at least as new."""
    with transaction.atomic():
        table, created = TableOfDay.objects.get_or_create(
            pool_id=pool, day=day, defaults={"ranked": ranked, "taken": now}
        )
        if not created:
            return False
        rows = Rating.objects.filter(pool=pool, listed=True).order_by(*leaderboards.BEST.names)
        places = [
            PlaceOfDay(table=table, bot_id=bot, place=place, elo=elo, provisional=provisional)
            for place, (bot, elo, provisional) in enumerate(
                rows.values_list("version__bot", "elo", "provisional").iterator(), 1
            )
        ]
        before = TableOfDay.objects.filter(pool=pool, day__lt=day)
        base = before.filter(day__lte=day - WEEK).order_by("-day").first() or before.order_by("day").first()
        if base is not None:
            TableOfDay.objects.filter(pk=table.pk).update(since=base.day)
            _note_rises(places, base)
            before.filter(day__lt=min(base.day, day - WEEK)).delete()
        PlaceOfDay.objects.bulk_create(places, ROWS)
        journal.append("pool.day", f"pool:{pool}", now=now, day=day.isoformat())
    return True


def _note_rises(places: Iterable[PlaceOfDay], base: TableOfDay) -> None:
    """Set the rise of the few places that rose most since `base`, among bots that were provisional neither then nor now."""
    then = dict(PlaceOfDay.objects.filter(table=base, provisional=False).values_list("bot", "elo"))
    risen = [
        (comparable(row.elo - then[row.bot_id], ELO_DIGITS), row)
        for row in places
        if not row.provisional and row.bot_id in then
    ]
    # Of equal rises, the bot with the better place comes first.
    for rise, row in sorted((pair for pair in risen if pair[0] >= RISE), key=lambda pair: (-pair[0], pair[1].place))[
        :RISEN
    ]:
        row.rise = rise


def movement(pool: Pool, rows: Collection[RankedBot], *, now: datetime | None = None) -> Movement:
    """Return how the bots in these rows have moved. Two queries; one if no table is stored."""
    today = _today(clock.now_or(now))
    compared = _compared(pool.pk, today)
    stands = {row.rating.version.bot_id: Stand(row.place, row.rating.elo) for row in rows}
    day, week = _moved(stands, _stood(compared, list(stands)))
    since = today - DAY
    return Movement(since if compared.day else None, since - WEEK if compared.week else None, day, week)


@dataclass(frozen=True)
class Stand:
    """The place and Elo of a bot in a table."""

    place: int
    elo: float


@dataclass(frozen=True)
class Compared:
    """The ids of the tables with which a leaderboard is compared; None for a day without a table."""

    day: int | None = None
    week: int | None = None


Stood: TypeAlias = tuple[Stand | None, Stand | None]  # In yesterday's table, and in the table a week before that.


def _compared(pool: int, today: date) -> Compared:
    """Find the two tables to compare with. One query."""
    tables = TableOfDay.objects.filter(pool=pool, day__lt=today).order_by("-day")
    tables_stored = list(tables.values_list("pk", "day")[:9])
    if not tables_stored:
        return Compared()
    return Compared(tables_stored[0][0], next((pk for pk, day in tables_stored if day <= today - DAY - WEEK), None))


def _stood(compared: Compared, bots: Collection[int]) -> dict[int, Stood]:
    """Return the places of bots in the two tables. One query; none if there is no table."""
    tables = [pk for pk in (compared.day, compared.week) if pk is not None]
    if not tables:
        return {}
    then = PlaceOfDay.objects.filter(table__in=tables, bot__in=bots)
    stands: dict[tuple[int | None, int], Stand] = {
        (table, bot): Stand(place, elo) for table, bot, place, elo in then.values_list("table", "bot", "place", "elo")
    }
    return {bot: (stands.get((compared.day, bot)), stands.get((compared.week, bot))) for bot in bots}


def _moved(here: Mapping[int, Stand], then: Mapping[int, Stood]) -> tuple[dict[int, Moved], dict[int, Moved]]:
    since: tuple[dict[int, Moved], dict[int, Moved]] = ({}, {})
    for bot, current in here.items():
        for moves, stood in zip(since, then.get(bot, (None, None)), strict=True):
            if stood is not None:
                moves[bot] = Moved(stood.place - current.place, comparable(current.elo - stood.elo, ELO_DIGITS))
    return since


@dataclass(frozen=True)
class Rise:
    """A rising bot in a pool: its rise since a day, and its place at the end of yesterday."""

    pool: Pool
    bot: str
    place: int
    elo: float
    rise: float
    since: date | None


def rises(pools: Iterable[Pool], most: int, *, now: datetime | None = None) -> list[Rise]:
    """Return the bots that rose most up to the end of yesterday, in those of these pools whose table changed within a week. Two queries."""
    by_id = {pool.pk: pool for pool in pools}
    today = _today(clock.now_or(now))
    last = TableOfDay.objects.filter(pool=OuterRef("pool"), day__lt=today).order_by("-day").values("pk")[:1]
    newest = TableOfDay.objects.filter(pool__in=list(by_id), day__gte=today - WEEK, pk=Subquery(last))
    tables = {pk: (by_id[pool], since) for pk, pool, since in newest.values_list("pk", "pool", "since")}
    if not tables:
        return []
    rows = PlaceOfDay.objects.filter(table__in=list(tables), rise__isnull=False).select_related("bot")
    rows = rows.order_by("-rise", "bot__slug", "table__pool")
    return [
        Rise(tables[row.table_id][0], row.bot.slug, row.place, row.elo, row.rise or 0.0, tables[row.table_id][1])
        for row in rows[:most]
    ]


def _today(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
