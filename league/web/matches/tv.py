"""TV: a page for a wall, with one deal after the other, the same for everybody who looks."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.matches import broadcast, replays, sight
from league.domain.tournaments import show as shows
from league.domain.tournaments.standings import standings
from league.enums import TournamentStatus
from league.models import Event
from league.service import changes
from league.web.common.inputs import whole_number
from league.web.common.viewers import user_of
from league.web.common.words import why_shown
from league.web.matches import narrate
from league.web.matches.record import shown_moments
from league.web.matches.seats import seat_bots, seat_names
from league.web.matches.viewer import for_viewer

ROWS = 10  # of the table beside it
WAIT_S = 30.0  # after which a page looks again where nothing is shown


@require_safe
def tv(request: HttpRequest) -> HttpResponse:
    """What is broadcast now, with the moments of its slot, so that every page shows the same step at the same time."""
    now = clock.present()
    slot = broadcast.slot_at(now)
    context: dict[str, Any] = {
        "now": round(1000 * now.timestamp()),
        "begins": round(1000 * broadcast.begins(slot).timestamp()),
        "slot": 1000 * broadcast.SLOT_S,
        "lead": 1000 * broadcast.LEAD_S,
    }
    found = broadcast.choose(slot, now=now)
    told = _told(found) if found else {}
    if found and told:
        table = standings(found.match.tournament) if found.match.tournament else None
        context |= told | {
            "step": round(1000 * found.step_s),
            "why": _why(found),
            "rows": table.rows[:ROWS] if table else [],
        }
    return render(request, "matches/tv.html", context)


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """An event that is shown board by board: the board of now, with the table after those before it. 404 for who may not know of the event."""
    event = _event(request, slug)
    now = clock.present()
    here = shows.at(event, now=now)
    if here is None and not (
        event.pace_s and event.release and event.status in (TournamentStatus.OPEN, TournamentStatus.RUNNING)
    ):
        raise Http404
    begins, slot = (now, WAIT_S) if here is None or here.over else (here.begins, here.pace_s)
    if here is not None and here.number == 0:
        begins, slot = now, min(WAIT_S, max(1.0, (here.begins - now).total_seconds()))
    lead = min(broadcast.LEAD_S, slot / 10)
    context: dict[str, Any] = {
        "event": event,
        "here": here,
        "now": round(1000 * now.timestamp()),
        "begins": round(1000 * begins.timestamp()),
        "slot": round(1000 * slot),
        "lead": round(1000 * lead),
    }
    if here is not None and here.board is not None:
        found = broadcast.open_board(here.board.match, here.board.number)
        table = shows.table(event, here.board.match.tournament, here.number) if here.board.match.tournament else None
        context |= {"cup": here.board.match.tournament, "rows": table.rows if table else [], "before": here.number - 1}
        if found is not None:
            context |= _told(found)
            context |= {
                "step": round(1000 * found.step_in(slot - lead - min(broadcast.TAIL_S, slot / 6))),
                "src": f"{reverse('event-show-replay', args=[slug])}?n={here.number}&s={found.sitting.number}",
            }
    return render(request, "matches/show.html", context)


@require_safe
@changes.kept_until(changes.EVENTS, changes.TOURNAMENTS, changes.BOTS)
def show_json(request: HttpRequest, slug: str) -> JsonResponse:
    """What the card table folds of a board (`?n=`, from 1) that is shown now or has been, and of its sitting `?s=`."""
    changes.keep_until(request, *map(changes.of_tournament, sight.find_stages(slug)))
    number, sitting = whole_number(request.GET.get("n")), whole_number(request.GET.get("s"))
    board = shows.shown(_event(request, slug), number or 0, now=clock.present())
    row = board.sittings.filter(number=sitting or 0).first() if board is not None else None
    if board is None or row is None:
        raise Http404
    row.board = board
    try:
        record = replays.replay(row)
    except replays.Unreadable as error:
        return JsonResponse({"error": shown(error)}, status=error.status)
    except Refused as refusal:
        return JsonResponse({"error": shown(refusal)}, status=409)
    parties = list(board.match.parties.select_related("version__bot").order_by("number"))
    answer = for_viewer(record, seat_bots(row, parties), row.seating)
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


def _event(request: HttpRequest, slug: str) -> Event:
    return get_object_or_404(sight.events(Event.objects.select_related("owner"), user_of(request)), slug=slug)


def _told(found: broadcast.Shown) -> dict[str, Any]:
    """What the page of the card table needs of a deal."""
    try:
        record = replays.replay(found.sitting)
    except Refused:  # held back at this moment
        return {}
    parties = list(found.match.parties.select_related("version__bot").order_by("number"))
    names = seat_names(found.sitting, parties)
    return {
        "shown": found,
        "match": found.match,
        "board": found.sitting.board,
        "sitting": found.sitting,
        "parties": parties,
        "lines": narrate.narrate(shown_moments(record), names, seat_bots(found.sitting, parties)),
        "playing": {party.version_id for party in parties},
    }


def _why(found: broadcast.Shown) -> str:
    """In a line, why this is shown."""
    return why_shown(found.why, found.winner.version.bot.slug if found.winner else "")
