"""The leaderboard of a pool, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Min, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from league.domain.core import history, keyset
from league.domain.core.listed import Listed
from league.domain.core.prepared import Cells, Prepared, Some
from league.domain.ratings import idle, pools, totals
from league.domain.ratings import ratings as fits
from league.models import BotVersion, Match, Pool, PoolSums, Rating, RatingPoint
from league.service.remembered import Held


@dataclass(frozen=True)
class Moved:
    """How a bot has moved since a day: up by so many places (down, where negative), and by so much Elo."""

    places: int
    elo: float

    @property
    def down(self) -> int:
        """Places down; 0 or less for who has not fallen."""
        return -self.places


@dataclass(frozen=True)
class RankedBot:
    """A line of the leaderboard. `place` counts all rows of the table from 1, by rating; provisional ones, too.

    `unsealed`: partners sit at these tables, and this bot cannot be sealed off from the clocks by which they could talk. `day`, `week`: how it
    has moved (`league.domain.ratings.daily`); None where nobody has looked, or it had no place then.
    """

    place: int
    rating: Rating
    unsealed: bool = False
    day: Moved | None = None
    week: Moved | None = None

    @property
    def ranks(self) -> str:
        """The ranks that the 95% comparisons leave possible, such as "2-4"."""
        best, worst = self.rating.rank_best, self.rating.rank_worst
        return str(best) if best == worst else f"{best}-{worst}"


BEST = keyset.Order(("-elo", "version_id"), (float, int))  # the order of a leaderboard


@dataclass(frozen=True)
class Only:
    """Which rows of a table to show: of bots that are not idle ("active"), of those of the house ("house"), of one owner's.

    Places stay those of the whole table.
    """

    show: str = ""
    owner: str = ""

    SHOWS = ("active", "house")

    def __bool__(self) -> bool:
        return bool(self.show or self.owner)

    def of(self, rows: QuerySet[Rating]) -> QuerySet[Rating]:
        """These of the `rows`, in an order that an index has. A query for each of house and owner: their versions, whose rows an index finds."""
        if self.show == "active":
            rows = rows.filter(idle=False)
        if self.show == "house":
            rows = rows.filter(version__in=_versions(Q(bot__is_house=True)))
        if self.owner:
            rows = rows.filter(version__in=_versions(Q(bot__owner__name=self.owner)))
        return rows

    def takes(self, row: Rating) -> bool:
        """The same of one row, which has its bot and owner."""
        bot = row.version.bot
        if (self.show == "active" and row.idle) or (self.show == "house" and not bot.is_house):
            return False
        return not self.owner or bot.owner.name == self.owner


ALL = Only()


def _versions(those: Q) -> list[int]:
    return list(BotVersion.objects.filter(those).values_list("pk", flat=True))


@dataclass(frozen=True)
class Uncounted:
    """Rated results of a pool that its leaderboard does not count yet: how many, and when the first of them finished."""

    matches: int
    since: datetime | None


def read_uncounted(pool: Pool) -> Uncounted:
    """What a leaderboard that is read afterwards may lack: every other result that was in the league at this moment is in it. One query."""
    found = totals.rated_matches(pool).filter(counted=None).aggregate(matches=Count("pk"), since=Min("finished"))
    return Uncounted(**found)


def read_owed(pool: Pool) -> PoolSums | None:
    """The moments up to which the strengths of all and the margins and ranks count every counted result; None where they count all. One query."""
    return PoolSums.objects.filter(pool=pool).exclude(ranked=F("stamp")).defer("data").first()


def ratings(pool: Pool, *, every_version: bool = False) -> QuerySet[Rating]:
    """The ratings of `pool`, best first, with version, bot and owner loaded."""
    rows = Rating.objects.filter(pool=pool) if every_version else _listed(pool.pk)
    return rows.select_related("version__bot__owner").order_by(*BEST.names)


def _listed(pool: int) -> QuerySet[Rating]:
    return Rating.objects.filter(pool=pool, listed=True)


def past_ratings(pool: Pool, at: datetime, *, every_version: bool = False) -> list[Rating]:
    """The ratings as they were at a past moment, fitted anew from the boards that counted then; not saved. Six queries, more for many matches."""
    then = {
        match.pk: match for match in history.finished(Match.objects.filter(pool=pool, rated=True), at).only("finished")
    }
    played = totals.read_matches(list(then))
    rows = fits.rating_rows(pool, fits.fit_pool(pool, totals.tally_matches(pool, played.values())), at)
    last = fits.last_played((then[pk], match.versions) for pk, match in played.items())
    versions = BotVersion.objects.select_related("bot__owner").in_bulk([row.version_id for row in rows])
    for row in rows:
        row.version = versions[row.version_id]
        fits.note_played(row, None, last)
        row.idle = row.played is not None and row.played < at - idle.AFTER
    return [row for row in rows if row.listed or every_version]


def leaderboard(
    pool: Pool, *, every_version: bool = False, at: datetime | None = None, only: Only = ALL
) -> list[RankedBot]:
    """One row per bot (or per version), now or as it stood at a past moment. One query; of the past six."""
    found: Iterable[Rating] = (
        ratings(pool, every_version=every_version)
        if at is None
        else past_ratings(pool, at, every_version=every_version)
    )
    return [row for row in _placed(pool, found, 0) if only.takes(row.rating)]


def read_page(
    pool: Pool,
    cursor: keyset.Cursor | None = None,
    size: int = keyset.USUAL,
    *,
    every_version: bool = False,
    only: Only = ALL,
) -> keyset.Page[RankedBot]:
    """A page of the leaderboard of now. One query for the first page, two for all others: who stands above is counted in an index.

    Of some rows (`only`) two, and those of `Only.of`.
    """
    rows = ratings(pool, every_version=every_version)
    page = keyset.read_page(only.of(rows) if only else rows, BEST, cursor, size)
    if only:
        places = _places(rows, [(rating.elo, rating.version_id) for rating in page.rows])
        found = [_ranked(pool, rating, places[rating.version_id]) for rating in page if rating.version_id in places]
        return keyset.Page(found, page.before, page.after)
    above = 0
    if page.before is not None:
        before = BEST.beyond(BEST.values(page.rows[0]), back=True)
        above = rows.select_related(None).order_by().filter(before).count()
    return keyset.Page(_placed(pool, page.rows, above), page.before, page.after)


class Shown(NamedTuple):
    """A row of a leaderboard by its place, and what is shown of it as one text (prepared.Cells)."""

    place: int
    version: int
    elo: float
    cells: str


def read_cells(
    pool: int,
    columns: tuple[str, ...],
    cursor: keyset.Cursor | None = None,
    size: int = keyset.USUAL,
    *,
    version: int,
    every_version: bool = False,
    only: Only = ALL,
) -> keyset.Page[Shown]:
    """The same page without any model. One query, and another where places have to be counted.

    version: of the ratings of the pool (marks.of_ratings), read before. While it is the same, so are all places: those at the edges of a page
    are remembered, so that nothing is counted for who goes through a table page by page.
    """
    table = Table(pool, every_version)
    values = (pool, *(cursor.edge if cursor else ()), *([only.owner] if only.owner else []))
    found = _CELLS.rows((columns, cursor and cursor.back, size, every_version, only.show, bool(only.owner)), values)
    rows = [(int(row), float(elo), cells) for row, elo, cells in found]
    page = keyset.fold(rows, lambda row: (row[1], row[0]), cursor, size)
    keys = [Key(table, elo, row) for row, elo, _ in page]
    places = _places_of(keys, version) if only else _places_below(keys, version, page.before is not None, cursor)
    placed = [Shown(place, *row) for place, row in zip(places, page.rows, strict=True)]
    return keyset.Page(placed, page.before, page.after)


def is_there(pool: int) -> bool:
    """Whether there is such a pool. One query."""
    return bool(_POOL.rows((), (pool,)))


_POOL = Prepared(lambda _, values: Pool.objects.filter(pk=values[0]).values_list("pk"))


class Table(NamedTuple):
    """The rows of bots, or of every version, in a pool."""

    pool: int
    every_version: bool

    @property
    def rows(self) -> QuerySet[Rating]:
        """Without their order."""
        return Rating.objects.filter(pool=self.pool) if self.every_version else _listed(self.pool)


class Key(NamedTuple):
    """A row by what its place follows from."""

    table: Table
    elo: float
    version: int


_known: Held[Key, int] = Held(50_000)  # places


def _places_of(keys: Sequence[Key], version: int) -> list[int]:
    """The places of rows of one table, in their order, of which others may stand between. One query at most."""

    def count(missing: list[Key]) -> tuple[dict[Key, int], dict[Key, int]]:
        table = missing[0].table
        found = _places(table.rows, [(key.elo, key.version) for key in missing])
        made = {key: found.get(key.version, 0) for key in missing}  # 0: it has gone meanwhile, and the version with it
        return made, dict.fromkeys(made, version)

    there = _known.of_many(dict.fromkeys(keys, version), count)
    return [there[key] for key in keys]


def _places_below(keys: Sequence[Key], version: int, has_above: bool, cursor: keyset.Cursor | None) -> Sequence[int]:
    """The places of rows that stand one below the other. One query at most."""
    if not keys:
        return ()
    first = 1
    if has_above:
        beside = Key(keys[0].table, float(cursor.edge[0]), int(cursor.edge[1])) if cursor else keys[0]
        there = _known.find(dict.fromkeys((beside, keys[0]), version))
        if keys[0] in there:
            first = there[keys[0]]
        elif cursor and beside in there:
            first = there[beside] - len(keys) if cursor.back else there[beside] + 1
        else:
            shape, values = keys[0].table.every_version, (keys[0].table.pool, *keys[0][1:])
            first = 1 + sum(int(number) for (number,) in _ABOVE.rows(shape, values))
    edges = {keys[0]: first, keys[-1]: first + len(keys) - 1}
    _known.keep(edges, dict.fromkeys(edges, version))
    return range(first, first + len(keys))


def _cells(shape: Any, values: Sequence[Any]) -> QuerySet[Any, Any]:
    columns, back, size, every_version, show, of_owner = shape
    end = len(values) - of_owner
    cursor = None if back is None else keyset.Cursor(back, tuple(values[1:end]))
    rows = Table(values[0], every_version).rows
    if show == "active":
        rows = rows.filter(idle=False)
    if show == "house":
        rows = rows.filter(version__bot__is_house=True)
    if of_owner:
        rows = rows.filter(version__bot__owner__name=values[-1])
    return keyset.asked(rows, BEST, cursor, size).values_list("version_id", "elo", Cells(columns))


def _above(every_version: bool, values: Sequence[Any]) -> QuerySet[Any, Any]:
    rows = Table(values[0], every_version).rows.filter(BEST.beyond(values[1:], back=True)).order_by()
    return rows.values("pool").annotate(number=Count("*")).values_list("number")


_CELLS, _ABOVE = Prepared(_cells), Prepared(_above)


def _placed(pool: Pool, found: Iterable[Rating], above: int) -> list[RankedBot]:
    """Ratings in their order, `above` settled ones before them."""
    return [_ranked(pool, rating, place) for place, rating in enumerate(found, above + 1)]


def ranked(pool: int, versions: Sequence[int]) -> list[RankedBot]:
    """Lines of the leaderboard, without their places (0), where these versions are in it. Two queries."""
    found = Pool.objects.filter(pk=pool).first()
    rows = ratings(found, every_version=True).filter(version__in=versions) if found else ()
    return [_ranked(found, row, 0) for row in rows] if found else []


def _ranked(pool: Pool, rating: Rating, place: int) -> RankedBot:
    return RankedBot(place, rating, pools.have_partners(pool) and not rating.version.sealable)


def _places(rows: QuerySet[Rating], shown: Sequence[tuple[float, int]]) -> dict[int, int]:
    """The places of some rows (Elo, version) in the whole table `rows`, by version. One pass over its index down to the last of them."""
    if not shown:
        return {}
    down_to = rows.select_related(None).order_by().filter(elo__gte=shown[-1][0])
    counted = down_to.annotate(place=Window(RowNumber(), order_by=[F("elo").desc(), F("version_id")]))
    # A condition of the versions alone would hold before the rows are counted; beside one of the place it holds afterwards
    wanted = Q(version__in=[version for _, version in shown]) | Q(place=0)
    return dict(counted.filter(wanted).values_list("version_id", "place"))


def read_pools(cursor: keyset.Cursor | None, size: int, *, some: Some[Any]) -> keyset.Page[tuple[int, str]]:
    """The pools, newest first: ids, and nothing else (league.domain.core.listed). One query."""
    return _POOLS.read(("id",), cursor, size, some=some)


def read_ratings(
    columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int, *, version: int, some: Some[Any]
) -> keyset.Page[tuple[int, str]]:
    """The ratings of a version in all pools, newest first: ids, and what is shown of them as one text (prepared.Cells). One query."""
    return _RATINGS.read(columns, cursor, size, told=(version,), some=some)


def _ratings(_who: object, told: Sequence[Any]) -> QuerySet[Rating]:
    return Rating.objects.filter(version=told[0])


def read_history(
    columns: tuple[str, ...], cursor: keyset.Cursor | None, size: int, *, pool: int, some: Some[Any]
) -> keyset.Page[tuple[int, str]]:
    """How ratings of a pool changed, newest first: ids, and what is shown of each as one text (prepared.Cells). One query."""
    return _HISTORY.read(columns, cursor, size, told=(pool,), some=some)


def _history(_who: object, told: Sequence[Any]) -> QuerySet[RatingPoint]:
    return RatingPoint.objects.filter(pool=told[0])


def _pools(_who: object, _told: object) -> QuerySet[Pool]:
    return Pool.objects.all()


_POOLS, _RATINGS, _HISTORY = Listed(_pools), Listed(_ratings), Listed(_history)
