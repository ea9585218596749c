"""The games in groups as card players know them, the best known first. Every list of games on the site has this order."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

import engine
from league.web.common.game_lines import DescribedGame, describe_game


@dataclass(frozen=True)
class Family:
    """A group of games under one heading. `title` is translated when it is read."""

    key: str
    title: Promise | str
    games: tuple[str, ...]


FAMILIES = (
    Family("known", _("The best known"), ("partnership", "subastado", "cabrero", "brisca", "guinote")),
    Family("two", _("For two"), ("two_player", "corriente", "americano", "habanero")),
    Family("bids", _("With bids and calls"), ("remate", "codillo", "bato", "podrida")),
    Family("america", _("From Argentina, Uruguay and Cuba"), ("chancho", "a_dos", "havanian")),
    Family(
        "others",
        _("Other ways to play"),
        ("individual", "arrastrado", "gana_pierde_3", "gana_pierde_4_5", "variable_trump"),
    ),
)
BEST_KNOWN = FAMILIES[0].games
# Short notes for titles that are easily confused, in lists that do not show the description of each game.
NOTES = {
    "two_player": _("eight cards, follow suit from the first trick"),
    "corriente": _("six cards and a stock, to 101"),
    "americano": _("eight cards and a stock, to 121"),
    "habanero": _("eight cards and a stock, to 101"),
    "a_dos": _("six cards and a stock, one deal"),
    "havanian": _("eight cards, over 100 points"),
    "gana_pierde_3": _("three players"),
    "gana_pierde_4_5": _("four or five players"),
}
# Further names of games, in both languages, by which people search.
POPULAR = {
    "partnership": ("tute de compañeros", "tute cruzado", "tute in pairs", "partnership tute", "four player tute"),
    "subastado": ("subasta", "tute a subasta", "auction tute"),
    "cabrero": ("tute cabrón", "cabrón", "tute perrero"),
    "brisca": ("briscola", "brisca"),
    "guinote": ("guiñote aragonés",),
    "two_player": ("two-player tute", "tute para dos"),
    "corriente": ("tute normal", "tute with a stock", "tute de robo"),
    "a_dos": ("tute de a dos", "duelo"),
    "havanian": ("havana", "cuban tute", "tute cubano"),
    "podrida": ("pocha", "oh hell", "tutecillo"),
    "chancho": ("tute chancho",),
    "gana_pierde_3": ("gana pierde",),
    "gana_pierde_4_5": ("gana pierde",),
    "variable_trump": ("triunfo variable",),
}


@dataclass(frozen=True)
class FamilyOfGames:
    """A family with its games, described for the reader."""

    key: str
    title: Promise | str
    games: tuple[DescribedGame, ...]


def game_order() -> list[str]:
    """Return the keys of all games of the engine in the order of the site."""
    listed = [key for family in FAMILIES for key in family.games]
    return [key for key in listed if key in engine.games()] + [key for key in engine.games() if key not in listed]


def by_family() -> list[FamilyOfGames]:
    """Return all games of the engine by family. A game without a family comes last, in the last one."""
    listed = {key for family in FAMILIES for key in family.games}
    rest = tuple(key for key in engine.games() if key not in listed)
    families = []
    for family in FAMILIES:
        keys = family.games + (rest if family is FAMILIES[-1] else ())
        games = tuple(describe_game(key) for key in keys if key in engine.games())
        if games:
            families.append(FamilyOfGames(family.key, family.title, games))
    return families


def choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return all games as the grouped choices of a form field: (family, [(key, title with note)])."""
    return [(str(family.title), [(game.key, name(game)) for game in family.games]) for family in by_family()]


def name(game: DescribedGame) -> str:
    """Return the title of a game, with its note if the title is easily confused with another."""
    return f"{game.title} ({NOTES[game.key]})" if game.key in NOTES else game.title


def names(key: str) -> list[str]:
    """Return all names by which people search for a game: title, key and popular names."""
    return [engine.load(key).title, key.replace("_", " "), *POPULAR.get(key, ())]
