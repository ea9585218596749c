"""One table over all games: how a bot would do on a board of any game against the field of that game.

Ratings of two games are not on one scale, so boards of different games never enter one fit. What can be averaged is the expected score
against the field, a share from 0 to 1. A game that a bot has not played counts 1/2 and is marked, so nobody gains by playing one game.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

from django.db.models import Count, Sum

import engine
from engine.portable import add_up
from league.domain.core import keyset
from league.models import Bot, Pool, Rating
from league.pure.portable import comparable
from league.pure.rating.leaderboard import Z95
from league.service import marks
from league.service.remembered import Remembered


@dataclass(frozen=True)
class OverallLine:
    """A bot in the table over all games. `place` is None for one that has played fewer than half of the games."""

    place: int | None
    bot: Bot
    score: float  # mean over the games of the expected score, 0 to 1
    margin: float  # half of the 95% interval
    games: dict[str, float]  # expected score in each game it has played
    missing: tuple[str, ...]  # games in which it counts 1/2


def usual_pools() -> dict[str, Pool]:
    """For each game the pool of its usual table: no options, usual number of players, no mixed sides, present revision. One query."""
    found = {}
    loaded = {key: engine.load(key) for key in engine.games()}
    for pool in Pool.objects.filter(game__in=loaded, options={}).exclude(team="mixed").order_by("pk"):
        usual = loaded[pool.game]
        if (pool.players, pool.revision) == (usual.players, usual.revision):
            found[pool.game] = pool
    return found


@dataclass(frozen=True)
class _Order:
    """The whole table, best first: bot, games played, sum of the expected scores."""

    rows: list[tuple[int, int, float]]
    enough: int  # of the rows have a place
    games: list[str]  # that anybody has played
    pools: Mapping[int, str]  # of all games


@dataclass(frozen=True)
class Place:
    """A row of the table: a bot, and its place; None below half of the games."""

    bot: int
    place: int | None


_Scores: TypeAlias = dict[str, tuple[float, float]]  # by game: expected score and its standard deviation
_order: Remembered[str, _Order] = Remembered(1)


def read_page(cursor: keyset.Cursor | None = None, size: int = keyset.USUAL) -> keyset.Page[OverallLine]:
    """A page of the table, the best bot first. Bots that have played fewer than half of the games stand last. Five queries.

    The order follows from sums that the database makes, remembered while no rating changes; scores are read of the bots of the page alone.
    """
    order = _read_order()
    page = _cut(order, cursor, size)
    there = _read_lines(order, page.rows)
    return keyset.Page([there[row.bot] for row in page if row.bot in there], page.before, page.after)


def _read_order() -> _Order:
    return _order.of(
        "overall", marks.POOLS, lambda _: _ordered({pool.pk: game for game, pool in usual_pools().items()})
    )


def _cut(order: _Order, cursor: keyset.Cursor | None, size: int) -> keyset.Page[Place]:
    page = keyset.cut_page(range(len(order.rows)), cursor, size)
    rows = [Place(order.rows[at][0], at + 1 if at < order.enough else None) for at in page]
    return keyset.Page(rows, page.before, page.after)


def _read_lines(order: _Order, places: Sequence[Place]) -> dict[int, OverallLine]:
    shown = {one.bot: one.place for one in places}
    bots = Bot.objects.select_related("owner").in_bulk(shown) if shown else {}
    by_bot: defaultdict[int, _Scores] = defaultdict(dict)
    # Values, for a page shows a thousand: of each bot one in every game
    scores = Rating.objects.filter(pool__in=order.pools, listed=True, version__bot__in=bots).order_by("pk")
    for bot, pool, score, sd in scores.values_list("version__bot", "pool", "field_score", "field_sd"):
        by_bot[bot][order.pools[pool]] = (score, sd)
    return {bot: _line(shown[bot], bots[bot], played, order.games) for bot, played in by_bot.items()}


def _ordered(pools: Mapping[int, str]) -> _Order:
    listed = Rating.objects.filter(pool__in=pools, listed=True).order_by()
    by_bots = listed.values_list("version__bot")
    rows = list(by_bots.annotate(played=Count("pk"), total=Sum("field_score")))
    games = sorted(pools[pk] for pk in listed.values_list("pool", flat=True).distinct()) if rows else []

    def key(row: tuple[int, int, float]) -> tuple[bool, float, int]:
        bot, played, total = row
        # The database adds up in the order of its rows. Of equals the older bot stands first
        return 2 * played < len(games), -comparable(total + (len(games) - played) / 2), bot

    enough = sum(2 * played >= len(games) for _, played, _ in rows)
    return _Order(sorted(rows, key=key), enough, games, pools)


def _line(place: int | None, bot: Bot, played: _Scores, games: list[str]) -> OverallLine:
    missing = tuple(game for game in games if game not in played)
    score = (add_up(score for score, _ in played.values()) + len(missing) / 2) / len(games)
    sd = sqrt(add_up(sd**2 for _, sd in played.values())) / len(games)
    scores = {game: score for game, (score, _) in sorted(played.items())}
    return OverallLine(place, bot, comparable(score), comparable(Z95 * sd), scores, missing)
