"""Pages of teams: a player's own teams, the page of a team, and handing a bot on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from league.domain.bots import moves
from league.domain.bots import teams as domain
from league.domain.core.errors import Forbidden, Refused, shown
from league.domain.matches import sight
from league.enums import BotState, TeamRole
from league.models import Bot, Player, Team
from league.web.common import inputs, lists
from league.web.common.history import lines_of
from league.web.common.once import once
from league.web.common.viewers import player_of, user_of, viewer_of


@never_cache
@login_required
@once
def teams(request: HttpRequest) -> HttpResponse:
    """Show the player's teams, invitations and bots on offer; create a team. Five queries."""
    player = player_of(request)
    refused, name = "", inputs.short_text(request.POST.get("name", ""), 40).strip()
    if request.method == "POST":
        try:
            return redirect("team", name=domain.create(player, name).name)
        except Refused as refusal:
            refused = shown(refusal)
    context = {
        "invitations": domain.invitations(player),
        "offers": moves.offers(player),
        "memberships": player.memberships.filter(since__isnull=False).select_related("team").order_by("team__name"),
        "refused": refused,
        "name": name,
    }
    return render(request, "people/teams.html", context, status=422 if refused else 200)


@never_cache
@require_safe
def team(request: HttpRequest, name: str) -> HttpResponse:
    """Show a team: its bots, and the members who agree to be shown; to a member also the others, forms and history. Eight queries at most."""
    row = get_object_or_404(Team, name=name)
    viewer = viewer_of(request)
    own, members = domain.shown_to(row, viewer)
    bots = (
        sight.bots(row.bots.select_related("owner"), user_of(request)).exclude(state=BotState.RETIRED).order_by("slug")
    )
    context: dict[str, Any] = {"team": row, "own": own, "bots": bots, "members": members}
    if own is None or own.since is None:
        return render(request, "people/team.html", context)
    page = lists.page_of(request, domain.lines(row))
    context |= {
        "is_owner": own.role == TeamRole.OWNER,
        "roles": TeamRole.choices,
        "page": page,
        "lines": lines_of(page, viewer),
        "free_bots": own.player.bots.filter(team=None, is_house=False).exclude(state=BotState.RETIRED).order_by("slug"),
    }
    return render(request, "people/team.html", context)


def _text(request: HttpRequest, name: str) -> str:
    return inputs.short_text(request.POST.get(name, ""), 40).strip()


def _bot(request: HttpRequest) -> Bot:
    return get_object_or_404(Bot, slug=_text(request, "bot"))


TeamAct = Callable[[HttpRequest, Team, Player], object]
ACTS: dict[str, TeamAct] = {
    "accept": lambda request, team, player: domain.accept(team, player, is_shown="shown" in request.POST),
    "decline": lambda request, team, player: domain.decline(team, player),
    "show": lambda request, team, player: domain.show(team, player, is_shown=request.POST.get("to") == "1"),
    "leave": lambda request, team, player: domain.leave(team, player),
    "invite": lambda request, team, player: domain.invite(
        team, _text(request, "player"), _text(request, "role"), player=player
    ),
    "role": lambda request, team, player: domain.set_role(
        team, _text(request, "player"), _text(request, "role"), player=player
    ),
    "remove": lambda request, team, player: domain.remove(team, _text(request, "player"), player=player),
    "rename": lambda request, team, player: domain.rename(team, _text(request, "to"), player=player),
    "dissolve": lambda request, team, player: domain.dissolve(team, player=player),
    "put-in": lambda request, team, player: domain.put_in(team, _bot(request), player=player),
    "take-out": lambda request, team, player: domain.take_out(_bot(request), player=player),
}
AWAY = ("decline", "leave", "dissolve")  # Acts after which the player is not in the team.


@never_cache
@login_required
@require_POST
def act_on_team(request: HttpRequest, name: str) -> HttpResponse:
    """Carry out an act of a member, or answer an invitation."""
    row = get_object_or_404(Team, name=name)
    action = request.POST.get("action", "")
    if action not in ACTS:
        raise PermissionDenied
    try:
        ACTS[action](request, row, player_of(request))
    except Forbidden as refusal:
        raise PermissionDenied(shown(refusal)) from refusal
    except Refused as refusal:
        messages.error(request, shown(refusal))
    else:
        messages.success(request, _("Saved."))
        if action in AWAY:
            return redirect("teams")
    return redirect("team", name=row.name)


@never_cache
@login_required
@require_POST
def hand_on(request: HttpRequest, slug: str) -> HttpResponse:
    """Offer the player's own bot to another player, or withdraw, decline or accept an offer."""
    bot = get_object_or_404(Bot, slug=slug)
    player, action = player_of(request), request.POST.get("action", "")
    try:
        if action == "offer":
            moves.offer(bot, _text(request, "player"), player=player)
            messages.success(request, _("The bot is yours until they accept."))
        elif action == "accept":
            moves.accept(bot, player=player)
            messages.success(request, _("The bot is yours now."))
        elif action == "end":
            moves.end(bot, player=player)
        else:
            raise PermissionDenied
    except Forbidden as refusal:
        raise PermissionDenied(shown(refusal)) from refusal
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("bot", slug=slug) if bot.owner_id == player.pk else redirect("teams")
