"""Guests in the browser: a signed cookie has the key of a guest, whose tables and tries move to the account when the guest logs in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse

from league.domain.bots import tries
from league.domain.people import guests, players
from league.domain.people.guests import Person, Visitor
from league.domain.tables import guests as tables
from league.service.limits import address
from league.web.common.viewers import viewer_of

COOKIE = settings.GUEST_COOKIE_NAME
SALT = "league.guest"


def person_of(request: HttpRequest) -> Person | None:
    """Return the person at this browser: the player who is logged in, else the guest of the cookie, else None."""
    return viewer_of(request) if request.user.is_authenticated else guest_of(request)


def guest_of(request: HttpRequest) -> Visitor | None:
    """Return the guest of the cookie; None if the cookie is missing, forged or too old."""
    key = _key(request)
    return guests.of_key(key, address(request)) if key else None


def _key(request: HttpRequest) -> str:
    try:
        return request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=int(guests.KEPT.total_seconds())) or ""
    except BadSignature:
        return ""


def new_guest(request: HttpRequest) -> tuple[Visitor, str]:
    """Return the guest of the cookie, or a new guest, with the key that `remember` writes."""
    key = _key(request) or guests.new_key()
    return guests.of_key(key, address(request)), key


def remember(response: HttpResponse, key: str) -> None:
    """Write the guest's key into a cookie that lasts as long as the guest's tables and tries."""
    response.set_signed_cookie(
        COOKIE,
        key,
        salt=SALT,
        max_age=int(guests.KEPT.total_seconds()),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _adopt(sender: Any, request: HttpRequest | None, user: Any, **_: Any) -> None:
    if request is not None and (guest := guest_of(request)) is not None:
        player = players.player_of_user(user)
        tables.adopt(player, guest)
        tries.adopt(player, guest)


user_logged_in.connect(_adopt, dispatch_uid="league.web.guests")
