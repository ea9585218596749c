"""Tables where people sit and play. Everything works without scripts; `seat.js` saves reloading the page."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

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
from league.domain.arenas import arenas
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.tables import clocks, ending, holding, people, phrases, rooms, seating
from league.domain.tables.people import Sitter, TableView
from league.enums import TableStatus
from league.models import Table
from league.models.tables import LIVE, NO_ADVICE
from league.service import listening, topics
from league.web.common import prefs, words
from league.web.common.guests import person_of
from league.web.common.inputs import whole_number
from league.web.matches import banner, felt, narrate, pictures, waiting
from league.web.matches.offers import chosen, offer
from league.web.matches.playing import clock_name
from league.web.matches.record import is_french, shown_moments
from league.web.matches.seats import numbered
from league.web.matches.viewer import for_viewer

SOON_S = 1.0  # Seconds that a response waits for the bots if the page has no script.
AGAIN_S = 0.5  # Seconds between two checks of the table if notifications arrive.
AT_ONCE_S = 0.2  # Seconds that the response to a page that listens waits for the bots.
WAITING = threading.BoundedSemaphore(
    2
)  # The most responses of a process that wait for bots at a time: each needs a thread.
REMATCH_WAITS = timedelta(minutes=10)
LATE = timedelta(seconds=15)  # If a new table has waited for its first worker for this long, the page says so.
DEAF_S = 0.02  # Seconds between two checks if no notifications arrive.


def _view(request: HttpRequest, public_id: str) -> TableView:
    """Return a table that the viewer may see: their own, any finished one, or a shared one. At most four queries."""
    view = seating.visible(person_of(request), public_id)
    if view is None:
        raise Http404
    return view


def board_record(view: TableView, board: int) -> dict[str, Any]:
    """Return the record of a board of a finished table; of a running table, what the viewer may know of the current board."""
    row = view.row
    records = seating.opened(row)
    if records:
        return records[min(board, len(records)) - 1]
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    to = [view.seat] if view.is_own else []
    events = [{**event, "to": to} if event["e"] == "deal" else event for event in view.seen]
    return {"game": game.key, "players": game.players, "options": game.options, "events": events}


@never_cache
def table(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a table: the cards, the legal actions, the result of a finished hand; `?b=` replays a hand of a finished table. Five queries."""
    view = _view(request, public_id)
    row = view.row
    if row.gathering:
        return waiting.page(request, view)
    board = whole_number(request.GET.get("b"))
    if board is not None and seating.opened(row):
        return _replay(request, view, min(max(1, board), len(row.scores)))
    return _page(request, view)


