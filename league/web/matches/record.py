"""A stored record as the pages show it."""

from __future__ import annotations

from typing import Any

import engine

FRENCH = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def shown_moments(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The moments of a record, and after them the faults that cut it short, each as one more step.

    A fault ends the sitting, so it comes last. The record keeps faults beside the moments: they are the referee's, not the game's.
    """
    faults = [
        {"e": "fault", "seat": fault["seat"], "fault": fault["fault"], "detail": fault.get("detail", "")}
        for fault in record.get("faults", ())
    ]
    moments = [*record.get("events", ()), *faults]
    return _french(moments) if _has_french_cards(record) else moments


def _has_french_cards(record: dict[str, Any]) -> bool:
    game, players = record.get("game"), record.get("players")
    return game in engine.games() and engine.load(
        game, players=players, **record.get("options", {})
    ).pack.suits == "".join(FRENCH)


def _french(data: Any) -> Any:
    """The same data with French cards by their signs ("7♣" for "7c"), so that they are not taken for Spanish ones ("7c", cups)."""
    if isinstance(data, dict):
        return {name: value if name in ("e", "why") else _french(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_french(value) for value in data]
    if isinstance(data, str) and len(data) <= 2 and data[-1:] in FRENCH:
        return data[:-1] + FRENCH[data[-1]]
    return data
