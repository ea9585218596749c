"""Leaderboards as they stood at the ends of days (UTC): what movement and the bots that rise are told from.

A table is kept once a day, before the first result of the next day is counted where the scheduler runs, and only where it has changed since it
was kept last. The last eight days and the newest table before them stay, so a pool has nine tables at most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery

from league.domain.core import clock, keyset
from league.domain.ratings import leaderboards
from league.domain.ratings.leaderboards import Moved, RankedBot
from league.enums import MatchStatus
from league.models import Match, PlaceOfDay, Pool, PoolSums, Rating, TableOfDay

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

    def of(self, page: keyset.Page[RankedBot]) -> keyset.Page[RankedBot]:
        """The page with what is known of its rows."""
        rows = [
            replace(
                row, day=self.by_day.get(row.rating.version.bot_id), week=self.by_week.get(row.rating.version.bot_id)
            )
            for row in page
        ]
        return keyset.Page(rows, page.before, page.after)


def keep(*, now: datetime | None = None) -> int:
    """Keep the tables that have changed since they were kept last, as they stand at the end of yesterday; how many. Harmless to repeat.

    A table that has begun today is kept tomorrow.
    """
    now = clock.given(now)
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
    risen = [(row.elo - then[row.bot_id], row) for row in places if not row.provisional and row.bot_id in then]
    for rise, row in sorted((one for one in risen if one[0] >= RISE), key=lambda one: -one[0])[:RISEN]:
        row.rise = rise


def movement(pool: Pool, rows: Collection[RankedBot], *, now: datetime | None = None) -> Movement:
    """How these rows have moved. Two queries; one where no table is kept."""
    today = _today(clock.given(now))
    tables = TableOfDay.objects.filter(pool=pool, day__lt=today).order_by("-day")
    kept = list(tables.values_list("pk", "day")[:9])
    if not kept:
        return Movement()
    day = kept[0][0]
    week = next((pk for pk, one in kept if one <= today - DAY - WEEK), None)
    found: dict[int, dict[int, Moved]] = {pk: {} for pk, _ in kept}
    here = {row.rating.version.bot_id: row for row in rows}
    then = PlaceOfDay.objects.filter(table__in=[pk for pk in (day, week) if pk is not None], bot__in=list(here))
    for table, bot, place, elo in then.values_list("table", "bot", "place", "elo"):
        found[table][bot] = Moved(place - here[bot].place, here[bot].rating.elo - elo)
    return Movement(
        today - DAY, None if week is None else today - DAY - WEEK, found[day], {} if week is None else found[week]
    )


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
    today = _today(clock.given(now))
    last = TableOfDay.objects.filter(pool=OuterRef("pool"), day__lt=today).order_by("-day").values("pk")[:1]
    newest = TableOfDay.objects.filter(pool__in=list(by_id), day__gte=today - WEEK, pk=Subquery(last))
    tables = {pk: (by_id[pool], since) for pk, pool, since in newest.values_list("pk", "pool", "since")}
    if not tables:
        return []
    rows = PlaceOfDay.objects.filter(table__in=list(tables), rise__isnull=False).select_related("bot").order_by("-rise")
    return [
        Rise(tables[row.table_id][0], row.bot.slug, row.place, row.elo, row.rise or 0.0, tables[row.table_id][1])
        for row in rows[:most]
    ]


def _today(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
