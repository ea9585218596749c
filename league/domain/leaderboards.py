"""The leaderboard of a pool, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from league.models import Pool, Rating


@dataclass(frozen=True)
class Row:
    """A line of the leaderboard. `place` counts the settled rows from 1; provisional ones stand among them without a place."""

    place: int | None
    rating: Rating

    @property
    def ranks(self) -> str:
        """The ranks that the 95% comparisons leave possible, such as "2-4"."""
        best, worst = self.rating.rank_best, self.rating.rank_worst
        return str(best) if best == worst else f"{best}-{worst}"


def ratings(pool: Pool, *, every_version: bool = False) -> QuerySet[Rating]:
    """The ratings of `pool`, best first, with version, bot and owner loaded."""
    rows = Rating.objects.filter(pool=pool) if every_version else Rating.objects.filter(pool=pool, listed=True)
    return rows.select_related("version__bot__owner").order_by("-elo", "version_id")


def leaderboard(pool: Pool, *, every_version: bool = False) -> list[Row]:
    """One row per bot (or per version). One query."""
    rows: list[Row] = []
    settled = 0
    for rating in ratings(pool, every_version=every_version):
        settled += not rating.provisional
        rows.append(Row(None if rating.provisional else settled, rating))
    return rows
