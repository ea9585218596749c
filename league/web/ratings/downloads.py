"""Tables as CSV for a spreadsheet, and all boards of a pool for whoever wants to rate them again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

import engine
from league.domain.ratings import leaderboards, publishing
from league.domain.tournaments.standings import standings as table_of
from league.models import Pool, Tournament
from league.web.common import queries


def _csv(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows(rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _pool(request: HttpRequest, key: str) -> Pool:
    """The pool that the page of a game shows."""
    if key not in engine.games():
        raise Http404
    pool = queries.the_pool(queries.pools_of([key]).get(key, []), request.GET.get("pool", ""))
    if pool is None:
        raise Http404
    return pool


@require_safe
def standings(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings of a tournament, a row for each entry; numbers with a point, names as in the API."""
    found = get_object_or_404(Tournament.objects.select_related("pool"), slug=slug)
    rows = table_of(found).rows
    breaks = next((list(row.breaks) for row in rows if row.breaks), [])
    fixed = ["points", "boards", "wins", "draws", "losses", "score_per_board", "sonneborn_berger"]
    head = ["place", "bot", "version", *fixed, *(f"tiebreak_{key}" for key in breaks), "faults"]
    return _csv(
        f"{slug}-standings",
        head,
        (
            [
                row.result.place,
                row.entry.version.bot.slug,
                row.entry.version.number,
                *(getattr(row.result, name) for name in fixed),
                *(row.breaks.get(key, "") for key in breaks),
                row.faults,
            ]
            for row in rows
        ),
    )


@require_safe
def ratings(request: HttpRequest, key: str) -> HttpResponse:
    """The leaderboard of a pool (`?pool=`, `?versions` for every version)."""
    pool = _pool(request, key)
    columns = ["elo", "margin", "rank_best", "rank_worst", "boards", "score", "points_per_board", "faults"]
    return _csv(
        f"{key}-{pool.pk}-ratings",
        ["place", "bot", "version", "owner", *columns, "provisional"],
        (
            [
                row.place or "",
                row.rating.version.bot.slug,
                row.rating.version.number,
                row.rating.version.bot.owner.name,
                *(getattr(row.rating, name) for name in columns),
                int(row.rating.provisional),
            ]
            for row in leaderboards.leaderboard(pool, every_version="versions" in request.GET)
        ),
    )


@require_safe
def boards(request: HttpRequest, key: str) -> StreamingHttpResponse:
    """Every board that counts in a pool (`?pool=`), as JSON lines: what `manage.py rate_boards` reads."""
    pool = _pool(request, key)
    response = StreamingHttpResponse(publishing.published_lines(pool), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{key}-{pool.pk}-boards.jsonl"'
    return response
