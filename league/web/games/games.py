"""The games and their leaderboards."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

import engine
from league.domain.ratings import leaderboards
from league.domain.ratings import overall as all_games
from league.web.common import charts, queries
from league.web.common.game_lines import describe

MOST_ROWS = 500  # of the table over all games


def games(request: HttpRequest) -> HttpResponse:
    """Every game that the engine knows."""
    pools = queries.pools_of(engine.games())
    rows = [(describe(key), pools.get(key, [])) for key in engine.games()]
    return render(request, "games/games.html", {"rows": rows})


def overall(request: HttpRequest) -> HttpResponse:
    """The table over all games: its first rows. Two queries."""
    return render(request, "ratings/overall.html", {"rows": all_games.overall_table()[:MOST_ROWS]})


def game(request: HttpRequest, key: str) -> HttpResponse:
    """One game: the leaderboard of the chosen pool (`?pool=`), its rules, its latest matches."""
    if key not in engine.games():
        raise Http404
    pools = queries.pools_of([key]).get(key, [])
    pool = queries.the_pool(pools, request.GET.get("pool", ""))
    every = "versions" in request.GET
    lines = charts.bars(leaderboards.leaderboard(pool, every_version=every)) if pool else []
    matches = queries.latest_matches(finished_only=True).filter(pool=pool, rated=True)[:10] if pool else []
    context = {
        "game": describe(key),
        "pools": pools,
        "pool": pool,
        "every": every,
        "lines": lines,
        "matches": matches,
    }
    return render(request, "games/game.html", context)
