"""Leagues that recur by the calendar: one with its seasons, a new one, and what its owner and its players do with it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

import engine
from league.domain.core.errors import Refused, shown
from league.domain.tournaments import circuits, formats, requests
from league.models import Bot, Circuit, Player
from league.service import changes
from league.web.common.game_lines import game_at_table
from league.web.common.inputs import bot_named
from league.web.common.viewers import may_manage, player_of, viewer_of
from league.web.tournaments.entrants import entrants, tell_entered, tournaments_with_entries
from league.web.tournaments.event_forms import CircuitForm
from league.web.tournaments.game_choice import choose_game, chosen_game

MOST_SEASONS = 20  # the latest


@changes.kept_until(changes.EVENTS, changes.TOURNAMENTS, changes.BOTS)
def circuit(request: HttpRequest, slug: str) -> HttpResponse:
    """One recurring league: its calendar, who takes part, and its latest seasons by division. Six queries."""
    rows = Circuit.objects.select_related("owner").prefetch_related("bots", "seasons")
    found = get_object_or_404(rows, slug=slug)
    latest = found.seasons.order_by("-number").prefetch_related(tournaments_with_entries(None))[:MOST_SEASONS]
    context = {
        "circuit": found,
        "next": circuits.next_due(found),
        "seasons": latest,
        "waiting": requests.waiting(found),
        "title": next(one.title for one in formats.describe_formats() if one.key == found.format),
    }
    return render(request, "tournaments/circuit.html", context | _possible_actions(request, found))


def _possible_actions(request: HttpRequest, found: Circuit) -> dict[str, object]:
    """What the viewer may do: which bots may join or be taken out. Two queries more for a viewer who is logged in."""
    viewer = viewer_of(request)
    if viewer is None:
        return {}
    owned = may_manage(request, found.owner_id)
    joined = {bot.slug: bot.owner_id for bot in found.bots.all()}
    mine = [slug for slug, _version in entrants(found.game, Q(owner=viewer))]
    return {
        "owned": owned,
        "can_join": [slug for slug in mine if slug not in joined],
        "can_leave": [slug for slug, owner in joined.items() if owned or owner == viewer.pk],
    }


@login_required
def new_circuit(request: HttpRequest) -> HttpResponse:
    """The form of a new recurring league; without `?game=` the choice of its game."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        return choose_game(request, "tournaments/circuit_new.html")
    game = game_at_table(key, request.GET.get("players", ""))
    owner = player_of(request)
    mine = dict(entrants(key, Q(owner=owner)))
    form = CircuitForm(game, [(slug, slug) for slug in mine], request.POST or None, initial={"bots": list(mine)})
    if request.method == "POST" and form.is_valid():
        try:
            made = _create_circuit(owner, game, form, [mine[slug].bot for slug in form.cleaned_data["bots"]])
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            return redirect("circuit", slug=made.slug)
    return render(
        request, "tournaments/circuit_new.html", chosen_game(game) | {"form": form}, status=422 if form.errors else 200
    )


def _create_circuit(owner: Player, game: engine.Game, form: CircuitForm, bots: list[Bot]) -> Circuit:
    with transaction.atomic():
        made = circuits.create(owner, form.cleaned_data["name"], game.key, players=game.players, **form.wanted())
        for bot in bots:
            circuits.join(made, bot, player=owner)
    return made


@login_required
@require_POST
def act_on_circuit(request: HttpRequest, slug: str) -> HttpResponse:
    """Let one's own bot join or leave; let one's own league rest or go on. Who owns the league may take any bot out, and ask for any."""
    found = get_object_or_404(Circuit, slug=slug)
    viewer = player_of(request)
    owned = may_manage(request, found.owner_id)
    action = request.POST.get("action", "")
    try:
        if action in ("rest", "go") and owned:
            circuits.set_active(found, action == "go", actor=viewer.name)
        elif action in ("join", "leave"):
            bot = get_object_or_404(Bot, slug=request.POST.get("bot", ""))
            if bot.owner_id != viewer.pk and not (action == "leave" and owned):
                raise PermissionDenied
            (circuits.join if action == "join" else circuits.leave)(found, bot, player=viewer)
        elif action == "ask" and viewer.pk == found.owner_id:
            bot = bot_named(request.POST.get("bot", ""))
            waits = circuits.join(found, bot, player=viewer, message=request.POST.get("message", ""))
            tell_entered(request, bot, asked=waits is not None)
        else:
            raise PermissionDenied
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("circuit", slug=slug)
