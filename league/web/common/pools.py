"""The pools that a game is rated in, and the one that a reader has chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import engine
from league.domain.core.counts import count_of
from league.models import Pool, Rating


def rated_pools(keys: Iterable[str]) -> dict[str, list[Pool]]:
    """The pools with ratings of each game, the usual table (no options, usual number of players) first.

    `rated` of each is the number of its ratings. One query.
    """
    found: dict[str, list[Pool]] = defaultdict(list)
    usual = {key: engine.load(key).players for key in engine.games()}
    counted = Pool.objects.filter(game__in=list(keys)).annotate(
        rated=count_of(Rating.objects.filter(listed=True), "pool")
    )
    for pool in counted.filter(rated__gt=0).order_by("-revision", "pk"):
        found[pool.game].append(pool)
    for pools in found.values():
        pools.sort(key=lambda pool: (bool(pool.options), pool.players != usual[pool.game]))
    return found


def chosen_pool(pools: list[Pool], asked: str) -> Pool | None:
    """The pool that `?pool=` asks for, else the first."""
    return next((one for one in pools if str(one.pk) == asked), pools[0] if pools else None)
