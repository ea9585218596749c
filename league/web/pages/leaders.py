"""The best bots of every game, for the front page."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

import engine
from league.domain.ratings import leaderboards
from league.models import Pool, Rating
from league.web.common.game_lines import DescribedGame, describe_game
from league.web.common.pools import rated_pools


@dataclass(frozen=True)
class GameLeaders:
    """One game: its first rated pool (or None), the best bots and the number of rated bots."""

    game: DescribedGame
    pool: Pool | None
    lines: list[leaderboards.RankedBot]
    bots: int


def leaders_by_game(most: int = 5) -> list[GameLeaders]:
    """Return the best bots of every game; games without ratings come last. Three queries."""
    pools = {key: rated[0] for key, rated in rated_pools(engine.games()).items()}
    lines: dict[int, list[leaderboards.RankedBot]] = defaultdict(list)
    shown_rows = Rating.objects.filter(pk__in=_best_ratings(list(pools.values()), most)).select_related(
        "version__bot__owner"
    )
    for rating in shown_rows.order_by(*leaderboards.BEST.names):
        ranked = lines[rating.pool_id]
        ranked.append(leaderboards.RankedBot(len(ranked) + 1, rating))
    leaders_list = []
    for key in engine.games():
        pool = pools.get(key)
        leaders_list.append(
            GameLeaders(describe_game(key), pool, lines[pool.pk] if pool else [], vars(pool)["rated"] if pool else 0)
        )
    return sorted(leaders_list, key=lambda leaders: leaders.pool is None)


def _best_ratings(pools: list[Pool], most: int) -> list[int]:
    """Return the ids of the best ratings of each pool: one look into an index for each, where a window would read every rating."""
    best = Rating.objects.filter(pool=OuterRef("pk"), listed=True).order_by(*leaderboards.BEST.names).values("pk")
    places = {f"best_{place}": Subquery(best[place : place + 1]) for place in range(most)}
    rows = Pool.objects.filter(pk__in=[pool.pk for pool in pools]).annotate(**places).values_list(*places)
    return [pk for row in rows for pk in row if pk is not None]
