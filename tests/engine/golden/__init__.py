"""Golden replays: one file a game, with a match at every number of players and one with options.

`python -m tests.engine.golden` rewrites the files after an intended change of rules; `python -m tests.engine.golden brisca` one
of them; `python -m tests.engine.golden --missing` (part of `make texts`) those of new games only. An entry holds the header of the
replay, its actions, and a check sum of the events after every action, so that a failing test can name the step.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import engine
from tests.support import playing, tables

FOLDER = Path(__file__).parent
HEADER = ("format", "game", "revision", "options", "players", "deals", "suits", "seed")
DEALS = 2  # Deals of a match; one with options goes on a little, so that seats leave

# a match with options that change how a deal goes, for each game that has such
WITH_OPTIONS: dict[str, dict[str, Any]] = {
    "a_dos": {"exchange": "deferred", "hand_size": 8},
    "americano": {"exchange": "immediate", "capote": "announced", "claim_mode": "auto"},
    "arrastrado": {"players": 4, "auction": "pot_contract", "no_load": True},
    "bato": {"players": 6, "stock_exhausted": "reshuffle_out_hands", "dealer_takes_shown": True},
    "brisca": {"players": 4, "supply": "batches", "exchange_trigger": "own_turn"},
    "cabrero": {"players": 6, "max_losses": 1, "final_duel": True, "trump_source": "rotating", "tie": "seat_order"},
    "chancho": {"players": 5, "dealer_plays": False, "max_losses": 1, "two_table_songs": "best_only"},
    "codillo": {"players": 5, "call_own_card": "solo", "hand_songs": "soloist_side"},
    "corriente": {"exchange": "immediate", "song_timing": "before_draw", "claim_mode": "none"},
    "gana_pierde_3": {"result": "cabron_loses", "undertrump": True},
    "gana_pierde_4_5": {"players": 5, "table_songs": "none", "tute": "wins"},
    "guinote": {"form": "full", "partner_exempt": "trump_only", "claim_mode": "claim"},
    "habanero": {"obligation_stock_open": "trump_follow", "songs_per_trick": "many"},
    "havanian": {"exchange_window": "both", "claim_window": "own_turn"},
    "individual": {"players": 3, "exchange": "immediate", "beat_after_trumped": True},
    "partnership": {"hand_songs": "winning_side", "songs_per_trick": "many", "singing_mandatory": True},
    "podrida": {"players": 7, "preset": "podrida52", "hook": False, "sequence": "down_up"},
    "remate": {"players": 3, "auction_rounds": "single", "hand_songs": "trick_winner", "first_leader": "mano"},
    "subastado": {"players": 4, "censor": True, "bid_step": 10},
    "two_player": {"song_trigger": "has_won_any", "exchange_trigger": "just_won"},
    "variable_trump": {"coins_start": True},
}


def path(key: str) -> Path:
    """Return the path of a game's golden replays."""
    return FOLDER / f"{key}.json"


def games_to_play(key: str) -> list[engine.Game]:
    """Return the tables of a game's golden replays."""
    plain = [table.load() for table in tables.plain() if table.key == key]
    return plain + ([engine.load(key, **WITH_OPTIONS[key])] if key in WITH_OPTIONS else [])


def sums(state: engine.State, actions: list[str] | None = None, seed: object = None) -> str:
    """Play a match (these actions, or at random); return four hex digits for the events of the start and of every step."""
    count = 0
    digits = []

    def note() -> None:
        nonlocal count
        text = json.dumps(state.events[count:], sort_keys=True)
        count = len(state.events)
        digits.append(f"{zlib.crc32(text.encode()) & 0xFFFF:04x}")

    note()
    if actions is None:
        for _ in playing.play(state, seed, limit=2000):
            note()
    else:
        for text in actions:
            state.apply(state.game.parse_action(text))
            note()
    return "".join(digits)


def entry(game: engine.Game) -> dict[str, Any]:
    """Return a new golden replay."""
    name = f"golden {game.key} {game.players}"
    state = game.new_match(seed=name, deals=4 * DEALS if "max_losses" in game.options else DEALS)
    digits = sums(state, seed=name)
    replay = engine.replay.make(state)
    header = {field: replay[field] for field in HEADER}
    return header | {"scores": replay["scores"], "actions": ",".join(replay["actions"]), "sums": digits}


def write(key: str) -> None:
    """Write the golden replays of a game."""
    entries = [entry(game) for game in games_to_play(key)]
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    path(key).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
