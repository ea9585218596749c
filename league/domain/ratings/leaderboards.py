"""The leaderboard of a pool, ready to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from engine.runner.limits import LEAST_NOISE_S, Limits
from league.domain.core import history, paging
from league.domain.ratings import idle, totals
from league.domain.ratings import ratings as fits
from league.models import BotVersion, Match, Pool, PoolSums, Rating


@dataclass(frozen=True)
class Moved:
    """The change of a bot's place (negative: down) and Elo since a day."""

    places: int
    elo: float

    @property
    def down(self) -> int:
        """Return the places lost; 0 or less if it has not fallen."""
        return -self.places


@dataclass(frozen=True)
class RankedBot:
    """A row of the leaderboard. `place` counts all rows of the table from 1, by certain Elo, provisional ones included.

    `unsealed`: this bot cannot be kept from reading a clock, by which bots could communicate. `day`, `week`: its movement
    (`league.domain.ratings.daily`); None if not computed, or if it had no place then.
    """

    place: int
    rating: Rating
    unsealed: bool = False
    day: Moved | None = None
    week: Moved | None = None

    @property
    def ranks(self) -> str:
        """Return the ranks that the 95% comparisons allow, such as "2-4"."""
        best, worst = self.rating.rank_best, self.rating.rank_worst
        return str(best) if best == worst else f"{best}-{worst}"


BEST = paging.Order(("-certain", "version_id"), (float, int))  # The order of a leaderboard.


FAST_S = 0.01  # CPU seconds of a decision.
SMALL = 1024 * 1024  # Bytes of a package.


@dataclass(frozen=True)
class ResourceLimit:
    """A resource league: the versions of a pool that keep a limit, ranked among themselves by their ratings in the pool.

    It needs no matches of its own. `rows`: the condition on ratings; `keeps`: the same for a row with version, bot and package.
    """

    rows: Q
    keeps: Callable[[Rating], bool]

    @classmethod
    def of_decisions(cls, seconds: float) -> ResourceLimit:
        """Return the limit on the slowest decision in all counted matches, and what the clock of any worker may add to it."""
        most = seconds + LEAST_NOISE_S
        return cls(Q(slowest_s__lte=most), lambda row: row.slowest_s is not None and row.slowest_s <= most)


LIMITS = {
    "fast": ResourceLimit.of_decisions(FAST_S),
    "steady": ResourceLimit.of_decisions(Limits.move_s),  # It never draws on the bank.
    "small": ResourceLimit(Q(version__package__size__lte=SMALL), lambda row: row.version.package.size <= SMALL),
    "open": ResourceLimit(
        Q(version__opened__isnull=False, version__bot__stopped=None),
        lambda row: row.version.opened is not None and row.version.bot.stopped is None,
    ),
}


@dataclass(frozen=True)
class Only:
    """A filter for a table: bots that are not idle ("active"), house bots ("house"), bots of one owner.

    The bots keep their places in the whole table; with a limit, in the table of the versions that keep it.
    """

    show: str = ""
    owner: str = ""
    limit: str = ""

    SHOWS = ("active", "house")

    def __bool__(self) -> bool:
        return bool(self.show or self.owner)

    def restrict_table(self, rows: QuerySet[Rating]) -> QuerySet[Rating]:
        """Filter `rows` to those that keep the limit, among which the others have their places."""
        return rows.filter(LIMITS[self.limit].rows) if self.limit else rows

    def restrict(self, rows: QuerySet[Rating]) -> QuerySet[Rating]:
        """Filter `rows` in a way that still allows the index for their order.

        One query each for house and owner: it reads the ids of their versions.
        """
        if self.show == "active":
            rows = rows.filter(idle=False)
        if self.show == "house":
            rows = rows.filter(version__in=_versions(Q(bot__is_house=True)))
        if self.owner:
            rows = rows.filter(version__in=_versions(Q(bot__owner__name=self.owner)))
        return rows

    def includes(self, row: Rating) -> bool:
        """Return True if the filter includes a row, which must have its bot and owner loaded."""
        bot = row.version.bot
        if (self.show == "active" and row.idle) or (self.show == "house" and not bot.is_house):
            return False
        return not self.owner or bot.owner.name == self.owner


ALL = Only()


def _versions(condition: Q) -> list[int]:
    return list(BotVersion.objects.filter(condition).values_list("pk", flat=True))


@dataclass(frozen=True)
class Uncounted:
    """The rated results of a pool that its leaderboard does not include yet: their number, and when the first of them finished."""

    matches: int
    since: datetime | None


