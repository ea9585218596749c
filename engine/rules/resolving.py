"""Resolve the declaration of a game for one table: check options, look values up by the number of players."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from engine.errors import OptionError, meant
from engine.rules.options import Choice, Range, by_players, word
from engine.rules.parameters import Rules
from engine.rules.ranks import follow_order

_NAMES = tuple(f.name for f in fields(Rules) if f.name not in ("options", "players"))


def choices(rules: Rules, players: int) -> dict[str, Choice]:
    """Return the options at a table of that many players, each with its choices."""
    return {name: choice for name in rules.options if (choice := by_players(rules.options[name], players)) is not None}


def chosen(rules: Rules, options: Mapping[str, Any], players: int) -> dict[str, Any]:
    """Return the checked option values, with each word replaced by its function. Raises OptionError with the allowed values."""
    allowed = choices(rules, players)
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in allowed:
            names = ", ".join(sorted(allowed)) or "none"
            raise OptionError(
                f"{rules.key} has no option {name!r} for {players} players{meant(name, allowed)}; its options are: players, {names}"
            )
        choice = allowed[name]
        if isinstance(choice, Range):
            if not choice.accepts(value):
                raise OptionError(f"{rules.key}: {name} must be {choice}, not {value!r}")
            values[name] = value
            continue
        for candidate in choice:
            if word(candidate) == value and type(word(candidate)) is type(value):
                values[name] = candidate
                break
        else:
            words = ", ".join(repr(word(candidate)) for candidate in choice)
            raise OptionError(f"{rules.key}: {name} must be one of {words}, not {value!r}")
    return values


def at_table(rules: Rules, options: Mapping[str, Any], players: int) -> Rules:
    """Return the rules at a table of that many players with these options, without mappings by players."""
    values = chosen(rules, options, players)
    resolved = {
        name: by_players(value, players) if isinstance(value := getattr(rules, name), dict) else value
        for name in _NAMES
    }
    if rules.implied is not None:
        implied = rules.implied(values, players)
        if values.get("stock", implied.get("stock")) != implied.get("stock", values.get("stock")):
            raise OptionError(
                f"{rules.key}: with these options the stock holds {implied['stock']} cards, not {values['stock']}"
            )
        resolved |= implied
    resolved |= follow_order(rules, resolved, values)
    return replace(rules, players=(players,), **(resolved | values))
