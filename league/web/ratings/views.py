"""The overall leaderboard, ratings as CSV, and all boards of a pool for a recomputation."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import engine
from league.domain.core import paging
from league.domain.ratings import leaderboards, publication
from league.domain.ratings import overall as all_games
from league.models import Pool
from league.service import changes, topics
from league.web.common import lists
from league.web.common.csv_files import csv_file
from league.web.common.pools import chosen_pool, rated_pools

BY_PLACE = paging.Order.by("place")
COLUMNS = ("elo", "margin", "rank_best", "rank_worst", "boards", "score", "points_per_board", "faults")


@changes.kept_until(changes.POOLS, changes.BOTS)
def overall(request: HttpRequest) -> HttpResponse:
    """Show the overall leaderboard. Six queries."""
    topics.follow(request, changes.POOLS)
    page = all_games.read_page(lists.cursor_of(request, BY_PLACE))
    return render(request, "ratings/overall.html", {"page": page})


def _pool(request: HttpRequest, key: str) -> Pool:
    """Return the pool that the page of a game shows, or 404."""
    if key not in engine.games():
        raise Http404
    pool = chosen_pool(rated_pools([key], remote=True).get(key, []), request.GET.get("pool", ""))
    if pool is None:
        raise Http404
    return pool


@require_safe
def leaderboard_csv(request: HttpRequest, key: str) -> HttpResponse:
    """Download the leaderboard of a pool (`?pool=`; `?versions` for all versions)."""
    changes.keep_until(request, changes.POOLS, changes.BOTS)
    pool = _pool(request, key)
    changes.keep_until(request, changes.of_ratings(pool.pk), changes.of_pool(pool.pk))
    return csv_file(
        f"{key}-{pool.pk}-ratings",
        ["place", "bot", "version", "owner", *COLUMNS, "provisional", "idle"],
        (
            [
                row.place,
                row.rating.version.bot.slug,
                row.rating.version.number,
                row.rating.version.bot.owner.name,
                *(getattr(row.rating, name) for name in COLUMNS),
                int(row.rating.provisional),
                int(row.rating.idle),
            ]
            for row in leaderboards.leaderboard(pool, every_version="versions" in request.GET)
        ),
    )


@require_safe
def boards_jsonl(request: HttpRequest, key: str) -> StreamingHttpResponse:
    """Download every rated board of a pool (`?pool=`) as JSON lines, for `manage.py rate_boards`."""
    pool = _pool(request, key)
    response = StreamingHttpResponse(publication.published_lines(pool), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{key}-{pool.pk}-boards.jsonl"'
    return response
