"""Descriptions of games from their declarations in the engine, in the language of the reader."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import get_language, gettext, ngettext

import engine
from league.models import Pool, Study
from league.web.common.options import describe_options
from league.web.common.words import unit_name


@dataclass(frozen=True)
class DescribedGame:
    """A game with its usual number of players."""

    key: str
    title: str
    line: str
    players: tuple[int, ...]
    unit: str


def describe_game(key: str) -> DescribedGame:
    """Describe a game in the reader's language, or in English if its declaration has no line in that language."""
    game = engine.load(key)
    lines = game.declared.line
    line = lines.get((get_language() or "en")[:2]) or lines.get("en", "")
    return DescribedGame(key, game.title, line, tuple(sorted(game.declared.players)), unit_name(game.score_unit))


@lru_cache(maxsize=200)
def game_title(key: str) -> str:
    """Return the title of a game, or the key itself if the engine no longer has it."""
    return engine.load(key).title if key in engine.games() else key


def number_range(players: tuple[int, ...]) -> str:
    """Return '3–6' for (3, 4, 5, 6), '2, 4' for (2, 4)."""
    if len(players) > 1 and players == tuple(range(players[0], players[-1] + 1)):
        return f"{players[0]}–{players[-1]}"
    return ", ".join(map(str, players))


def pool_label(pool: Pool) -> str:
    """Return the heading of a rating list, such as 'Tute subastado, 4 players, Subastado with a censor'."""
    parts = [game_title(pool.game), *([gettext("remote bots")] if pool.remote else [])]
    if pool.game in engine.games() and len(engine.load(pool.game).declared.players) > 1:
        parts.append(ngettext("%(count)s player", "%(count)s players", pool.players) % {"count": pool.players})
    return ", ".join([*parts, *filter(None, [describe_options(pool.game, pool.options)])])


def study_title(study: Study) -> str:
    """Return the rules of a study, such as '2 players, Exchange: none'."""
    number = ngettext("%(count)s player", "%(count)s players", study.players) % {"count": study.players}
    return ", ".join([number, describe_options(study.game, study.options) or gettext("the usual rules")])
