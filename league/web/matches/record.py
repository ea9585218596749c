"""A stored record as the pages show it."""

from __future__ import annotations

from typing import Any

import engine

FRENCH = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def shown_moments(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a record, followed by one step for each fault that ended it early.

    The record keeps faults beside the events, because they come from the referee, not from the game. A fault ends the sitting, so it comes last.
    """
    faults = [
        {"e": "fault", "seat": fault["seat"], "fault": fault["fault"], "detail": fault.get("detail", "")}
        for fault in record.get("faults", ())
    ]
    moments = [*record.get("events", ()), *faults]
    return _french(moments) if _has_french_cards(record) else moments


def _has_french_cards(record: dict[str, Any]) -> bool:
    game, players = record.get("game"), record.get("players")
    return game in engine.games() and is_french(engine.load(game, players=players, **record.get("options", {})))


def is_french(game: engine.Game) -> bool:
    """Return True if the game is played with French cards."""
    return game.pack.suits == "".join(FRENCH)


def french_card(card: str) -> str:
    """Write a French card with its sign: '7♣' for '7c'."""
    return card[:-1] + FRENCH.get(card[-1:], card[-1:])


def _french(data: Any) -> Any:
    """Write French cards with their signs ("7♣" for "7c"), so that nobody reads them as Spanish ones ("7c" is the seven of cups)."""
    if isinstance(data, dict):
        return {name: value if name in ("e", "why") else _french(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_french(value) for value in data]
    if isinstance(data, str) and len(data) <= 2 and data[-1:] in FRENCH:
        return data[:-1] + FRENCH[data[-1]]
    return data
