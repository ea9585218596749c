"""The best bots of every game, for the front page."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import F, Window
from django.db.models.functions import RowNumber

import engine
from league.domain.ratings import leaderboards
from league.models import Pool, Rating
from league.service import marks
from league.service.remembered import Remembered
from league.web.common.game_lines import DescribedGame, describe_game
from league.web.common.pools import rated_pools


@dataclass(frozen=True)
class GameLeaders:
    """One game: its first pool that has ratings (None where there is none), the best bots of it, and how many are rated in it."""

    game: DescribedGame
    pool: Pool | None
    lines: list[leaderboards.RankedBot]
    bots: int


_best: Remembered[int, list[int]] = Remembered(10)


def leaders_by_game(most: int = 5) -> list[GameLeaders]:
    """The best of the usual table of every game; games without ratings come last. Three queries, one more where a rating has changed."""
    pools = {key: found[0] for key, found in rated_pools(engine.games()).items()}
    best = _best.of(most, marks.POOLS, lambda _: _read_best(list(pools.values()), most))
    lines: dict[int, list[leaderboards.RankedBot]] = defaultdict(list)
    shown_rows = Rating.objects.filter(pk__in=best, listed=True).select_related("version__bot__owner")
    for rating in shown_rows.order_by(*leaderboards.BEST.names):
        shown = lines[rating.pool_id]
        shown.append(leaderboards.RankedBot(len(shown) + 1, rating))
    found = []
    for key in engine.games():
        pool = pools.get(key)
        found.append(
            GameLeaders(describe_game(key), pool, lines[pool.pk] if pool else [], vars(pool)["rated"] if pool else 0)
        )
    return sorted(found, key=lambda leaders: leaders.pool is None)


def _read_best(pools: list[Pool], most: int) -> list[int]:
    place = Window(RowNumber(), partition_by=F("pool_id"), order_by=[F("elo").desc(), F("version_id")])
    listed = Rating.objects.filter(pool__in=pools, listed=True).annotate(place=place)
    return list(listed.filter(place__lte=most).values_list("pk", flat=True))
