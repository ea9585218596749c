"""Who looks at a page, and what they may change."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest

from league.domain.people import players
from league.models import Player

_KEPT = "_league_viewer"  # attribute of a request that holds its player once it was looked up


def viewer_of(request: HttpRequest) -> Player | None:
    """The player who looks, or None. At most one query a request."""
    if not request.user.is_authenticated:
        return None
    if not hasattr(request, _KEPT):
        setattr(request, _KEPT, Player.objects.select_related("user").filter(user=request.user).first())
    found: Player | None = getattr(request, _KEPT)
    return found


def user_of(request: HttpRequest) -> User | None:
    """The account that looks, or None: what league.domain.matches.sight asks for. No query that was not made already."""
    return request.user if isinstance(request.user, User) else None


def player_of(request: HttpRequest) -> Player:
    """The player of a page that asks for a login (`login_required`). An account without a player gets one."""
    if not isinstance(request.user, User):
        raise TypeError("player_of was asked outside of a page that asks for a login")
    return players.player_of_user(request.user)


def may_manage(request: HttpRequest, owner_id: int) -> bool:
    """Whether who looks is this owner. Operators act on their own pages, with a right and a reason (league.domain.operators)."""
    viewer = viewer_of(request)
    return viewer is not None and viewer.pk == owner_id


def may_look(request: HttpRequest, owner_id: int) -> bool:
    """Whether who looks may read what is meant for this owner: the owner, and the staff."""
    viewer = viewer_of(request)
    return viewer is not None and (viewer.pk == owner_id or viewer.user.is_staff)
