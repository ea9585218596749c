"""A game as pages speak of it: its title and one line about it. Everything else is asked of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

import engine
from league.models import Pool
from league.web.common import asked
from league.web.common.words import unit_name

LINES = {
    "partnership": gettext_noop("Two against two, all forty cards dealt; partners sit opposite and count together."),
    "corriente": gettext_noop(
        "Two players and a stock: draw, exchange the shown card, sing, and claim the win in time."
    ),
    "cabrero": gettext_noop(
        "Three to six players, no friends: whoever ends in the middle loses, until one is left out."
    ),
    "a_dos": gettext_noop("Two players, six cards each and a stock: the duel that ends a cabrero."),
    "americano": gettext_noop("Two players over several deals: the first to count 121 wins."),
    "arrastrado": gettext_noop("Three players, each alone; most points takes the deal."),
    "bato": gettext_noop("Whoever says play needs two tricks, whoever joins needs one; failing is losing."),
    "brisca": gettext_noop("No songs and no bonus: most points of the cards won."),
    "chancho": gettext_noop("A cabrero in which the cards on the table sing too."),
    "codillo": gettext_noop("A soloist and a partner whom only a called card reveals, against the rest."),
    "gana_pierde_3": gettext_noop("Three players: whoever ends in the middle loses."),
    "gana_pierde_4_5": gettext_noop(
        "Four or five players: win much, or win nothing; the winner of the last trick may decline its ten."
    ),
    "guinote": gettext_noop("The Aragonese cousin of Tute, usually two against two, over one or two deals."),
    "habanero": gettext_noop("Two players over several deals: 101 points win."),
    "havanian": gettext_noop("The Cuban game for two: more than 100 points win."),
    "individual": gettext_noop("Two or three players, each alone; most points wins the game."),
    "podrida": gettext_noop("Say how many tricks you will take, and take exactly those."),
    "remate": gettext_noop("The highest bidder against all others, for chips."),
    "subastado": gettext_noop("The highest bidder alone against two, who pool their tricks."),
    "two_player": gettext_noop("The plain game for two: more points win the deal."),
    "variable_trump": gettext_noop("Two against two, while trump and lead suit change during the play."),
}


@dataclass(frozen=True)
class Described:
    """A game at its usual table."""

    key: str
    title: str
    line: str
    players: tuple[int, ...]
    unit: str


@cache
def _facts(key: str) -> tuple[str, tuple[int, ...], str]:
    game = engine.load(key)
    return game.title, tuple(sorted(game.declared.players)), game.score_unit


def describe(key: str) -> Described:
    """The game of a key, in the reader's language."""
    title, players, unit = _facts(key)
    line = _(LINES[key]) if key in LINES else _("%(players)s players.") % {"players": spans(players)}
    return Described(key, title, line, players, unit_name(unit))


def at_table(key: str, players: str) -> engine.Game:
    """The game for as many players as the text says, else at its usual table."""
    usual, wanted = engine.load(key), asked.number(players)
    return engine.load(key, players=wanted) if wanted in usual.declared.players else usual


def title(key: str) -> str:
    """The title of a game; a key that the engine no longer has comes back as it is."""
    return _facts(key)[0] if key in engine.games() else key


def spans(players: tuple[int, ...]) -> str:
    """'3-6' for (3, 4, 5, 6), '2, 4' for (2, 4)."""
    if len(players) > 1 and players == tuple(range(players[0], players[-1] + 1)):
        return f"{players[0]}–{players[-1]}"
    return ", ".join(map(str, players))


def pool_label(pool: Pool) -> str:
    """'Tute cabrero, 4 players, max_losses 3': what stands over a table of ratings."""
    parts = [title(pool.game)]
    if pool.game in engine.games() and (len(_facts(pool.game)[1]) > 1):
        parts.append(ngettext("%(count)s player", "%(count)s players", pool.players) % {"count": pool.players})
    parts += [f"{name} {_value(value)}" for name, value in pool.options.items()]
    return ", ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_value(one)}" for key, one in value.items()) or "–"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "–" if value in (None, "") else str(value)