def _page(request: HttpRequest, view: TableView) -> HttpResponse:
    """Show a table at present: the page, or for `seat.js`, which names its steps in X-Part, the part that has changed."""
    row, names = view.row, view.names
    numbers = numbered(names)
    is_own, seat, board = view.is_own, view.seat, view.row.board
    record = board_record(view, board)
    moments = shown_moments(record)
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    choices = None
    if view.turn is not None and not view.is_away:
        choices = offer(view.legal, view.hand, felt.song_points(game, view.seen), french=is_french(game), names=numbers)
    is_live, awaited, now = row.status in LIVE, view.asked, clock.present()
    sides = arenas.sides_of(row) if row.shared else []
    # For a while the page of a table with friends waits for one of them to ask for another hand.
    is_recent = row.finished is not None and now - row.finished < REMATCH_WAITS
    may_rematch = is_recent and is_own and row.shared and not sides and not row.rematch
    part = request.headers.get("X-Part", "")
    first = _first_new(part, view, moments)
    context: dict[str, Any] = {
        "row": row,
        "arena": sides[0].entry.arena if sides else None,
        "gave_up": any(side.given_up for side in sides if view.own and side.entry.player_id == view.own.player_id),
        "view": view,
        "mine": is_own,
        "live": is_live,
        "topic": topics.of_table(row.public_id) if settings.LIVE_LISTENERS and (is_live or may_rematch) else "",
        "since": topics.table_version(row.status, row.turn, row.question, row.news),
        "board": board,
        "lines": narrate.narrate(moments, numbers, names, seat if is_own else None, first),
        "first": first,
        "steps": _steps(view, moments) if moments else "",
        "offer": choices,
        "prompt": felt.prompt(choices, view.legal, view.seen) if choices else "",
        "then": felt.then(choices, view.seen) if choices else "",
        "advice": _advice(view),
        "banner": banner.banner(row, game, moments, numbers, seat, is_own=is_own),
        "ending": ending.ending(view),
        "hidden": row.status == TableStatus.FINISHED and not seating.opened(row),
        "late": row.status == TableStatus.WAITING and now - row.since > LATE,
        "full": row.status == TableStatus.WAITING and row.reason == holding.NO_SEATS,
        "away_min": holding.away_s(row) // 60,
        "clock": clock_name(row.clock_s, row.increment_s),
        "clocks": _clocks(view, numbers, now) if is_live and row.shared else [],
        "asked": numbers[awaited.number] if is_live and awaited is not None and not awaited.away else "",
        "spoken": [
            (person.number, numbers[person.number], text)
            for person in view.people.values()
            if (text := phrases.spoken(person, now))
        ],
        "phrases": phrases.Phrase.choices if row.shared and is_live and view.is_seated else [],
        "next": view.legal == [NEXT],
    }
    if part:
        context["record"] = {"events": moments[first:], **({} if first else _people(view, record))}
        return render(request, "matches/parts/moved.html", context)
    context |= {
        "head": felt.head(game, moments, seat, numbers, is_own=is_own),
        "rest": prefs.trick_rest(request),
        "rests": prefs.RESTS.items(),
        "forced": prefs.plays_forced(request),
        "picture": pictures.of_table(row, game, moments, numbers, seat),
    }
    return render(request, "matches/table.html", context)


def _steps(view: TableView, moments: Sequence[dict[str, Any]]) -> str:
    """Name the steps that a page shows: their number, and a digest of them and of whatever else their words depend on."""
    digest = crc32(repr((view.names, view.own and view.own.number, moments)).encode())
    return f"{len(moments)}-{digest:x}"


def _first_new(part: str, view: TableView, moments: Sequence[dict[str, Any]]) -> int:
    """Return the event from which on a page with these steps (`_steps`) needs the record; 0 if its steps are not the first ones of the record.

    What follows the last card is sent again: the score of a deal changes the points of its last trick.
    """
    first = whole_number(part.partition("-")[0]) or 0
    if not 0 < first <= len(moments) or part != _steps(view, moments[:first]):
        return 0
    while first and moments[first - 1]["e"] != "play":
        first -= 1
    return first


