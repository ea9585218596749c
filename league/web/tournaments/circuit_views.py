"""Pages of recurring leagues: one league with its seasons, and the actions of owners and players."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from league.domain.bots import consent
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.tournaments import circuits, formats, requests, rule
from league.models import Bot, Circuit
from league.service import changes
from league.web.common.inputs import bot_named, next_page
from league.web.common.viewers import may_manage, player_of, user_of, viewer_of
from league.web.tournaments import pictures
from league.web.tournaments.correcting import CORRECTIONS, SURE, correct_contest, is_deletable, is_sure
from league.web.tournaments.entrants import entrants, tell_entered, tournaments_with_entries
from league.web.tournaments.log_lines import public_lines

MOST_SEASONS = 20  # The most seasons on the page, the latest.


@changes.kept_until(changes.EVENTS, changes.TOURNAMENTS, changes.BOTS, changes.CLOCK, changes.FOLLOWS)
def circuit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a recurring league: its calendar, its bots and its latest seasons by division, and the table of the quarter. Seven queries."""
    rows = circuits.with_last_due(Circuit.objects.select_related("owner__user")).prefetch_related("bots")
    circuit = get_object_or_404(rows, slug=slug)
    latest = circuit.seasons.order_by("-number").prefetch_related(tournaments_with_entries(None))[:MOST_SEASONS]
    context = {
        "circuit": circuit,
        "counting": rule.counting_of_circuit(circuit),
        "next": circuits.next_due(circuit),
        "seasons": latest,
        "waiting": requests.waiting(circuit),
        "log": public_lines(circuit),
        "room": circuits.room(circuit),
        "table": circuits.table(circuit, now=clock.present()),
        "points": circuits.POINTS,
        "picture": pictures.of_circuit(circuit, list(circuit.bots.all())),
        "title": next(entry.title for entry in formats.describe_formats() if entry.key == circuit.format),
    }
    return render(request, "tournaments/circuit.html", context | _possible_actions(request, circuit))


def _possible_actions(request: HttpRequest, circuit: Circuit) -> dict[str, object]:
    """Return the bots that the viewer may add or remove. Two more queries for a viewer who is logged in."""
    viewer = viewer_of(request)
    if viewer is None:
        return {}
    owned = may_manage(request, circuit.owner_id)
    joined = {bot.slug: bot for bot in circuit.bots.all()}
    own = ownership.allowed_bots(viewer, joined.values(), BotAct.ENTER)
    own_slugs = [slug for slug, _version in entrants(circuit.game, ownership.owned(viewer, BotAct.ENTER))]
    is_out = not owned and not consent.is_welcome(circuit, viewer)
    has_share = owned or (len(own) < circuit.per_player and not is_out)
    return {
        "owned": owned,
        "is_out": is_out,
        "deletable": owned and is_deletable(circuit),
        "can_join": [slug for slug in own_slugs if slug not in joined] if has_share else [],
        "can_leave": [slug for slug, bot in joined.items() if owned or bot.pk in own],
    }


@login_required
@require_POST
def act_on_circuit(request: HttpRequest, slug: str) -> HttpResponse:
    """Let the player's bot join or leave, or pause or resume the player's own league.

    The owner of the league may remove any bot, and ask for any.
    """
    circuit = get_object_or_404(Circuit, slug=slug)
    viewer = player_of(request)
    owned = may_manage(request, circuit.owner_id)
    action = request.POST.get("action", "")
    try:
        if action in SURE and owned and not is_sure(request):
            pass
        elif action in CORRECTIONS and owned:
            correct_contest(request, circuit, viewer, action)
        elif action in ("rest", "go") and owned:
            circuits.set_active(circuit, action == "go", actor=viewer.name)
        elif action in ("join", "leave"):
            bot = get_object_or_404(Bot, slug=request.POST.get("bot", ""))
            if not ownership.may(viewer, bot, BotAct.ENTER) and not (action == "leave" and owned):
                raise PermissionDenied
            (circuits.join if action == "join" else circuits.leave)(circuit, bot, player=viewer)
        elif action == "ask" and viewer.pk == circuit.owner_id:
            bot = bot_named(request.POST.get("bot", ""), user_of(request))
            waits = circuits.join(circuit, bot, player=viewer, message=request.POST.get("message", ""))
            tell_entered(request, bot, is_request=waits is not None)
        else:
            raise PermissionDenied
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect(next_page(request, reverse("circuit", args=[slug]))) if circuit.pk else redirect("tournaments")