def read_uncounted(pool: Pool) -> Uncounted:
    """Return which results a leaderboard that is read afterwards may lack; it includes all others that have finished by now. One query."""
    counts = totals.rated_matches(pool).filter(counted=None).aggregate(matches=Count("pk"), since=Min("finished"))
    return Uncounted(**counts)


def read_owed(pool: Pool) -> PoolSums | None:
    """Return up to which times the strengths, and the margins and ranks, include every counted result; None if both are current. One query."""
    return PoolSums.objects.filter(pool=pool).exclude(ranked=F("stamp")).defer("data").first()


def ratings(pool: Pool, *, every_version: bool = False) -> QuerySet[Rating]:
    """Select the ratings of `pool`, best first, with version, bot and owner loaded."""
    rows = Rating.objects.filter(pool=pool) if every_version else _listed(pool.pk)
    return rows.select_related("version__bot__owner", "version__bot__team").order_by(*BEST.names)


def _listed(pool: int) -> QuerySet[Rating]:
    return Rating.objects.filter(pool=pool, listed=True)


def past_ratings(pool: Pool, at: datetime, *, every_version: bool = False) -> list[Rating]:
    """Fit the ratings as they were at a time, from the boards that counted then; nothing is saved. Six queries, more for many matches."""
    then = {
        match.pk: match for match in history.finished(Match.objects.filter(pool=pool, rated=True), at).only("finished")
    }
    played = totals.read_matches(list(then))
    rows = fits.rating_rows(pool, fits.fit_pool(pool, totals.tally_matches(pool, played.values())), at)
    last = fits.note_matches((then[pk], match) for pk, match in played.items())
    loaded = BotVersion.objects.select_related("bot__owner", "bot__team", "package").defer("package__data")
    versions = loaded.in_bulk([row.version_id for row in rows])
    for row in rows:
        row.version = versions[row.version_id]
        fits.note_played(row, None, last)
        row.idle = row.played is not None and row.played < at - idle.AFTER
    return [row for row in rows if row.listed or every_version]


def leaderboard(
    pool: Pool, *, every_version: bool = False, at: datetime | None = None, only: Only = ALL
) -> list[RankedBot]:
    """Return one row per bot (or version), now or as of a past time. One query; six for the past."""
    rows: Iterable[Rating] = (
        only.restrict_table(ratings(pool, every_version=every_version))
        if at is None
        else past_ratings(pool, at, every_version=every_version)
    )
    if only.limit and at is not None:
        rows = [row for row in rows if LIMITS[only.limit].keeps(row)]
    return [row for row in _placed(rows, 0) if only.includes(row.rating)]


def read_page(
    pool: Pool,
    cursor: paging.Cursor | None = None,
    size: int = paging.DEFAULT_SIZE,
    *,
    every_version: bool = False,
    only: Only = ALL,
) -> paging.Page[RankedBot]:
    """Return a page of the current leaderboard. One query for the first page, two for the others, which count the rows above in an index.

    With a filter two queries, and those of `Only.restrict`.
    """
    rows = only.restrict_table(ratings(pool, every_version=every_version))
    page = paging.read_page(only.restrict(rows) if only else rows, BEST, cursor, size)
    if only:
        places = _places(rows, [(rating.certain, rating.version_id) for rating in page.rows])
        ranked_rows = [_ranked(rating, places[rating.version_id]) for rating in page if rating.version_id in places]
        return paging.Page(ranked_rows, page.before, page.after)
    above = 0
    if page.before is not None:
        before = BEST.beyond(BEST.values(page.rows[0]), back=True)
        above = rows.select_related(None).order_by().filter(before).count()
    return paging.Page(_placed(page.rows, above), page.before, page.after)


def _placed(rows: Iterable[Rating], above: int) -> list[RankedBot]:
    """Give ratings their places in this order, after `above` rows."""
    return [_ranked(rating, place) for place, rating in enumerate(rows, above + 1)]


def _ranked(rating: Rating, place: int) -> RankedBot:
    return RankedBot(place, rating, not rating.version.sealable)


def _places(rows: QuerySet[Rating], keys: Sequence[tuple[float, int]]) -> dict[int, int]:
    """Return the places of some rows (certain Elo, version) in the whole table `rows`, by version. Reads its index once, down to the last of them."""
    if not keys:
        return {}
    down_to = rows.select_related(None).order_by().filter(certain__gte=keys[-1][0])
    counted = down_to.annotate(place=Window(RowNumber(), order_by=[F("certain").desc(), F("version_id")]))
    # A condition on the versions alone would be applied before the rows are counted; combined with one on the place, it is applied afterwards.
    condition = Q(version__in=[version for _, version in keys]) | Q(place=0)
    return dict(counted.filter(condition).values_list("version_id", "place"))
