"""Parameters and options of a game as lines of text, read from its `Rules` record and compared with ordinary Tute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.game import ORDINARY, declared, load
from engine.rulebook.values import meant
from engine.rulebook.words import MEANINGS, RANKS, SUITS
from engine.rules.options import Choice, Range, word
from engine.rules.resolving import choices

RANKED = {"rank_order", "pair_ranks", "exchange_seven", "exchange_two"}
COMMON = (
    "deck", "rank_order", "rank_points", "trump_dynamics", "first_deal", "exchange", "auction", "first_leader",
    "obligation_stock_open", "obligation_stock_empty", "partner_exempt", "undertrump", "beat_after_trumped", "no_load",
    "hand_songs", "pair_ranks", "song_values", "songs_per_trick", "song_order", "song_min_stock", "singing_mandatory", "table_songs",
    "tute", "tute_ranks", "tute_first_trick_only", "capote", "last_trick_bonus", "last_trick_optional", "result", "tie", "claim_mode",
)  # fmt: skip
"""The parameters that the family shares. Everything else (hands, stock, match) differs by game: see `deal_steps`."""
YES = {"es": ("no", "sí"), "en": ("no", "yes")}
STEPS = {"es": ("de {0} en {0}", "o más", "o nada"), "en": ("in steps of {}", "or more", "or nothing")}
PARTS = {
    "es": {"trump": "de triunfo", "other": "de otro palo"},
    "en": {"trump": "of trumps", "other": "of another suit"},
}


@dataclass(frozen=True)
class ParameterRow:
    """One parameter: name, value at each table, value in ordinary Tute, meaning; for an option also the allowed values."""

    name: str
    value: str
    usual: str
    meaning: str
    allowed: str = ""


def text(name: str, value: Any, lang: str) -> str:
    """Return a value as players read it; '–' for None and the empty text."""
    value = word(value)
    if isinstance(value, bool):
        return YES[lang][value]
    if meaning := meant(name, value, lang):
        return meaning
    if isinstance(value, Mapping):
        names = {**PARTS[lang], **RANKS[lang], **SUITS[lang]}
        if name == "rank_points":
            names |= RANKS[lang]
        return ", ".join(f"{names.get(key, key)}: {points}" for key, points in value.items()) or "–"
    if name in RANKED and value:
        return ", ".join(RANKS[lang].get(rank, rank) for rank in value)
    return "–" if value in (None, "") else str(value)


def ordinary(lang: str) -> list[ParameterRow]:
    """Return the rules of ordinary Tute, which apply to every game unless its page differs."""
    usual = ORDINARY
    return [
        ParameterRow(name, text(name, getattr(usual, name), lang), "", MEANINGS[name][lang == "en"])
        for name in COMMON
        if name != "obligation_stock_open"  # Ordinary Tute has no stock.
    ]


def lines(key: str, lang: str) -> list[ParameterRow]:
    """Return the parameters whose value at one or more tables of a game differs from ordinary Tute."""
    rows = []
    for name in COMMON:
        usual = getattr(ORDINARY, name)
        values = _values(key, name)
        if name == "obligation_stock_open":
            stock = _values(key, "draw")
            values = {n: value for n, value in values.items() if stock[n] != "none"}
            if values and (set(values.values()) != {"strict"}):
                rows.append(ParameterRow(name, _by_table(name, values, lang), "–", MEANINGS[name][lang == "en"]))
        elif any(word(value) != word(usual) for value in values.values()):
            rows.append(
                ParameterRow(name, _by_table(name, values, lang), text(name, usual, lang), MEANINGS[name][lang == "en"])
            )
    return rows


def option_lines(key: str, lang: str, *, codes: bool = True) -> list[ParameterRow]:
    """Return the options of a game: what each changes, the allowed values and their meaning, the default by number of players.

    codes: True names the values as programs write them, too; False says only what they mean to players.
    """
    rules = declared(key)
    rows = []
    for name in rules.options:
        tables = {n: choice for n in sorted(rules.players) if (choice := choices(rules, n).get(name)) is not None}
        write = _code if codes else text
        values = {n: write(name, value, lang) for n, value in _values(key, name).items() if n in tables}
        allowed = _joined({n: _allowed(name, choice, lang, codes) for n, choice in tables.items()})
        if len(tables) < len(rules.players) and len({str(choice) for choice in tables.values()}) == 1:
            allowed = f"({', '.join(map(str, tables))}) {allowed}"
        rows.append(ParameterRow(name, _joined(values), "", MEANINGS[name][lang == "en"], allowed))
    return rows


def _values(key: str, name: str) -> dict[int, Any]:
    return {n: getattr(load(key, players=n).rules, name) for n in sorted(declared(key).players)}


def _by_table(name: str, values: Mapping[int, Any], lang: str) -> str:
    return _joined({n: text(name, value, lang) for n, value in values.items()})


def _joined(texts: Mapping[int, str]) -> str:
    groups: dict[str, list[int]] = {}
    for n, line in texts.items():
        groups.setdefault(line, []).append(n)
    if len(groups) == 1:
        return next(iter(groups))
    return "; ".join(f"({', '.join(map(str, players))}) {line}" for line, players in groups.items())


def _code(_name: str, value: Any, lang: str) -> str:
    value = word(value)
    return YES[lang][value] if isinstance(value, bool) else "–" if value in (None, "") else str(value)


def _allowed(name: str, choice: Choice, lang: str, codes: bool) -> str:
    if isinstance(choice, Range) and not codes:
        steps, more, none = STEPS[lang]
        span = f"{choice.low} {more}" if choice.high is None else f"{choice.low}–{choice.high}"
        return (
            span + (f", {steps.format(choice.step)}" if choice.step > 1 else "") + (f", {none}" if choice.none else "")
        )
    if isinstance(choice, Range):
        span = f"≥ {choice.low}" if choice.high is None else f"{choice.low}–{choice.high}"
        span += f" (+{choice.step})" if choice.step > 1 else ""
        return span + (", –" if choice.none else "")
    if not codes:
        texts = [text(name, allowed_value, lang) for allowed_value in choice]
        return (" / " if any("," in line for line in texts) else ", ").join(texts)
    texts = []
    for allowed_value in choice:
        means = None if isinstance(word(allowed_value), bool) else meant(name, word(allowed_value), lang)
        code = _code(name, allowed_value, lang)
        texts.append(f"{code}: {means}" if means else code)
    return "; ".join(texts) if any(": " in line for line in texts) else ", ".join(texts)
