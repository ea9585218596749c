"""The viewer of a page, and the viewer's rights."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.functional import SimpleLazyObject

from league.domain.matches import sight
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.domain.people.sessions import SessionStore
from league.models import Bot, Player


class SessionAccounts(AuthenticationMiddleware):
    """Django's middleware, but the account of a session and its player come with the session, in one query instead of three."""

    def process_request(self, request: HttpRequest) -> None:
        """Set `request.user`, which is read when it is needed."""
        super().process_request(request)
        session = cast(SessionStore, request.session)
        request.user = cast(User, SimpleLazyObject(lambda: session.account() or get_user(request)))


def viewer_of(request: HttpRequest) -> Player | None:
    """Return the viewer's player, or None if there is none (which Django's relation raises as an AttributeError). No query in a session."""
    viewer: Player | None = getattr(request.user, "player", None)
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
