"""The page of requests to enter other players' bots: open ones, answered ones, and blocked players."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.bots import consent, moves, teams
from league.domain.core.errors import Refused, shown
from league.domain.tournaments import requests as domain
from league.enums import RequestStatus
from league.models import Player
from league.web.common import inputs, lists
from league.web.common.viewers import player_of

ANSWERS = {"grant": domain.grant, "refuse": domain.refuse, "withdraw": domain.withdraw}
MOST = 30  # The most answered requests on the page.


@never_cache
@login_required
def requests(request: HttpRequest) -> HttpResponse:
    """Show requests to the player, the player's own requests, and the latest answers. Nine queries."""
    player = player_of(request)
    if request.method == "POST":
        try:
            _act(request, player)
        except Refused as refusal:
            messages.error(request, shown(refusal))
        return redirect("requests")
    rows = domain.requests_of(player)
    waiting = rows.filter(status=RequestStatus.ASKED)
    context = {
        "to_answer": lists.page_of(request, waiting.exclude(asker=player), name="to_answer"),
        "asked": lists.page_of(request, waiting.filter(asker=player), name="asked"),
        "answered": rows.exclude(status=RequestStatus.ASKED).order_by("-answered", "-pk")[:MOST],
        "bots": player.bots.exclude(state="retired").order_by("slug"),
        "blocks": player.blocks.select_related("blocked").order_by("blocked__name"),
        "player": player,
        "in_teams": teams.invitations(player).exists() or moves.offers(player).exists(),
    }
    return render(request, "tournaments/requests.html", context)


def _act(request: HttpRequest, player: Player) -> None:
    if "block" in request.POST:
        consent.block(player, inputs.short_text(request.POST["block"], 40))
        messages.success(request, _("Player blocked. Their open requests are refused."))
    elif "unblock" in request.POST:
        consent.unblock(player, inputs.short_text(request.POST["unblock"], 40))
        messages.success(request, _("Player unblocked."))
    elif act := ANSWERS.get(request.POST.get("action", "")):
        number = inputs.whole_number(request.POST.get("request"))
        answered = act(get_object_or_404(domain.requests_of(player), pk=number), player=player)
        messages.success(request, f"{answered.bot.slug}: {answered.get_status_display()}")
