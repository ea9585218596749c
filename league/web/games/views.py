"""The list of games, and the page of a game with its leaderboard."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

import engine
from league.domain.core import clock, paging
from league.domain.ladders import climbs
from league.domain.ladders.idle import why_idle
from league.domain.ratings import daily, idle, leaderboards
from league.enums import BossLeague
from league.models import Pool, Study
from league.pure.bosses import season_end, season_of
from league.service import changes, topics
from league.web.common import families, inputs, lists
from league.web.common.game_lines import describe_game
from league.web.common.pools import chosen_pool, rated_pools
from league.web.common.viewers import user_of, viewer_of
from league.web.games.bars import with_bars
from league.web.games.explorer import explorer_of
from league.web.games.lab import lab_of
from league.web.games.leaders import leaders_of

MOST_RISING = 5

BY_LEAGUE = paging.Order.by("-league", "id")
TABS = ("ladder", "leagues", "rules", "lab", "explorer", "matches", "files")
LATEST = 25  # Number of matches in the tab.
LIMITS = {  # The name of each limit, and what it asks.
    "fast": (_("10 ms a decision"), _("No decision in any counted match took more than 10 ms of processor time.")),
    "steady": (
        _("No saved time"),
        _("No decision in any counted match took more than 0.5 s, so none drew on the time that a bot may save up."),
    ),
    "small": (_("1 MiB"), _("The package has at most 1 MiB.")),
    "open": (_("Open source"), _("Everybody may read the source.")),
}


@changes.kept_until(changes.POOLS, changes.BOTS)
def games(request: HttpRequest) -> HttpResponse:
    """List every game by family with its best bot, and the rising bots; `?game=` redirects to the page of a game. Five queries."""
    if request.GET.get("game") in engine.games():
        return redirect("game", key=request.GET["game"])
    keys = families.game_order()
    leaders = {leader.game.key: leader for leader in leaders_of(keys, len(keys), 1)}
    rows = [(family, [(game, leaders.get(game.key)) for game in family.games]) for family in families.by_family()]
    rising = daily.rises([leader.pool for leader in leaders.values()], MOST_RISING)
    return render(request, "games/games.html", {"families": rows, "rising": rising})


def game(request: HttpRequest, key: str) -> HttpResponse:
    """Show a game in tabs (`?tab=`): the ladder of a pool (`?pool=`, filtered by `?show=`, `?owner=`, `?limit=`), the explorer, rules and others."""
    if key not in engine.games():
        raise Http404
    changes.keep_until(request, changes.POOLS, changes.BOTS)
    pools = rated_pools([key], remote=True).get(key, [])
    pool = chosen_pool(pools, request.GET.get("pool", ""))
    if pool:
        changes.keep_until(request, changes.of_ratings(pool.pk), changes.of_pool(pool.pk))
        topics.follow(request, changes.of_ratings(pool.pk), changes.of_pool(pool.pk))
    tab = request.GET.get("tab", "ladder" if pool else "rules")
    tab = tab if tab in TABS else TABS[0]
    context: dict[str, Any] = {"game": describe_game(key), "pools": pools, "pool": pool, "tab": tab}
    if tab == "leagues":
        context |= _leagues(request, key)
    elif tab == "ladder":
        context |= _ladder(request, key, pool)
    elif tab == "lab":
        changes.keep_until(request, changes.STUDIES)
        studies = Study.objects.filter(game=key).exclude(report=None).order_by("-begun")
        context |= {"lab": lab_of(key), "studies": studies[:LATEST]}
    elif tab == "explorer":
        changes.keep_until(request, changes.CHOICES)
        context["explorer"] = explorer_of(pool, request.GET)
    elif tab == "matches" and pool:
        finished = lists.latest_matches(user_of(request), finished_only=True)
        context["matches"] = finished.filter(pool=pool, rated=True)[:LATEST]
    return render(request, "games/game.html", context)


def _leagues(request: HttpRequest, key: str) -> dict[str, Any]:
    """Return the boss leagues of a game: the bosses, and a page of the bots of all leagues or the one in `?league=`. Five queries."""
    league = inputs.whole_number(request.GET.get("league"))
    rows = climbs.rungs_of_game(key)
    if league is not None:
        # The crown is no league of its own on the page.
        rows = rows.filter(league__gte=league) if league == BossLeague.GOLD else rows.filter(league=league)
    page = lists.page_of(request, rows, BY_LEAGUE)
    return {
        "bosses": climbs.read_bosses(key),
        "climbs": climbs.read_climbs(page.rows),
        "page": page,
        "league": league,
        "season_end": season_end(season_of(clock.present())),
    }


def _ladder(request: HttpRequest, key: str, pool: Pool | None) -> dict[str, Any]:
    every_version = "versions" in request.GET
    only = _only(request)
    # Read before the leaderboard, so that the leaderboard lacks no other result.
    uncounted = leaderboards.read_uncounted(pool) if pool else None
    owed = leaderboards.read_owed(pool) if pool else None
    page: paging.Page[leaderboards.RankedBot] = paging.Page()
    if pool:
        cursor = lists.cursor_of(request, leaderboards.BEST)
        page = leaderboards.read_page(pool, cursor, every_version=every_version, only=only)
    plain = pool and page.rows and not every_version and not only.limit
    moved = daily.movement(pool, page.rows) if pool and plain else daily.Movement()
    lines, axis = with_bars(moved.add_to(page).rows)
    return {
        "every_version": every_version,
        "lines": lines,
        "axis": axis,
        "moved": moved,
        "only": only,
        "limits": LIMITS.items(),
        "limit_text": LIMITS.get(only.limit, ("", ""))[1],
        "viewer": viewer_of(request) if pool else None,
        "idle_days": idle.AFTER.days,
        "page": page,
        "uncounted": uncounted,
        "owed": owed,
        "ladder": settings.LADDERS,
        "ladder_idle": why_idle(key),
    }


def _only(request: HttpRequest) -> leaderboards.Only:
    show = request.GET.get("show", "")
    owner = inputs.short_text(request.GET.get("owner", ""), 40)
    limit = request.GET.get("limit", "")
    return leaderboards.Only(
        show if show in leaderboards.Only.SHOWS else "", owner, limit if limit in leaderboards.LIMITS else ""
    )
