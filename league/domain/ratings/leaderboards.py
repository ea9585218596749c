"""The leaderboard of a pool, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from league.domain.core import history, paging
from league.domain.ratings import idle, pools, totals
from league.domain.ratings import ratings as fits
from league.models import BotVersion, Match, Pool, PoolSums, Rating


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


BEST = paging.Order(("-elo", "version_id"), (float, int))  # the order of a leaderboard


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
    cursor: paging.Cursor | None = None,
    size: int = paging.DEFAULT_SIZE,
    *,
    every_version: bool = False,
    only: Only = ALL,
) -> paging.Page[RankedBot]:
    """A page of the leaderboard of now. One query for the first page, two for all others: who stands above is counted in an index.

    Of some rows (`only`) two, and those of `Only.of`.
    """
    rows = ratings(pool, every_version=every_version)
    page = paging.read_page(only.of(rows) if only else rows, BEST, cursor, size)
    if only:
        places = _places(rows, [(rating.elo, rating.version_id) for rating in page.rows])
        found = [_ranked(pool, rating, places[rating.version_id]) for rating in page if rating.version_id in places]
        return paging.Page(found, page.before, page.after)
    above = 0
    if page.before is not None:
        before = BEST.beyond(BEST.values(page.rows[0]), back=True)
        above = rows.select_related(None).order_by().filter(before).count()
    return paging.Page(_placed(pool, page.rows, above), page.before, page.after)


def _placed(pool: Pool, found: Iterable[Rating], above: int) -> list[RankedBot]:
    """Ratings in their order, `above` settled ones before them."""
    return [_ranked(pool, rating, place) for place, rating in enumerate(found, above + 1)]


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