def _clocks(view: TableView, names: list[str], now: datetime) -> list[tuple[str, int, str, bool]]:
    """Return the name, the seconds left in two forms, and True for a running clock, of each person; [] without a clock."""
    lines = []
    for person in view.people.values():
        remaining = clocks.left_ms(view.row, person, now)
        if remaining is not None and person.seated:
            minutes, seconds = divmod(remaining // 1000, 60)
            is_running = view.row.turn is not None and clocks.is_running(person)
            lines.append((names[person.number], remaining // 1000, f"{minutes}:{seconds:02}", is_running))
    return lines


def _replay(request: HttpRequest, view: TableView, board: int) -> HttpResponse:
    """Show a hand of a finished table step by step, with all cards."""
    row, names, own = view.row, view.names, view.seat if view.is_own else None
    context = {
        "row": row,
        "seat": view.seat,
        "names": names,
        "board": board,
        "boards": list(range(1, len(row.scores) + 1)),
        "shared": f"?b={board}",
        "embed": f"{reverse('embed-table', args=[row.public_id])}?b={board}",
        "lines": narrate.narrate(shown_moments(board_record(view, board)), numbered(names), names, own),
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


def _advice(view: TableView) -> AdviceState | None:
    """Return the state of the advice, or None if the table has no advice."""
    bot = view.bots.get(view.seat)
    if bot is None or view.row.shared or view.own is None or view.turn is None or view.legal == [NEXT]:
        return None
    failed = view.advice == NO_ADVICE
    text = words.action_name(view.advice) if view.advice and not failed else ""
    return AdviceState(view.own.awaits_advice, failed, bot, view.advice, text)


@never_cache
def table_json(request: HttpRequest, public_id: str) -> JsonResponse:
    """Return the record of a table for the replay viewer."""
    return record_response(request, _view(request, public_id))


def record_response(request: HttpRequest, view: TableView) -> JsonResponse:
    """Return the record of a board (`?b=`) for the replay viewer."""
    record = board_record(view, max(1, whole_number(request.GET.get("b")) or view.row.board))
    return JsonResponse(_for_viewer(view, record), json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


def _people(view: TableView, record: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a record for the viewer, besides its events, that may change while people sit at the table."""
    whole = _for_viewer(view, record)
    return {"seats": whole["seats"], "sides": whole["sides"]}


def _for_viewer(view: TableView, record: dict[str, Any]) -> dict[str, Any]:
    own = view.seat if view.is_own else None
    names = [_("You") if seat == own else name for seat, name in enumerate(view.names)]
    return for_viewer(record, names, list(range(len(names))), own)


@never_cache
@require_POST
def act(request: HttpRequest, public_id: str) -> HttpResponse:
    """Play an action, or leave. The next page includes the bots' actions if they come within a second.

    A page that listens for events (`listens`) gets its next part if the bots answer at once, else an empty response: an event will announce them.
    """
    do, where = request.POST.get("do", ""), redirect("table", public_id=public_id)
    if do in waiting.DOES:
        return waiting.act(request, public_id, do)
    sitter = person_of(request)
    seat = people.seats(sitter).filter(table__public_id=public_id) if sitter is not None else None
    legal = None if seat is None else seat.values_list("legal", flat=True).first()
    if sitter is None or legal is None:
        raise Http404
    if do == "leave":
        seating.leave(sitter, public_id)
        return where
    number = whole_number(request.POST.get("turn")) or 0
    if do == "advice":
        return _ask_advice(request, sitter, public_id, number)
    try:
        if do in ("back", "say"):
            if do == "back":
                rooms.come_back(sitter, public_id)
            else:
                phrases.say(sitter, public_id, request.POST.get("phrase", ""))
            return HttpResponse(status=204) if request.POST.get("listens") else where
        with listening.LISTENER.subscribe(topics.of_table(public_id)) as bell:
            row = seating.act(sitter, public_id, number, chosen(request, legal))
            if request.POST.get("listens"):
                waits = not row.shared and "X-Part" in request.headers and listening.LISTENER.is_listening
                present = _wait(row, bell, AT_ONCE_S, turn=None) if waits else None
                view = seating.visible(sitter, public_id, present) if present is not None else None
                return _page(request, view) if view is not None else HttpResponse(status=204)
            _wait(row, bell, SOON_S, turn=None)
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return where


def _wait(row: Table, bell: listening.ChangeSubscription, most_s: float, **still: Any) -> Table | None:
    """Return the table as soon as its worker has changed one of these columns; None after `most_s`, or if enough threads of this process wait."""
    until = time.monotonic() + most_s
    rows = Table.objects.select_related("pool").filter(pk=row.pk).exclude(status=TableStatus.HELD, **still)
    if row.status != TableStatus.HELD or not WAITING.acquire(blocking=False):
        return None
    try:
        while (remaining := until - time.monotonic()) > 0:
            bell.wait(min(remaining, AGAIN_S if listening.LISTENER.is_listening else DEAF_S))
            if (present := rows.first()) is not None:
                return present
        return None
    finally:
        WAITING.release()


def _ask_advice(request: HttpRequest, sitter: Sitter, public_id: str, number: int) -> HttpResponse:
    """Ask for advice. The next page shows it if it comes within a second."""
    try:
        row = seating.ask_advice(sitter, public_id, number)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return redirect("table", public_id=public_id)
    if request.POST.get("listens"):
        return HttpResponse(status=204)
    with listening.LISTENER.subscribe(topics.of_table(public_id)) as bell:
        _wait(row, bell, SOON_S, people__advice_asked=row.turn, people__advice="")
    return redirect("table", public_id=public_id)
