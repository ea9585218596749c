"""The viewer of a page, and the viewer's rights."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from league.domain.matches import sight
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.models import Bot, Player

_KEPT = "_league_viewer"  # Attribute of a request in which its player is cached.


def viewer_of(request: HttpRequest) -> Player | None:
    """Return the viewer's player, or None. At most one query per request."""
    if not request.user.is_authenticated:
        return None
    if not hasattr(request, _KEPT):
        player = Player.objects.filter(user=request.user.pk).first()
        if player is not None:
            player.user = request.user
        setattr(request, _KEPT, player)
    viewer: Player | None = getattr(request, _KEPT)
    return viewer


def user_of(request: HttpRequest) -> User | None:
    """Return the viewer's account, or None, for league.domain.matches.sight. No additional query."""
    return request.user if isinstance(request.user, User) else None


def player_of(request: HttpRequest) -> Player:
    """Return the player on a page that requires a login. If the account has no player, create one."""
    if not isinstance(request.user, User):
        raise TypeError("player_of needs a page that requires a login")
    return players.player_of_user(request.user)


def may_manage(request: HttpRequest, owner_id: int) -> bool:
    """Return True if the viewer is the owner of a contest. Bots have their own rights (league.domain.people.ownership).

    Operators act on separate pages, with a right and a reason (league.domain.operators).
    """
    viewer = viewer_of(request)
    return viewer is not None and viewer.pk == owner_id


def known_bot(request: HttpRequest, slug: str) -> Bot:
    """Return the bot with its owner and team; 404 if the viewer may not know of it."""
    return get_object_or_404(sight.bots(Bot.objects.select_related("owner", "team"), user_of(request)), slug=slug)


def own_bot(request: HttpRequest, slug: str, act: BotAct) -> tuple[Bot, Player]:
    """Return a bot and the viewer, on a page that requires a login. Raise PermissionDenied unless the viewer may do this with the bot."""
    bot, player = known_bot(request, slug), player_of(request)
    if not ownership.may(player, bot, act):
        raise PermissionDenied
    return bot, player
