"""The page of the deals that several tables of people play: open another table with them, and compare the results."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

import engine
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.tables import deals, people, rooms, seating
from league.domain.tables.people import Sitter, TableView
from league.models.tables import LIVE
from league.web.common import errors
from league.web.common import guests as cookies
from league.web.matches.banner import score_text
from league.web.matches.seats import numbered


@dataclass(frozen=True)
class ComparedTable:
    """A side of a table in the comparison. boards: the score and the points of each board."""

    names: str
    public_id: str
    boards: list[tuple[str, int]]
    total: int


@dataclass(frozen=True)
class ComparedSide:
    """The same seats at all tables."""

    title: str
    tables: list[ComparedTable]


@never_cache
def page(request: HttpRequest, key: str) -> HttpResponse:
    """Show the tables with the same deals; POST: open another one (`do=open`), or show the cards to everybody (`do=close`). Eight queries."""
    views = deals.views(key)
    if not views:
        raise Http404
    if request.method == "POST":
        return _act(request, views, key)
    return _page(request, views, key)


def _act(request: HttpRequest, views: list[TableView], key: str) -> HttpResponse:
    new_key = ""
    sitter = cookies.person_of(request)
    if sitter is None and not request.user.is_authenticated:
        sitter, new_key = cookies.new_guest(request)
    try:
        if sitter is None or request.POST.get("do") not in ("open", "close"):
            raise Http404
        if request.POST["do"] == "open":
            response = redirect("table", public_id=rooms.gather_same(sitter, key).public_id)
        else:
            deals.close(sitter, key)
            return redirect("deals", key=key)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return _page(request, views, key, errors.status_of(refusal))
    if new_key:
        cookies.remember(response, new_key)
    return response


def _page(request: HttpRequest, views: list[TableView], key: str, status: int = 200) -> HttpResponse:
    first, sitter = views[0], cookies.person_of(request)
    row, is_open = first.row, deals.are_open(first.row)
    has_seen = deals.has_seen(sitter, key)
    is_live = any(view.row.status in LIVE for view in views)
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    context = {
        "row": row,
        "views": [(view, _names(view), _is_mine(view, sitter)) for view in views],
        "open": is_open,
        "closes": row.deals_until if row.deals_until and row.deals_until > clock.present() else None,
        "has_seen": has_seen,
        "may_sit": seating.may_sit(sitter) and not has_seen,
        "may_close": not is_open
        and not is_live
        and any(view.row.public_id == key and _is_host(view, sitter) for view in views),
        "sides": [_side(game, results) for results in (deals.compare(views) if is_open or has_seen else [])],
        "boards": range(1, row.boards + 1),
    }
    return render(request, "matches/deals.html", context, status=status)


def _side(game: engine.Game, results: list[deals.SideResult]) -> ComparedSide:
    title = " + ".join(_("Seat %(number)s") % {"number": seat + 1} for seat in results[0].seats)
    rows = [
        ComparedTable(
            " + ".join(numbered(result.view.names)[seat] for seat in result.seats),
            result.view.row.public_id,
            [(score_text(game, score), points) for score, points in zip(result.scores, result.points, strict=True)],
            result.total,
        )
        for result in results
    ]
    return ComparedSide(title, rows)


def _names(view: TableView) -> str:
    """Return the names at a table; if it has not started, only those of its people."""
    names = numbered(view.names)
    return " · ".join(names[seat] for seat in (view.people if not view.bots else range(len(names))))


def _is_mine(view: TableView, sitter: Sitter | None) -> bool:
    return any(people.is_of(person, sitter) for person in view.people.values())


def _is_host(view: TableView, sitter: Sitter | None) -> bool:
    return view.host is not None and people.is_of(view.host, sitter)
