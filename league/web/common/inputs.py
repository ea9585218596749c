"""Makes harmless what people and robots write into addresses and buttons. Django's forms do that by themselves; this is for the rest."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.models import Bot


def whole_number(text: str | None) -> int | None:
    """The value of at most nine ASCII digits; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def until_of(request: HttpRequest) -> datetime | None:
    """The moment of the field "until" of a form, None where it was left empty. Refused for what is no time."""
    text = request.POST.get("until", "").strip()
    return clock.read(text) if text else None


def short_text(text: str, most: int) -> str:
    """At most `most` characters, without NUL, which PostgreSQL takes in no text."""
    return text.replace("\0", "").strip()[:most]


def bot_named(name: str) -> Bot:
    """The bot of a form into which people write its name. Refused where there is none."""
    found = Bot.objects.select_related("owner").filter(slug=short_text(name, 40).lower()).first()
    if found is None:
        raise Refused("there is no bot {name!r}; see the list of bots", name=short_text(name, 40))
    return found
