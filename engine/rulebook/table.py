"""Parameters and options of a game as lines of text, read from its `Rules` record and compared with the default one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from engine.game import declared, load
from engine.rulebook.words import MEANINGS
from engine.rules import Choice, Range, Rules, by_players, choices, word

NOT_SHOWN = {
    "key",
    "title",
    "code",
    "source",
    "revision",
    "options",
    "implied",
    "board_deals",
    "suits_named",
    "score_unit",
}
NOT_SHOWN |= {"forfeit", "players", "on_play", "duel_game"}
YES = {"es": ("no", "sí"), "en": ("no", "yes")}


@dataclass(frozen=True)
class Line:
    """One parameter: its name, its value at every table, the value in ordinary Tute, its meaning; `allowed` for options."""

    name: str
    value: str
    usual: str
    meaning: str
    allowed: str = ""


def text(value: Any, lang: str) -> str:
    """A value as a reader sees it; '–' for null, nothing and the empty text."""
    value = word(value)
    if isinstance(value, bool):
        return YES[lang][value]
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {text(one, lang)}" for key, one in value.items()) or "–"
    return "–" if value in (None, "") else str(value)


def lines(key: str, lang: str) -> list[Line]:
    """The parameters in which a game, at any of its tables, differs from ordinary Tute."""
    found = []
    for field in fields(Rules):
        if field.name in NOT_SHOWN:
            continue
        default = getattr(Rules(), field.name)
        values = _values(key, field.name)
        if any(word(value) != word(by_players(default, players)) for players, value in values.items()):
            found.append(
                Line(field.name, _by_table(values, lang), text(default, lang), MEANINGS[field.name][lang == "en"])
            )
    return found


def option_lines(key: str, lang: str) -> list[Line]:
    """The options of a game: default by number of players, values allowed."""
    rules = declared(key)
    found = []
    for name in rules.options:
        tables = {n: choice for n in sorted(rules.players) if (choice := choices(rules, n).get(name)) is not None}
        values = {n: value for n, value in _values(key, name).items() if n in tables}
        allowed = _by_table({n: _allowed(choice, lang) for n, choice in tables.items()}, lang)
        if len(tables) < len(rules.players) and len({str(choice) for choice in tables.values()}) == 1:
            allowed = f"{', '.join(map(str, tables))}: {allowed}"
        found.append(Line(name, _by_table(values, lang), "", MEANINGS[name][lang == "en"], allowed))
    return found


def _values(key: str, name: str) -> dict[int, Any]:
    return {n: getattr(load(key, players=n).rules, name) for n in sorted(declared(key).players)}


def _by_table(values: Mapping[int, Any], lang: str) -> str:
    texts = {n: text(value, lang) for n, value in values.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{n}: {value}" for n, value in texts.items())


def _allowed(choice: Choice, lang: str) -> str:
    if isinstance(choice, Range):
        span = f"≥ {choice.low}" if choice.high is None else f"{choice.low}–{choice.high}"
        span += f" (+{choice.step})" if choice.step > 1 else ""
        return span + (", –" if choice.none else "")
    return ", ".join(text(one, lang) for one in choice)
