"""Tables where people sit. Everything works without scripts; `seat.js` saves reloading the page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

import engine
from engine.runner.table import NEXT
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.tables import ending, guests, holding, seating
from league.domain.tables.guests import Sitter
from league.enums import TableStatus
from league.models import Table
from league.models.tables import LIVE, NO_ADVICE
from league.service import listening, topics
from league.web.common import prefs, words
from league.web.common.guests import person_of
from league.web.common.inputs import whole_number
from league.web.matches import banner, felt, narrate, pictures
from league.web.matches.offers import chosen, offer
from league.web.matches.record import is_french, shown_moments
from league.web.matches.seats import numbered
from league.web.matches.viewer import for_viewer

SOON_S = 1.0  # Seconds that a response waits for the bots.
AGAIN_S = 0.5  # Seconds between two checks of the table if notifications arrive.
LATE = timedelta(seconds=15)  # If a new table has waited for its first worker for this long, the page says so.
DEAF_S = 0.02  # Seconds between two checks if no notifications arrive.


def _row(request: HttpRequest, public_id: str) -> Table:
    """Return a table that the viewer may see: their own, or any finished one. At most two queries."""
    row = seating.visible(person_of(request), public_id)
    if row is None:
        raise Http404
    return row


def board_record(row: Table, board: int) -> dict[str, Any]:
    """Return the record of a board of a finished table; of a running table, what the seat may know of the current board."""
    records = seating.opened(row)
    if records:
        return records[min(board, len(records)) - 1]
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    events = [{**event, "to": [row.seat]} if event["e"] == "deal" else event for event in row.seen]
    return {"game": game.key, "players": game.players, "options": game.options, "events": events}


@never_cache
def table(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a table: the cards, the legal actions, and the result of a finished hand; `?b=` replays a hand of a finished table. Six queries."""
    row = _row(request, public_id)
    bots = seating.bots(row)
    names = seating.names(row, bots)
    numbers = numbered(names)
    board = whole_number(request.GET.get("b"))
    sitter = person_of(request)
    is_own = guests.owns(sitter, row)
    if row.records and board is not None:
        return _replay(request, row, names, min(max(1, board), len(row.scores)), row.seat if is_own else None)
    board = row.board
    record = board_record(row, board)
    moments = shown_moments(record)
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    choices = None
    if row.turn is not None:
        choices = offer(row.legal, row.hand, felt.song_points(game, row.seen), french=is_french(game), names=numbers)
    context = {
        "row": row,
        "mine": is_own,
        "live": row.status in LIVE,
        "topic": topics.of_table(row.public_id) if row.status in LIVE and settings.LIVE_LISTENERS else "",
        "since": topics.table_version(row.status, row.turn, advised=bool(row.advice)),
        "board": board,
        "lines": narrate.narrate(moments, numbers, names, row.seat if is_own else None),
        "head": felt.head(game, moments, row.seat, numbers),
        "offer": choices,
        "prompt": felt.prompt(choices, row.legal, row.seen) if choices else "",
        "then": felt.then(choices, row.seen) if choices else "",
        "advice": _advice(row, bots.get(row.seat)),
        "banner": banner.banner(row, game, moments, numbers, is_own=is_own),
        "ending": ending.ending(row, sitter),
        "late": row.status == TableStatus.WAITING and clock.present() - row.since > LATE,
        "away_min": holding.away_s(row) // 60,
        "rest": prefs.trick_rest(request),
        "rests": prefs.RESTS.items(),
        "forced": prefs.plays_forced(request),
        "next": banner.is_shown(row),
        "picture": pictures.of_table(row, game, moments, numbers),
    }
    moved = request.headers.get("X-Part") == "moved"  # `seat.js` already has the rest of the page.
    return render(request, "matches/parts/moved.html" if moved else "matches/table.html", context)


