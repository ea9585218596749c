"""Search: games, bots, players, tournaments and documents by their names. A search reads a few rows of an index, however large the league is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.domain.core import search_words
from league.domain.matches import sight
from league.models import Bot, Circuit, Event, Player, Team, Tournament
from league.web.common import families
from league.web.common.game_lines import describe_game
from league.web.common.inputs import short_text
from league.web.common.viewers import user_of
from league.web.pages import documents

MOST_TEXT = 60  # The most characters of a query.
MOST = 8  # Results of each kind.
FEW = 4  # Suggestions for an address that does not exist.
BOOKS = ("adr/", "rules/")  # Decisions and the rules book are for those who program a game; players have its page.
LEAST = 3  # From this many characters on, the last part of a wrong address is searched as a name.
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class SearchResult:
    """A page with its name and a short description."""

    address: str
    name: str
    about: str = ""


@dataclass(frozen=True)
class Group:
    """Results of one kind. `more` is True if there are others."""

    title: Promise | str
    results: list[SearchResult]
    more: bool = False


@never_cache
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show what a text names (`?q=`). At most nineteen queries."""
    text = short_text(request.GET.get("q", ""), MOST_TEXT)
    groups = find(text, user_of(request)) if text else []
    context = {"text": text, "groups": groups, "families": families.by_family() if not groups else []}
    return render(request, "pages/search.html", context)


def find(text: str, viewer: User | None) -> list[Group]:
    """Return the pages with this name that `viewer` may see; kinds without results are left out."""
    term = slugify(text)
    if not term:
        return []
    tournaments = sight.tournaments(Tournament.objects.defer("secret"), viewer)
    events = sight.events(Event.objects.defer("secret"), viewer)
    contests = [
        *_own_contests(text, viewer),
        *((row, reverse("tournament", args=[row.slug])) for row in _named(tournaments, "slug", term)),
        *((row, reverse("event", args=[row.slug])) for row in _named(events, "slug", term)),
        *((row, reverse("circuit", args=[row.slug])) for row in _named(Circuit.objects.all(), "slug", term)),
    ]
    bots = _named(sight.bots(Bot.objects.select_related("owner"), viewer), "slug", term)
    players = _named(Player.objects.all(), "name", term)
    teams = _named(Team.objects.all(), "name", term)
    groups = [
        _group(_("Games"), games(term)),
        _group(_("Bots"), [SearchResult(reverse("bot", args=[bot.slug]), bot.slug, bot.owner.name) for bot in bots]),
        _group(_("Players"), [SearchResult(reverse("player", args=[row.name]), row.name) for row in players]),
        _group(_("Teams"), [SearchResult(reverse("team", args=[row.name]), row.name) for row in teams]),
        _group(_("Tournaments"), [SearchResult(address, row.name) for row, address in contests]),
        _group(_("Documents"), papers(term)),
    ]
    return [group for group in groups if group.results]


def _own_contests(text: str, viewer: User | None) -> list[tuple[Tournament | Event, str]]:
    """Return the viewer's private events by name, because their addresses do not contain it. One query."""
    if viewer is None:
        return []
    rows = Event.objects.filter(owner__user=viewer, private=True, name__icontains=text).defer("secret")
    return [(row, reverse("event", args=[row.slug])) for row in rows.order_by("-pk")[:MOST]]


def _group(title: Any, results: Sequence[SearchResult]) -> Group:
    return Group(title, list(results[:MOST]), len(results) > MOST)


def _named(rows: QuerySet[Row], column: str, term: str) -> list[Row]:
    """Return the rows of a group by name, and one more if there are others. At most three queries."""
    return search_words.named(rows, column, term, MOST + 1)


def games(term: str) -> list[SearchResult]:
    """Return the games whose title, key or popular name contains a term, or nearly does. No query."""
    names = {key: [slugify(name) for name in families.names(key)] for key in families.game_order()}
    fitting = [key for key in names if any(term in name for name in names[key])]
    if not fitting:
        near = get_close_matches(term, [name for row in names.values() for name in row], MOST)
        fitting = [key for key in names if set(near) & set(names[key])]
    return [_game(key) for key in fitting]


def _game(key: str) -> SearchResult:
    game = describe_game(key)
    return SearchResult(reverse("game", args=[key]), game.title, game.line)


def papers(term: str) -> list[SearchResult]:
    """Return the documents whose title contains all words of a term. No query."""
    words = term.split("-")
    titled = [(name, title, slugify(title)) for name, title in documents.titles() if not name.startswith(BOOKS)]
    return [
        SearchResult(reverse("doc", args=[name]), title)
        for name, title, slug in titled
        if all(word in slug or word in name for word in words)
    ]


def suggestions(path: str) -> list[SearchResult]:
    """Return pages whose name resembles the last part of an address that does not exist. No query."""
    part = slugify(path.rstrip("/").rpartition("/")[2].replace("_", "-"))[:MOST_TEXT]
    if len(part) < LEAST:
        return []
    return [*games(part), *papers(part)][:FEW]
