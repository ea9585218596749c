"""Checks of values from addresses and buttons that do not pass through Django's forms."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.models import Bot


def whole_number(text: str | None) -> int | None:
    """Return the value of at most nine ASCII digits; None for any other text."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def is_own_form(request: HttpRequest) -> bool:
    """Return True if the browser's headers say that the form comes from this site. Forms of cached pages have no token."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"


def whole_address(request: HttpRequest, path: str) -> str:
    """Return the full address of a path, with scheme and host; "" if the host of the request is not allowed."""
    try:
        return request.build_absolute_uri(path)
    except DisallowedHost:
        return ""


def next_page(request: HttpRequest, default: str) -> str:
    """Return the path of this site that a form names in `next`, or the default if it names another site or none."""
    path = request.POST.get("next") or request.GET.get("next") or ""
    return path if path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None) else default


def short_text(text: str, most: int) -> str:
    """Return at most `most` characters, without NUL, which PostgreSQL does not accept."""
    return text.replace("\0", "").strip()[:most]


def bot_named(name: str, viewer: User | None) -> Bot:
    """Return the bot whose name somebody has typed. Raise Refused if there is none that `viewer` may know of."""
    bot = sight.bots(Bot.objects.select_related("owner"), viewer).filter(slug=short_text(name, 40).lower()).first()
    if bot is None:
        raise Refused("there is no bot {name!r}; see the list of bots", name=short_text(name, 40))
    return bot
