"""The table over all games: how a bot would do on a board of any game against the field of that game.

Ratings of different games are not on one scale, so their boards never enter one fit. But the expected score against the field, from 0 to 1, can be
averaged. A game that a bot has not played counts 1/2 and is marked, so nobody gains by playing one game only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np
from django.db.models import Count, Sum

import engine
from engine.portable import add_up
from league.domain.core import paging
from league.models import Bot, Pool, Rating
from league.pure.portable import comparable
from league.pure.rating.leaderboard import Z95
from league.service import changes
from league.service.process_cache import ProcessCache


@dataclass(frozen=True)
class OverallLine:
    """A bot in the table over all games. `place` is None if it has played fewer than half of the games."""

    place: int | None
    bot: Bot
    score: float  # Mean over the games of the expected score, 0 to 1.
    margin: float  # Half of the 95% interval.
    games: dict[str, float]  # Expected score in each game that it has played.
    missing: tuple[str, ...]  # Games that count 1/2.


def usual_pools() -> dict[str, Pool]:
    """Return the usual pool of each game: default options and number of players, no mixed sides, no remote bots, current revision. One query."""
    pools = {}
    loaded = {key: engine.load(key) for key in engine.games()}
    for pool in Pool.objects.filter(game__in=loaded, options={}, remote=False).exclude(team="mixed").order_by("pk"):
        usual = loaded[pool.game]
        if (pool.players, pool.revision) == (usual.players, usual.revision):
            pools[pool.game] = pool
    return pools


@dataclass(frozen=True)
class _Order:
    """The whole table, the best bot first."""

    bots: list[int]
    ranked: int  # The number of bots with a place; these have played at least half of the games
    games: list[str]  # Games that any bot has played
    pools: Mapping[int, str]  # The game of each pool


_Scores: TypeAlias = dict[str, tuple[float, float]]  # The expected score and its standard deviation, by game
_order: ProcessCache[str, _Order] = ProcessCache(1)


def read_page(cursor: paging.Cursor | None = None, size: int = paging.DEFAULT_SIZE) -> paging.Page[OverallLine]:
    """Return a page of the table, the best bot first; bots that have played fewer than half of the games come last. Three queries.

    The order is cached while no rating changes; computing it takes two more queries.
    """
    order = _order.get("overall", changes.POOLS, lambda _: _read_order())
    page = paging.cut_page(range(len(order.bots)), cursor, size)
    places = {order.bots[at]: at + 1 if at < order.ranked else None for at in page}
    lines = _read_lines(order, places)
    return paging.Page([lines[bot] for bot in places if bot in lines], page.before, page.after)


def _read_order() -> _Order:
    pools = {pool.pk: game for game, pool in usual_pools().items()}
    listed = Rating.objects.filter(pool__in=pools, listed=True).order_by()
    rows = list(listed.values_list("version__bot").annotate(Count("pk"), Sum("field_score")))
    if not rows:
        return _Order([], 0, [], pools)
    games = sorted(pools[pk] for pk in listed.values_list("pool", flat=True).distinct())
    bots, played, totals = (np.array(column) for column in zip(*rows, strict=True))
    # The database adds in the order of its rows, so sums are rounded before they are compared. Of equal bots the older one comes first.
    scores = comparable(totals + (len(games) - played) / 2)
    is_late = 2 * played < len(games)
    order = np.lexsort((bots, -scores, is_late))
    return _Order(bots[order].tolist(), int(np.count_nonzero(~is_late)), games, pools)


def _read_lines(order: _Order, places: Mapping[int, int | None]) -> dict[int, OverallLine]:
    """Return the lines of these bots, except those that have left the tables since."""
    bots = Bot.objects.select_related("owner", "team").in_bulk(places) if places else {}
    by_bot: defaultdict[int, _Scores] = defaultdict(dict)
    # Plain values, because a page has more than a thousand ratings: one for each bot and game.
    # Of all pools: with their names in the query PostgreSQL would read the ratings of all bots in these pools.
    scores = Rating.objects.filter(listed=True, version__bot__in=bots).order_by("pk")
    for bot, pool, score, sd in scores.values_list("version__bot", "pool", "field_score", "field_sd"):
        if pool in order.pools:
            by_bot[bot][order.pools[pool]] = (score, sd)
    return {bot: _line(places[bot], bots[bot], played, order.games) for bot, played in by_bot.items()}


def _line(place: int | None, bot: Bot, played: _Scores, games: list[str]) -> OverallLine:
    missing = tuple(game for game in games if game not in played)
    score = (add_up(score for score, _ in played.values()) + len(missing) / 2) / len(games)
    sd = sqrt(add_up(sd**2 for _, sd in played.values())) / len(games)
    scores = {game: score for game, (score, _) in sorted(played.items())}
    return OverallLine(place, bot, comparable(score), comparable(Z95 * sd), scores, missing)
