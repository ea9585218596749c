"""Leaderboards as they stood at the ends of days (UTC): what movement and the bots that rise are told from.

A table is kept once a day, before the first result of the next day is counted where the scheduler runs, and only where it has changed since it
was kept last. The last eight days and the newest table before them stay, so a pool has nine tables at most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery

from league.domain.core import clock, paging
from league.domain.ratings import leaderboards
from league.domain.ratings.leaderboards import Moved, RankedBot
from league.enums import MatchStatus
from league.models import Match, PlaceOfDay, Pool, PoolSums, Rating, TableOfDay
from league.pure.portable import ELO_DIGITS, comparable

DAY, WEEK = timedelta(days=1), timedelta(days=7)
RISEN = 3  # bots of a table whose rise is told
RISE = 10.0  # Elo; less is no rise
ROWS = 1000  # of one statement


@dataclass(frozen=True)
class Movement:
    """What has moved since the end of yesterday and of the day a week before that. The days are None where no table of then is kept."""

    day: date | None = None
    week: date | None = None
    by_day: dict[int, Moved] = field(default_factory=dict)  # by bot; without those that had no place then
    by_week: dict[int, Moved] = field(default_factory=dict)

    def of(self, page: paging.Page[RankedBot]) -> paging.Page[RankedBot]:
        """The page with what is known of its rows."""
        rows = [
            replace(
                row, day=self.by_day.get(row.rating.version.bot_id), week=self.by_week.get(row.rating.version.bot_id)
            )
            for row in page
        ]
        return paging.Page(rows, page.before, page.after)


def keep(*, now: datetime | None = None) -> int:
    """Keep the tables that have changed since they were kept last, as they stand at the end of yesterday; how many. Harmless to repeat.

    A table that has begun today is kept tomorrow.
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
    """Whether nobody else has kept the table of this day. `ranked` was read before its rows: they are as new at least."""
    with transaction.atomic():
        table, made = TableOfDay.objects.get_or_create(pool_id=pool, day=day, defaults={"ranked": ranked, "taken": now})
        if not made:
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
    return True


def _note_rises(places: Iterable[PlaceOfDay], base: TableOfDay) -> None:
    """Write the rise of those few that have risen the most since `base`, of those that were settled then and now."""
    then = dict(PlaceOfDay.objects.filter(table=base, provisional=False).values_list("bot", "elo"))
    risen = [
        (comparable(row.elo - then[row.bot_id], ELO_DIGITS), row)
        for row in places
        if not row.provisional and row.bot_id in then
    ]
    # Of equal rises that of the bot which stands higher
    for rise, row in sorted((one for one in risen if one[0] >= RISE), key=lambda one: (-one[0], one[1].place))[:RISEN]:
        row.rise = rise


def movement(pool: Pool, rows: Collection[RankedBot], *, now: datetime | None = None) -> Movement:
    """How these rows have moved. Two queries; one where no table is kept."""
    today = _today(clock.now_or(now))
    compared = _compared(pool.pk, today)
    here = {row.rating.version.bot_id: Stand(row.place, row.rating.elo) for row in rows}
    day, week = _moved(here, _stood(compared, list(here)))
    since = today - DAY
    return Movement(since if compared.day else None, since - WEEK if compared.week else None, day, week)


@dataclass(frozen=True)
class Stand:
    """Where a bot stands, or stood."""

    place: int
    elo: float


@dataclass(frozen=True)
class Compared:
    """The tables with which a leaderboard is compared; None where none of then is kept."""

    day: int | None = None
    week: int | None = None


Stood: TypeAlias = tuple[Stand | None, Stand | None]  # in the table of the day, in that of the week


def _compared(pool: int, today: date) -> Compared:
    """One query."""
    tables = TableOfDay.objects.filter(pool=pool, day__lt=today).order_by("-day")
    kept = list(tables.values_list("pk", "day")[:9])
    if not kept:
        return Compared()
    return Compared(kept[0][0], next((pk for pk, one in kept if one <= today - DAY - WEEK), None))


def _stood(compared: Compared, bots: Collection[int]) -> dict[int, Stood]:
    """Where bots stood in two tables. One query; none where no table is kept."""
    tables = [pk for pk in (compared.day, compared.week) if pk is not None]
    if not tables:
        return {}
    then = PlaceOfDay.objects.filter(table__in=tables, bot__in=bots)
    found: dict[tuple[int | None, int], Stand] = {
        (table, bot): Stand(place, elo) for table, bot, place, elo in then.values_list("table", "bot", "place", "elo")
    }
    return {bot: (found.get((compared.day, bot)), found.get((compared.week, bot))) for bot in bots}


def _moved(here: Mapping[int, Stand], then: Mapping[int, Stood]) -> tuple[dict[int, Moved], dict[int, Moved]]:
    since: tuple[dict[int, Moved], dict[int, Moved]] = ({}, {})
    for bot, now in here.items():
        for found, stood in zip(since, then.get(bot, (None, None)), strict=True):
            if stood is not None:
                found[bot] = Moved(stood.place - now.place, comparable(now.elo - stood.elo, ELO_DIGITS))
    return since


@dataclass(frozen=True)
class Rise:
    """A bot that has risen in the table of a pool: by how much since the day, and where it stood at the end of the last one."""

    pool: Pool
    bot: str
    place: int
    elo: float
    rise: float
    since: date | None


def rises(pools: Iterable[Pool], most: int, *, now: datetime | None = None) -> list[Rise]:
    """The bots that rose the most in these pools up to the end of yesterday, where their tables changed within a week. Two queries."""
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
