"""The page of a shared table before the first card: its link, the seats, and the settings for its host."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

import engine
from league.domain.bots import tries
from league.domain.core.errors import Refused, shown
from league.domain.tables import challenges, rooms, seating
from league.domain.tables.levels import Level
from league.domain.tables.people import TableView
from league.models import Table
from league.service import topics
from league.web.common import guests as cookies
from league.web.common.inputs import whole_number
from league.web.common.options import OptionsForm, game_chosen
from league.web.common.viewers import player_of, viewer_of
from league.web.matches.playing import SharedForm, clock_name, clock_word
from league.web.matches.seats import numbered

# What a form does to a seat.
SEAT_DOES = {"sit": rooms.take_seat, "move": rooms.take_seat, "swap": rooms.swap, "send-away": rooms.send_away}
DOES = frozenset({*SEAT_DOES, "ready", "unready", "start", "change", "refresh", "rematch"})
# The places around the table by the number of seats, as in table.js: from the viewer's own seat to the right.
PLACES = {
    1: "s",
    2: "s n0",
    3: "s r0 l0",
    4: "s r1 n0 l1",
    5: "s r1 r0 l0 l1",
    6: "s r2 r1 n0 l1 l2",
    7: "s r2 r1 r0 l0 l1 l2",
}


@dataclass(frozen=True)
class WaitingSeat:
    """A seat of the waiting room. name: "" if it is free."""

    number: int
    place: str
    name: str
    is_own: bool
    is_partner: bool
    is_ready: bool
    is_host: bool


def page(
    request: HttpRequest,
    view: TableView,
    form: SharedForm | None = None,
    options: OptionsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the room. The page follows the table and loads it when it starts."""
    row = view.row
    topics.follow(request, topics.of_table(row.public_id))
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    if form is None or options is None:
        options = OptionsForm(game, initial={"players": game.players} | _chosen_options(row))
        initial = {"game": game.key, "level": row.level, "boards": row.boards, "listed": row.listed}
        initial["clock"] = clock_word(row.clock_s, row.increment_s)
        initial |= {"watching": row.watching, "same_deals": bool(row.deals)}
        form = SharedForm(tries.rivals(), initial=initial)
    seats = _seats(view, game)
    free = sum(not seat.name for seat in seats)
    context = {
        "row": row,
        "view": view,
        "seats": seats,
        "free": free,
        "alone": len(view.people) == 1,
        "form": form,
        "options": options,
        "changing": status != 200 or request.method == "POST",
        "level": Level(row.level).label if row.level in Level.values else "",
        "clock": clock_name(row.clock_s, row.increment_s),
        "watching": row.get_watching_display(),
        "challenges": challenges.at_table(row),
        "player": viewer_of(request),
    }
    return render(request, "matches/waiting.html", context, status=status)


def _chosen_options(row: Table) -> dict[str, object]:
    return {f"option_{name}": value for name, value in row.pool.options.items()}


def _seats(view: TableView, game: engine.Game) -> list[WaitingSeat]:
    """Return the seats in their places, the viewer's own nearest."""
    names = numbered([view.name(seat) if seat in view.people else "" for seat in range(game.players)])
    places, host = PLACES[game.players].split(" "), view.host
    own_side = next(side for side in game.sides if view.seat in side)
    seats = []
    for number in range(game.players):
        person = view.people.get(number)
        place = places[(number - view.seat) % game.players]
        is_own = person is not None and person is view.own
        is_partner = view.is_own and number != view.seat and number in own_side
        name = names[number] if person is not None else ""
        is_ready = person is not None and person.ready
        seats.append(
            WaitingSeat(number, place, name, is_own, is_partner, is_ready, person is not None and person is host)
        )
    return seats


def act(request: HttpRequest, public_id: str, do: str) -> HttpResponse:
    """Sit down, move, get ready, start, change settings or seats, ask somebody to leave, or open a rematch."""
    where, key = redirect("table", public_id=public_id), ""
    sitter = cookies.person_of(request)
    if do == "sit" and sitter is None:
        sitter, key = (player_of(request), "") if request.user.is_authenticated else cookies.new_guest(request)
    view = seating.visible(sitter, public_id)
    if sitter is None or view is None or not view.row.shared:
        raise Http404
    try:
        if do in SEAT_DOES:
            SEAT_DOES[do](sitter, public_id, whole_number(request.POST.get("seat")))
        elif do in ("ready", "unready"):
            rooms.get_ready(sitter, public_id, ready=do == "ready")
        elif do == "start":
            rooms.start(sitter, public_id)
        elif do == "rematch":
            where = redirect("table", public_id=rooms.rematch(sitter, public_id).public_id)
        else:
            return _change(request, view, do)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return where
    if key:
        cookies.remember(where, key)
    return where


def _change(request: HttpRequest, view: TableView, do: str) -> HttpResponse:
    """Change the settings; `refresh` only shows the rules of another game."""
    if not view.is_host or not view.row.gathering or view.own is None:
        raise Http404
    form, options = SharedForm(tries.rivals(), request.POST), OptionsForm(game_chosen(request.POST), request.POST)
    if do == "refresh":
        sent = {name: form.data.get(name, "") for name in form.fields}
        chosen = {name: options.data.get(name, "") for name in options.fields}
        return page(request, view, SharedForm(tries.rivals(), initial=sent), OptionsForm(options.game, initial=chosen))
    if not (form.is_valid() and options.is_valid()):
        return page(request, view, form, options, 422)
    sitter = cookies.person_of(request)
    try:
        rooms.change(sitter, view.row.public_id, **form.settings(options))  # type: ignore[arg-type]  # the host is somebody
    except Refused as refusal:
        form.add_error(None, shown(refusal))
        return page(request, view, form, options, 422)
    return redirect("table", public_id=view.row.public_id)
