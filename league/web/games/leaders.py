"""The best bots of some games, for the front page and the list of games."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from league.domain.ratings import leaderboards
from league.models import Pool, Rating
from league.web.common.game_lines import DescribedGame, describe_game
from league.web.common.pools import rated_pools
from league.web.games.bars import LeaderboardLine, with_bars


@dataclass(frozen=True)
class GameLeaders:
    """One game: its first rated pool, the best bots and the number of rated bots."""

    game: DescribedGame
    pool: Pool
    lines: list[LeaderboardLine]
    bots: int


def leaders_of(keys: Sequence[str], games: int, most: int = 5) -> list[GameLeaders]:
    """Return the best bots of the first `games` games that have ratings, in the order of `keys`. Three queries."""
    rated = rated_pools(keys)
    pools = [rated[key][0] for key in keys if key in rated][:games]
    ratings: dict[int, list[Rating]] = defaultdict(list)
    rows = Rating.objects.filter(pk__in=_best_ratings(pools, most)).select_related(
        "version__bot__owner", "version__bot__team"
    )
    for rating in rows.order_by(*leaderboards.BEST.names):
        ratings[rating.pool_id].append(rating)
    leaders = []
    for pool in pools:
        best = [leaderboards.RankedBot(place, rating) for place, rating in enumerate(ratings[pool.pk], 1)]
        lines, _axis = with_bars(best)
        leaders.append(GameLeaders(describe_game(pool.game), pool, lines, vars(pool)["rated"]))
    return leaders


def _best_ratings(pools: list[Pool], most: int) -> list[int]:
    """Return the ids of the best ratings of each pool, with one index look-up for each: a window function would read every rating."""
    best = Rating.objects.filter(pool=OuterRef("pk"), listed=True).order_by(*leaderboards.BEST.names).values("pk")
    places = {f"best_{place}": Subquery(best[place : place + 1]) for place in range(most)}
    rows = Pool.objects.filter(pk__in=[pool.pk for pool in pools]).annotate(**places).values_list(*places)
    return [pk for row in rows for pk in row if pk is not None]
