"""A game as pages speak of it: what its declaration in the engine says, in the language of the reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

import engine
from league.models import Pool
from league.web.common.inputs import whole_number
from league.web.common.words import unit_name


@dataclass(frozen=True)
class DescribedGame:
    """A game at its usual table."""

    key: str
    title: str
    line: str
    players: tuple[int, ...]
    unit: str


def describe_game(key: str) -> DescribedGame:
    """The game of a key, in the reader's language; in English where its declaration has no line in that language."""
    game = engine.load(key)
    lines = game.declared.line
    line = lines.get((get_language() or "en")[:2]) or lines.get("en", "")
    return DescribedGame(key, game.title, line, tuple(sorted(game.declared.players)), unit_name(game.score_unit))


def game_at_table(key: str, players: str) -> engine.Game:
    """The game for as many players as the text says, else at its usual table."""
    usual, wanted = engine.load(key), whole_number(players)
    return engine.load(key, players=wanted) if wanted in usual.declared.players else usual


@lru_cache(maxsize=200)
def game_title(key: str) -> str:
    """The title of a game; a key that the engine no longer has comes back as it is."""
    return engine.load(key).title if key in engine.games() else key


def number_range(players: tuple[int, ...]) -> str:
    """'3-6' for (3, 4, 5, 6), '2, 4' for (2, 4)."""
    if len(players) > 1 and players == tuple(range(players[0], players[-1] + 1)):
        return f"{players[0]}–{players[-1]}"
    return ", ".join(map(str, players))


def pool_label(pool: Pool) -> str:
    """'Tute cabrero, 4 players, max_losses 3': what stands over a table of ratings."""
    parts = [game_title(pool.game)]
    if pool.game in engine.games() and len(engine.load(pool.game).declared.players) > 1:
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
