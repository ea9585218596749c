"""One table over all games: how a bot would do on a board of any game against the field of that game.

Ratings of two games are not on one scale, so boards of different games never enter one fit. What can be averaged is the expected score
against the field, a share from 0 to 1. A game that a bot has not played counts 1/2 and is marked, so nobody gains by playing one game.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt

import engine
from league.models import Bot, Pool, Rating
from league.pure.rating.leaderboard import Z95


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


def overall_table() -> list[OverallLine]:
    """The lines of the table, the best bot first. Bots that have played fewer than half of the games stand last. Two queries."""
    pools = {pool.pk: game for game, pool in usual_pools().items()}
    listed = Rating.objects.filter(pool__in=pools, listed=True).select_related("version__bot__owner")
    by_bot: defaultdict[int, dict[str, Rating]] = defaultdict(dict)
    for rating in listed.order_by("pk"):
        by_bot[rating.version.bot_id][pools[rating.pool_id]] = rating
    games = sorted({game for played in by_bot.values() for game in played})
    rows = sorted((_row(played, games) for played in by_bot.values()), key=lambda row: (-row[0], row[1].score * -1))
    found: list[OverallLine] = []
    for enough, row in rows:
        found.append(
            OverallLine(len(found) + 1 if enough else None, row.bot, row.score, row.margin, row.games, row.missing)
        )
    return found


def _row(played: dict[str, Rating], games: list[str]) -> tuple[bool, OverallLine]:
    """Whether a bot has played half of the games, and its row without a place."""
    missing = tuple(game for game in games if game not in played)
    score = (sum(rating.field_score for rating in played.values()) + len(missing) / 2) / len(games)
    sd = sqrt(sum(rating.field_sd**2 for rating in played.values())) / len(games)
    bot = next(iter(played.values())).version.bot
    scores = {game: rating.field_score for game, rating in sorted(played.items())}
    return 2 * len(played) >= len(games), OverallLine(None, bot, score, Z95 * sd, scores, missing)
