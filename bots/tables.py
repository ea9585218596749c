"""Writes the tables of `bots/sdk/tute_bot.py` from the declarations of the games: `python -m bots.tables`, part of `make texts`.

The SDK is one file that stands alone, so it cannot ask the engine. What it knows of the rules stands in it between two marks,
and comes from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import engine
from engine.errors import OptionError
from engine.game import ORDINARY
from engine.rules.options import Range, word
from engine.rules.parameters import Rules
from engine.rules.resolving import choices

SDK = Path(__file__).parent / "sdk" / "tute_bot.py"
BEGIN = "# >>> written by `make texts` from engine/games; do not edit\n"
END = "# <<< written by `make texts`\n"
WIDTH = 120  # of a line, as the formatter has it
# the parameters of the rules book that a bot may ask for, in the order of `Rules`
CARRIED = (
    "sides", "deck", "rank_order", "rank_points", "auction", "auction_rounds", "soloist_partner", "passed_may_join",
    "first_leader", "obligation_stock_open", "obligation_stock_empty", "partner_exempt", "undertrump",
    "beat_after_trumped", "no_load", "trump_dynamics", "trump_cycle", "hand_songs", "pair_ranks", "song_values",
    "song_order", "song_min_stock", "table_songs", "tute", "tute_ranks", "tute_first_trick_only", "capote",
    "last_trick_bonus", "result", "tricks_soloist", "tricks_joiner", "target", "claim_mode", "settlement",
    "illegal_move",
)  # fmt: skip

Table = dict[str, Any]


def carried(rules: Rules) -> Table:
    """What the SDK carries of some rules, in the words of options: a function by its name."""
    return {name: word(getattr(rules, name)) for name in CARRIED}


def ordinary() -> Table:
    """Ordinary Tute, from which a game differs."""
    return carried(ORDINARY)


def game(key: str) -> Table:
    """What differs from ordinary Tute in a game; a value that goes by the number of players is a mapping from it."""
    tables = {players: carried(engine.load(key, players=players).rules) for players in _players(key)}
    return {name: value for name, value in _merged(tables).items() if value != ordinary()[name]}


def implied(key: str) -> dict[str, Table]:
    """By 'option=value': what further parameters that value of an option sets in a game."""
    found: dict[str, Table] = {}
    for name, value in _values(key):
        changes = {}
        for players in _players(key):
            try:
                there = engine.load(key, players=players, **{name: value})
            except OptionError:
                continue  # no option at this table, or none without another
            usual = carried(engine.load(key, players=players).rules) | {name: value}
            changes[players] = {n: v for n, v in carried(there.rules).items() if v != usual[n]}
        if any(changes.values()):
            found[f"{name}={value}"] = _merged(changes)
    return found


def text() -> str:
    """The part of the SDK between the marks."""
    games = {key: game(key) for key in engine.games()}
    further = {key: found for key in engine.games() if (found := implied(key))}
    return "".join(
        [
            f"_TUTE: dict[str, Any] = {_literal(ordinary(), 0, len('_TUTE: dict[str, Any] = '))}\n",
            f"_GAMES: dict[str, dict[str, Any]] = {_literal(games, 0, len('_GAMES: dict[str, dict[str, Any]] = '))}\n",
            f"_IMPLIED: dict[str, dict[str, dict[str, Any]]] = {_literal(further, 0, WIDTH)}\n",
        ]
    )


def rewritten(sdk: str) -> str:
    """The source of the SDK with its tables as they are now."""
    before, _, rest = sdk.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + text() + END + after


def _players(key: str) -> tuple[int, ...]:
    return tuple(sorted(engine.load(key).declared.players))


def _values(key: str) -> list[tuple[str, Any]]:
    """Each option with each of its words; of whole numbers the least and, where there is one, the highest."""
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for players in _players(key):
        for name, choice in choices(engine.load(key).declared, players).items():
            values = (choice.low, choice.high) if isinstance(choice, Range) else map(word, choice)
            for value in values:
                if value is not None:
                    found[name, repr(value)] = name, value
    return list(found.values())


def _merged(tables: Mapping[int, Table]) -> Table:
    """One table of those by players: a value on which they agree as it is, others by the number of players."""
    merged: Table = {}
    for name in dict.fromkeys(name for table in tables.values() for name in table):
        values = {players: table[name] for players, table in tables.items() if name in table}
        first = next(iter(values.values()))
        agree = all(value == first for value in values.values()) and len(values) == len(tables)
        merged[name] = first if agree else values
    return merged


def _literal(value: Any, depth: int, used: int) -> str:
    """Python source of plain data, as the formatter writes it. `used`: characters before it on its line and after it."""
    flat = _flat(value)
    if not isinstance(value, dict) or used + len(flat) <= WIDTH:
        return flat
    inner = "    " * (depth + 1)
    lines = [
        f"{inner}{_flat(name)}: {_literal(one, depth + 1, len(inner) + len(_flat(name)) + 3)},\n"
        for name, one in value.items()
    ]
    return "{\n" + "".join(lines) + "    " * depth + "}"


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flat(name)}: {_flat(one)}" for name, one in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    SDK.write_text(rewritten(SDK.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{SDK.name}: {len(engine.games())} games")
