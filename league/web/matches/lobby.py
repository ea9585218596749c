"""The lobby: tables open to all that wait for people, and challenges by name."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.core.errors import Refused, shown
from league.domain.tables import challenges, lobby, people, rooms, seating
from league.models import Player
from league.service import topics
from league.web.common.guests import person_of
from league.web.common.inputs import short_text
from league.web.common.options import USUAL_GAME, game_chosen
from league.web.common.viewers import player_of
from league.web.matches.playing import clock_name

MOST_NAME = 40


@never_cache
def show(request: HttpRequest) -> HttpResponse:
    """List the tables that wait for people; the page follows them. A form acts on challenges. At most six queries."""
    if not seating.is_on():
        raise Http404
    if request.method == "POST":
        return _act(request)
    topics.follow(request, topics.LOBBY)
    sitter = person_of(request)
    player = sitter if isinstance(sitter, Player) else None
    received = challenges.received(player) if player is not None else []
    challenged = {row.table_id for row in received}
    tables = [table for table in lobby.waiting(sitter) if table.row.pk not in challenged]
    context = {
        "tables": [(table, clock_name(table.row.clock_s, table.row.increment_s)) for table in tables],
        "present": people.present(sitter) if sitter is not None else None,
        "player": player,
        "received": received,
        "game": game_chosen(request.GET).key,
    }
    return render(request, "matches/lobby.html", context)


@login_required
def _act(request: HttpRequest) -> HttpResponse:
    """Challenge a player, withdraw or decline a challenge, or refuse and take challenges."""
    player, do = player_of(request), request.POST.get("do", "")
    name = short_text(request.POST.get("name", ""), MOST_NAME).strip()
    table = short_text(request.POST.get("table", ""), MOST_NAME)
    try:
        if do == "challenge":
            row = rooms.challenge(player, name, USUAL_GAME)
            messages.success(request, _("%(name)s gets a notice of your challenge.") % {"name": name})
            return redirect("table", public_id=row.public_id)
        if do == "withdraw":
            challenges.withdraw(player, table, name)
            return redirect("table", public_id=table)
        if do == "decline":
            challenges.decline(player, table)
        elif do in ("take", "refuse"):
            challenges.choose(player, takes=do == "take")
            messages.success(request, _("Saved."))
        else:
            raise Http404
    except Refused as refusal:
        messages.error(request, shown(refusal))
        present = people.present(player)
        if do in ("challenge", "withdraw") and present is not None:
            return redirect("table", public_id=present.public_id)
    return redirect("lobby")
