"""The sections of the site, as the header, the bar on phones and the menus show them."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from league.domain.tables import seating


@dataclass(frozen=True)
class Section:
    """A section: the name of its first page, and the beginnings of the names of its pages."""

    key: str
    title: Promise | str
    start: str
    pages: tuple[str, ...]
    at_thumb: bool = True  # True if the bar on phones has a place for it.


@dataclass(frozen=True)
class ShownSection:
    """A section as a page shows it."""

    key: str
    title: Promise | str
    address: str
    at_thumb: bool
    here: bool


SECTIONS = (
    Section("play", _("Play"), "play", ("play", "lobby", "table", "puzzle")),
    Section("watch", _("Watch"), "tv", ("tv", "match", "board", "event-show", "watch")),
    Section(
        "ladders", _("Ladders"), "games", ("game", "overall", "bots", "bot", "version", "encounter", "player", "digest")
    ),
    Section(
        "tournaments",
        _("Tournaments"),
        "tournaments",
        ("tournament", "event", "circuit", "calendar", "arena"),
        at_thumb=False,
    ),
    Section("build", _("Build"), "editor", ("editor", "try", "submit", "bot-", "challenge", "match-sent")),
    Section(
        "learn",
        _("Learn"),
        "learn",
        ("learn", "how", "doc", "source", "teach", "class", "research", "data", "run-your-own"),
        at_thumb=False,
    ),
)


OWN = {"bot": "build", "version": "build"}  # Sections of pages about one's own bot.


def sections(page: str, *, is_own: bool = False) -> list[ShownSection]:
    """Return the sections. `here` is True for the section that contains the page named `page`. No query.

    is_own: the page is about a bot of the viewer.
    """
    here = (is_own and OWN.get(page)) or section_of(page)
    rows = []
    for section in SECTIONS:
        start = section.start
        if section.key == "play" and not seating.is_on():
            if not settings.PUZZLES:
                continue
            start = "puzzles"  # In a league without tables people can still solve puzzles.
        address = reverse(start)
        rows.append(ShownSection(section.key, section.title, address, section.at_thumb, section.key == here))
    return rows


def section_of(page: str) -> str:
    """Return the key of the section with the longest prefix of the page's name; "" if no section has one."""
    beginnings = [
        (len(start), section.key) for section in SECTIONS for start in section.pages if page.startswith(start)
    ]
    return max(beginnings, default=(0, ""))[1]
