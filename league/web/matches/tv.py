"""TV: a page for a screen on the wall that shows one deal after another, the same to all viewers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.matches import broadcast, embargoes, replays, sight
from league.domain.tournaments import show as shows
from league.domain.tournaments.standings import standings
from league.enums import MatchStatus, TournamentStatus
from league.models import Event, Match, Sitting
from league.service import changes
from league.web.common.inputs import whole_number
from league.web.common.viewers import user_of
from league.web.common.words import why_shown
from league.web.matches import narrate
from league.web.matches.record import shown_moments
from league.web.matches.seats import seat_bots, seat_names
from league.web.matches.viewer import for_viewer

ROWS = 10  # Rows of the standings beside the cards.
WAIT_S = 30.0  # A page without a deal reloads after this many seconds.


@require_safe
def tv(request: HttpRequest) -> HttpResponse:
    """Show the current deal with the times of its slot, so that every page shows the same step at the same time."""
    context = on_air()
    if context.get("shown"):
        tournament = context["match"].tournament
        context["rows"] = standings(tournament).rows[:ROWS] if tournament else []
    return render(request, "matches/tv.html", context)


def on_air() -> dict[str, Any]:
    """Return the template context of the current deal and the times of its slot; without `shown` if there is nothing to show."""
    now = clock.present()
    slot = broadcast.slot_at(now)
    context: dict[str, Any] = {
        "now": round(1000 * now.timestamp()),
        "begins": round(1000 * broadcast.begins(slot).timestamp()),
        "slot": 1000 * broadcast.SLOT_S,
        "lead": 1000 * broadcast.LEAD_S,
    }
    chosen = _chosen(slot, now)
    details = _deal_context(chosen[0]) if chosen else {}
    if chosen and details:
        deal, winner = chosen
        context |= details | {"step": round(1000 * deal.step_s), "why": why_shown(deal.why, winner)}
    return context


def _chosen(slot: int, now: datetime) -> tuple[broadcast.ShownDeal, str] | None:
    """Return the deal of a slot and the bot that won its match. Each process chooses once for each slot; after that, three queries."""
    key = f"on-air:{slot}"
    entry = cache.get(key)
    if entry is None:
        deal = broadcast.choose(slot, now=now)
        if deal is None:  # A match that was withheld may have become visible again.
            return None
        winner = deal.winner.version.bot.slug if deal.winner else ""
        entry = (deal.match.pk, deal.sitting.pk, deal.why, winner, deal.first, deal.last)
        cache.set(key, entry, broadcast.SLOT_S)
    pk, sitting_pk, why, winner, first, last = entry
    rows = sight.matches(Match.objects.filter(pk=pk, status=MatchStatus.FINISHED), None, now=now)
    match = rows.select_related("pool", "tournament", "log").defer("tournament__secret", "host").first()
    sitting = Sitting.objects.filter(pk=sitting_pk).select_related("board").first()
    if match is None or sitting is None or embargoes.in_force(match, now=now):
        return None
    sitting.board.match = match
    return broadcast.ShownDeal(match, sitting, why, None, first, last), winner


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the current board of an event's show, with the standings after the earlier boards. 404 if the viewer may not see the event."""
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
        deal = broadcast.open_board(here.board.match, here.board.number)
        table = shows.table(event, here.board.match.tournament, here.number) if here.board.match.tournament else None
        context |= {"cup": here.board.match.tournament, "rows": table.rows if table else [], "before": here.number - 1}
        if deal is not None:
            context |= _deal_context(deal)
            context |= {
                "step": round(1000 * deal.step_in(slot - lead - min(broadcast.TAIL_S, slot / 6))),
                "src": f"{reverse('event-show-replay', args=[slug])}?n={here.number}&s={deal.sitting.number}",
            }
    return render(request, "matches/show.html", context)


@require_safe
@changes.kept_until(changes.EVENTS, changes.TOURNAMENTS, changes.BOTS)
def show_json(request: HttpRequest, slug: str) -> JsonResponse:
    """Return the record of a sitting (`?s=`) of a board (`?n=`, from 1) whose turn in the show has come, for the replay viewer."""
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


def _deal_context(deal: broadcast.ShownDeal) -> dict[str, Any]:
    """Return the template context of a deal."""
    try:
        record = replays.replay(deal.sitting)
    except Refused:  # The replay was hidden in the meantime.
        return {}
    parties = list(deal.match.parties.select_related("version__bot").order_by("number"))
    names = seat_names(deal.sitting, parties)
    return {
        "shown": deal,
        "match": deal.match,
        "board": deal.sitting.board,
        "sitting": deal.sitting,
        "parties": parties,
        "lines": narrate.narrate(shown_moments(record), names, seat_bots(deal.sitting, parties)),
        "playing": {party.version_id for party in parties},
    }