def _replay(request: HttpRequest, row: Table, names: Sequence[str], board: int, own: int | None) -> HttpResponse:
    """Show a hand of a finished table step by step, with all cards; own: the seat of the viewer."""
    context = {
        "row": row,
        "names": names,
        "board": board,
        "boards": list(range(1, len(row.scores) + 1)),
        "shared": f"?b={board}",
        "embed": f"{reverse('embed-table', args=[row.public_id])}?b={board}",
        "lines": narrate.narrate(shown_moments(board_record(row, board)), numbered(names), names, own),
    }
    return render(request, "matches/table_replay.html", context)


@dataclass(frozen=True)
class AdviceState:
    """The state of the advice. waits: the advisor is thinking; failed: it has none; bot: name of the advisor; text: the advice in words."""

    waits: bool
    failed: bool
    bot: str
    do: str
    text: str


def _advice(row: Table, bot: str | None) -> AdviceState | None:
    """Return the state of the advice, or None if the table has no advice."""
    if bot is None or row.turn is None or row.legal == [NEXT]:
        return None
    failed = row.advice == NO_ADVICE
    text = words.action_name(row.advice) if row.advice and not failed else ""
    return AdviceState(row.awaits_advice, failed, bot, row.advice, text)


@never_cache
def table_json(request: HttpRequest, public_id: str) -> JsonResponse:
    """Return the record of a table for the replay viewer."""
    row = _row(request, public_id)
    return record_response(request, row, row.seat if guests.owns(person_of(request), row) else None)


def record_response(request: HttpRequest, row: Table, own: int | None) -> JsonResponse:
    """Return the record of a board (`?b=`) for the replay viewer; own: the seat of the viewer."""
    names = seating.names(row, seating.bots(row))
    if own is not None:
        names = [_("You") if seat == own else name for seat, name in enumerate(names)]
    record = board_record(row, max(1, whole_number(request.GET.get("b")) or row.board))
    answer = for_viewer(record, names, list(range(len(names))), own)
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


@never_cache
@require_POST
def act(request: HttpRequest, public_id: str) -> HttpResponse:
    """Play an action, or leave. The next page includes the bots' actions if they come within a second.

    A page that listens for events (`listens`) gets an empty response at once, so that no thread waits.
    """
    sitter = person_of(request)
    where = redirect("table", public_id=public_id)
    now = seating.tables_of(sitter, public_id).only("legal").first() if sitter is not None else None
    if sitter is None or now is None:
        raise Http404
    if request.POST.get("do") == "leave":
        seating.leave(sitter, public_id)
        return where
    number = whole_number(request.POST.get("turn")) or 0
    if request.POST.get("do") == "advice":
        return _ask_advice(request, sitter, public_id, number)
    try:
        row = seating.act(sitter, public_id, number, chosen(request, now.legal))
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return where
    if request.POST.get("listens"):
        return HttpResponse(status=204)
    if row.status == TableStatus.HELD:
        _wait(row, turn=None)
    return where


def _ask_advice(request: HttpRequest, sitter: Sitter, public_id: str, number: int) -> HttpResponse:
    """Ask for advice. The next page shows it if it comes within a second."""
    try:
        row = seating.ask_advice(sitter, public_id, number)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return redirect("table", public_id=public_id)
    if request.POST.get("listens"):
        return HttpResponse(status=204)
    if row.status == TableStatus.HELD:
        _wait(row, advice_asked=number, advice="")
    return redirect("table", public_id=public_id)


def _wait(row: Table, **still: Any) -> None:
    """Wait, for a second at most, while a worker has the table and these columns keep their values."""
    until = time.monotonic() + SOON_S
    here = Table.objects.filter(pk=row.pk, status=TableStatus.HELD, **still)
    with listening.LISTENER.subscribe(topics.of_table(row.public_id)) as bell:
        while here.exists() and (remaining := until - time.monotonic()) > 0:
            bell.wait(min(remaining, AGAIN_S if listening.LISTENER.is_listening else DEAF_S))
