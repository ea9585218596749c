"""A game as pages speak of it: its title, one line about it, its parameters. Everything else is asked of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as N_
from django.utils.translation import ngettext

import engine
from engine.rules import Range, Rules, by_players, choices, word
from league.models import Pool
from league.web.words import unit_name

LINES = {
    "partnership": N_("Two against two, all forty cards dealt; partners sit opposite and count together."),
    "corriente": N_("Two players and a stock: draw, exchange the shown card, sing, and claim the win in time."),
    "cabrero": N_("Three to six players, no friends: whoever ends in the middle loses, until one is left out."),
    "a_dos": N_("Two players, six cards each and a stock: the duel that ends a cabrero."),
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
    return {True: _("yes"), False: _("no"), None: "–", "": "–"}.get(value, str(value))  # type: ignore[call-overload]


@dataclass(frozen=True)
class Parameter:
    """A line of the parameter table. `differs`: not as in ordinary Tute. `choices`: what an organiser may choose, as text."""

    name: str
    value: str
    differs: bool
    choices: str


def parameters(key: str, players: int | None = None) -> list[Parameter]:
    """Every parameter of a game at a table, from the engine's own record, so that the page cannot lie; what differs first."""
    game = engine.load(key) if players is None else engine.load(key, players=players)
    usual = {field.name: _default(field) for field in fields(Rules)}
    free = choices(game.declared, game.players)
    found = []
    for name in usual:
        if name in ("key", "title", "code", "source", "options", "implied", "duel_game", "players", "on_play"):
            continue
        value = word(getattr(game.rules, name))
        allowed = free.get(name)
        shown = str(allowed) if isinstance(allowed, Range) else ", ".join(_value(word(one)) for one in allowed or ())
        found.append(Parameter(name, _value(value), value != word(by_players(usual[name], game.players)), shown))
    return sorted(found, key=lambda parameter: not (parameter.differs or parameter.choices))


def _default(field: Any) -> Any:
    from dataclasses import MISSING

    return (
        field.default_factory() if field.default is MISSING and field.default_factory is not MISSING else field.default
    )
