"""The best bots of every game, for the front page."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import F, Window
from django.db.models.functions import RowNumber

import engine
from league.domain.ratings import leaderboards
from league.models import Pool, Rating
from league.web.common.game_lines import DescribedGame, describe_game
from league.web.common.pools import rated_pools


@dataclass(frozen=True)
class GameLeaders:
    """One game: its first pool that has ratings (None where there is none), the best bots of it, and how many are rated in it."""

    game: DescribedGame
    pool: Pool | None
    lines: list[leaderboards.RankedBot]
    bots: int


def leaders_by_game(most: int = 5) -> list[GameLeaders]:
    """The best of the usual table of every game; games without ratings come last. Two queries."""
    pools = {key: found[0] for key, found in rated_pools(engine.games()).items()}
    place = Window(RowNumber(), partition_by=F("pool_id"), order_by=[F("elo").desc(), F("version_id")])
    listed = Rating.objects.filter(pool__in=list(pools.values()), listed=True).annotate(place=place)
    lines: dict[int, list[leaderboards.RankedBot]] = defaultdict(list)
    for rating in listed.filter(place__lte=most).select_related("version__bot__owner").order_by("place"):
        shown = lines[rating.pool_id]
        shown.append(leaderboards.RankedBot(len(shown) + 1, rating))
    found = []
    for key in engine.games():
        pool = pools.get(key)
        found.append(
            GameLeaders(describe_game(key), pool, lines[pool.pk] if pool else [], vars(pool)["rated"] if pool else 0)
        )
    return sorted(found, key=lambda leaders: leaders.pool is None)
