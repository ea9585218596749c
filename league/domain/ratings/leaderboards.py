"""The leaderboard of a pool, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, QuerySet

from league.domain.core import keyset, past
from league.domain.ratings import pools, sums
from league.domain.ratings import ratings as fits
from league.models import BotVersion, Match, Pool, PoolSums, Rating


@dataclass(frozen=True)
class RankedBot:
    """A line of the leaderboard. `place` counts the settled rows from 1; provisional ones stand among them without a place.

    `unsealed`: partners sit at these tables, and this bot cannot be sealed off from the clocks by which they could talk.
    """

    place: int | None
    rating: Rating
    unsealed: bool = False

    @property
    def ranks(self) -> str:
        """The ranks that the 95% comparisons leave possible, such as "2-4"."""
        best, worst = self.rating.rank_best, self.rating.rank_worst
        return str(best) if best == worst else f"{best}-{worst}"


BEST = keyset.Order(("-elo", "version_id"), (float, int))  # the order of a leaderboard


@dataclass(frozen=True)
class Uncounted:
    """Rated results of a pool that its leaderboard does not count yet: how many, and when the first of them finished."""

    matches: int
    since: datetime | None


def read_uncounted(pool: Pool) -> Uncounted:
    """What a leaderboard that is read afterwards may lack: every other result that was in the league at this moment is in it. One query."""
    found = sums.rated_matches(pool).filter(counted=None).aggregate(matches=Count("pk"), since=Min("finished"))
    return Uncounted(**found)


def read_owed(pool: Pool) -> PoolSums | None:
    """The moments up to which the strengths of all and the margins and ranks count every counted result; None where they count all. One query."""
    return PoolSums.objects.filter(pool=pool).exclude(ranked=F("stamp")).defer("data").first()


def ratings(pool: Pool, *, every_version: bool = False) -> QuerySet[Rating]:
    """The ratings of `pool`, best first, with version, bot and owner loaded."""
    rows = Rating.objects.filter(pool=pool) if every_version else Rating.objects.filter(pool=pool, listed=True)
    return rows.select_related("version__bot__owner").order_by(*BEST.names)


def past_ratings(pool: Pool, at: datetime, *, every_version: bool = False) -> list[Rating]:
    """The ratings as they were at a past moment, fitted anew from the boards that counted then; not saved. Six queries, more for many matches."""
    then = past.finished(Match.objects.filter(pool=pool, rated=True), at).values_list("pk", flat=True)
    played = sums.read_matches(list(then)).values()
    rows = fits.rating_rows(pool, fits.fit_pool(pool, sums.tally_matches(pool, played)), at)
    versions = BotVersion.objects.select_related("bot__owner").in_bulk([row.version_id for row in rows])
    for row in rows:
        row.version = versions[row.version_id]
    return [row for row in rows if row.listed or every_version]


def leaderboard(pool: Pool, *, every_version: bool = False, at: datetime | None = None) -> list[RankedBot]:
    """One row per bot (or per version), now or as it stood at a past moment. One query; of the past six."""
    found: Iterable[Rating] = (
        ratings(pool, every_version=every_version)
        if at is None
        else past_ratings(pool, at, every_version=every_version)
    )
    return _placed(pool, found, 0)


def read_page(
    pool: Pool, cursor: keyset.Cursor | None = None, size: int = keyset.USUAL, *, every_version: bool = False
) -> keyset.Page[RankedBot]:
    """A page of the leaderboard of now. One query for the first page, two for all others: who stands above is counted in an index."""
    rows = ratings(pool, every_version=every_version)
    page = keyset.read_page(rows, BEST, cursor, size)
    above = 0
    if page.before is not None:
        before = BEST.beyond(BEST.values(page.rows[0]), back=True)
        above = rows.select_related(None).order_by().filter(before, provisional=False).count()
    return keyset.Page(_placed(pool, page.rows, above), page.before, page.after)


def _placed(pool: Pool, found: Iterable[Rating], above: int) -> list[RankedBot]:
    """Ratings in their order, `above` settled ones before them."""
    rows: list[RankedBot] = []
    partners = pools.have_partners(pool)
    for rating in found:
        above += not rating.provisional
        unsealed = partners and not rating.version.sealable
        rows.append(RankedBot(None if rating.provisional else above, rating, unsealed))
    return rows
