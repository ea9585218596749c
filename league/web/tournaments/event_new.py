"""New events and recurring leagues by form, and what their owners and players do with them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

import engine
from league.domain.core.errors import Refused, shown
from league.domain.people import players
from league.domain.tournaments import circuits, events
from league.models import Bot, Circuit, Player
from league.web.common import queries
from league.web.common.game_lines import at_table, describe
from league.web.tournaments import forecasts
from league.web.tournaments.event_forms import CircuitForm, EventForm, usable


def _choose_game(request: HttpRequest, template: str) -> HttpResponse:
    return render(request, template, {"games": [describe(one) for one in engine.games()]})


def _shown(game: engine.Game) -> dict[str, Any]:
    return {
        "game": describe(game.key),
        "seats": game.players,
        "players": game.declared.players,
        "formats": usable(game),
    }


@login_required
def event(request: HttpRequest) -> HttpResponse:
    """The form of a new event; without `?game=` the choice of its game."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        return _choose_game(request, "tournaments/event_new.html")
    game = at_table(key, request.GET.get("players", ""))
    versions = dict(queries.entrants(key))
    form = EventForm(game, [(slug, str(v)) for slug, v in versions.items()], request.POST or None)
    told = ""
    if request.method == "POST" and form.is_valid():
        chosen = [versions[slug] for slug in form.cleaned_data["bots"]]
        if request.POST.get("action") == "predict":
            told = forecasts.event(form.document(), len(chosen))
        else:
            try:
                with transaction.atomic():
                    made = events.create(players.player_of_user(request.user), form.document(), chosen)
            except Refused as refusal:
                form.add_error(None, shown(refusal))
            else:
                return redirect("event", slug=made.slug)
    bad = request.method == "POST" and bool(form.errors or any(stage.errors for stage in form.stages))
    context = _shown(game) | {"form": form, "prediction": told}
    return render(request, "tournaments/event_new.html", context, status=422 if bad else 200)


def event_forecast(request: HttpRequest) -> HttpResponse:
    """What the event of a form would take, as plain text: the form asks while somebody types. Four queries."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        raise Http404
    versions = queries.entrants(key)
    form = EventForm(
        at_table(key, request.GET.get("players", "")), [(slug, str(v)) for slug, v in versions], request.GET
    )
    form.fields["name"].required = False
    text = forecasts.event(form.document(), len(form.cleaned_data["bots"])) if form.is_valid() else ""
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@login_required
def circuit(request: HttpRequest) -> HttpResponse:
    """The form of a new recurring league; without `?game=` the choice of its game."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        return _choose_game(request, "tournaments/circuit_new.html")
    game = at_table(key, request.GET.get("players", ""))
    owner = players.player_of_user(request.user)
    mine = {slug: v for slug, v in queries.entrants(key) if v.bot.owner_id == owner.pk}
    form = CircuitForm(game, [(slug, slug) for slug in mine], request.POST or None, initial={"bots": list(mine)})
    if request.method == "POST" and form.is_valid():
        try:
            made = _create_circuit(owner, game, form, [mine[slug].bot for slug in form.cleaned_data["bots"]])
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            return redirect("circuit", slug=made.slug)
    return render(
        request, "tournaments/circuit_new.html", _shown(game) | {"form": form}, status=422 if form.errors else 200
    )


def _create_circuit(owner: Player, game: engine.Game, form: CircuitForm, bots: list[Bot]) -> Circuit:
    with transaction.atomic():
        made = circuits.create(owner, form.cleaned_data["name"], game.key, players=game.players, **form.wanted())
        for bot in bots:
            circuits.join(made, bot, actor=owner.name)
    return made


@login_required
@require_POST
def circuit_do(request: HttpRequest, slug: str) -> HttpResponse:
    """Let one's own bot join or leave; let one's own league rest or go on. Who owns the league may take any bot out."""
    found = get_object_or_404(Circuit, slug=slug)
    viewer = players.player_of_user(request.user)
    owned = viewer.pk == found.owner_id or request.user.is_staff
    action = request.POST.get("action", "")
    try:
        if action in ("rest", "go") and owned:
            circuits.set_active(found, action == "go", actor=viewer.name)
        elif action in ("join", "leave"):
            bot = get_object_or_404(Bot, slug=request.POST.get("bot", ""))
            if bot.owner_id != viewer.pk and not (action == "leave" and owned):
                raise PermissionDenied
            (circuits.join if action == "join" else circuits.leave)(found, bot, actor=viewer.name)
        else:
            raise PermissionDenied
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("circuit", slug=slug)
