"""The pools of a game, and the one that the viewer has chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import engine
from league.domain.core.counts import count_of
from league.models import Pool, Rating


def rated_pools(keys: Iterable[str], *, remote: bool = False) -> dict[str, list[Pool]]:
    """Return the rated pools of each game, the usual one (no options, usual number of players) first, those of remote bots last if at all.

    Each pool has its number of ratings as `rated`. One query.
    """
    pools_by_game: dict[str, list[Pool]] = defaultdict(list)
    usual = {key: engine.load(key).players for key in engine.games()}
    rows = Pool.objects.filter(game__in=list(keys), remote__in=[False, remote])
    counted = rows.annotate(rated=count_of(Rating.objects.filter(listed=True), "pool"))
    for pool in counted.order_by("-revision", "pk"):
        if vars(pool)["rated"]:  # A condition in the query would count the ratings twice.
            pools_by_game[pool.game].append(pool)
    for pools in pools_by_game.values():
        pools.sort(key=lambda pool: (pool.remote, bool(pool.options), pool.players != usual[pool.game]))
    return pools_by_game


def chosen_pool(pools: list[Pool], selected: str) -> Pool | None:
    """Return the pool that `?pool=` selects, else the first."""
    return next((pool for pool in pools if str(pool.pk) == selected), pools[0] if pools else None)
