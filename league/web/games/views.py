"""The games, and one game with its leaderboard."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

import engine
from league.domain.core import paging
from league.domain.ladders.idle import why_idle
from league.domain.ratings import daily, idle, leaderboards
from league.service import changes, topics
from league.web.common import inputs, lists
from league.web.common.families import by_family
from league.web.common.game_lines import describe_game
from league.web.common.pools import chosen_pool, rated_pools
from league.web.common.viewers import user_of, viewer_of
from league.web.games.bars import with_bars


@changes.kept_until(changes.POOLS)
def games(request: HttpRequest) -> HttpResponse:
    """List every game of the engine, by family."""
    pools = rated_pools(engine.games())
    families = [(family, [(game, pools.get(game.key, [])) for game in family.games]) for family in by_family()]
    return render(request, "games/games.html", {"families": families})


def game(request: HttpRequest, key: str) -> HttpResponse:
    """Show a game: the leaderboard of a pool (`?pool=`, filtered by `?show=active`, `house` or `?owner=`), rules and latest matches."""
    if key not in engine.games():
        raise Http404
    changes.keep_until(request, changes.POOLS, changes.BOTS)
    pools = rated_pools([key]).get(key, [])
    pool = chosen_pool(pools, request.GET.get("pool", ""))
    if pool:
        changes.keep_until(request, changes.of_ratings(pool.pk), changes.of_pool(pool.pk))
        topics.follow(request, changes.of_ratings(pool.pk), changes.of_pool(pool.pk))
    every_version = "versions" in request.GET
    only = _only(request)
    # Read this before the leaderboard, so that the leaderboard misses no other result.
    uncounted = leaderboards.read_uncounted(pool) if pool else None
    owed = leaderboards.read_owed(pool) if pool else None
    page: paging.Page[leaderboards.RankedBot] = paging.Page()
    if pool:
        cursor = lists.cursor_of(request, leaderboards.BEST)
        page = leaderboards.read_page(pool, cursor, every_version=every_version, only=only)
    moved = daily.movement(pool, page.rows) if pool and page.rows and not every_version else daily.Movement()
    lines, axis = with_bars(moved.add_to(page).rows)
    matches = (
        lists.latest_matches(user_of(request), finished_only=True).filter(pool=pool, rated=True)[:10] if pool else []
    )
    context = {
        "game": describe_game(key),
        "pools": pools,
        "pool": pool,
        "every_version": every_version,
        "lines": lines,
        "axis": axis,
        "moved": moved,
        "only": only,
        "viewer": viewer_of(request) if pool else None,
        "idle_days": idle.AFTER.days,
        "page": page,
        "uncounted": uncounted,
        "owed": owed,
        "matches": matches,
        "ladder": settings.LADDERS,
        "ladder_idle": why_idle(key),
    }
    return render(request, "games/game.html", context)


def _only(request: HttpRequest) -> leaderboards.Only:
    show = request.GET.get("show", "")
    owner = inputs.short_text(request.GET.get("owner", ""), 40)
    return leaderboards.Only(show if show in leaderboards.Only.SHOWS else "", owner)
