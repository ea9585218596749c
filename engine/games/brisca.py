"""Brisca for two, three or four: three cards and a stock, no duties, no songs, most points win. Source: rules book, brisca (001, W-aca, W-nai)."""

from typing import Any

from engine.match.scoring.results import most_points_wins
from engine.rules.options import Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the size of the stock for three players, which follows from the pack."""
    if players != 3:
        return {}
    return {"stock": 30 if options.get("deck") == "es39" else 27}


GAME = Rules(
    key="brisca",
    code="BRI",
    title="Brisca",
    line={
        "en": "No songs and no bonus for the last trick: most points in cards win.",
        "es": "Sin cantes ni diez de últimas: gana quien más tantos junta en cartas.",
    },
    source="reglamento de tute.com.ar (001), Acanomas (W-aca), Naipes-casino (W-nai)",
    board_deals=1,
    players=(2, 3, 4),
    sides={2: "single", 3: "single", 4: "pairs"},
    deck={2: "es40", 3: "es36", 4: "es40"},
    hand_size=3,
    trump_source="turned_stock",
    stock={2: 34, 3: 27, 4: 28},
    shown_card_drawn=True,
    draw="winner_first",
    exchange="immediate",
    exchange_seven="13RCS",
    exchange_two="7654",
    exchange_window="after_draw",
    obligation_stock_empty="free",
    hand_songs="none",
    tute="none",
    last_trick_bonus=0,
    result=most_points_wins,
    tie="drawn",
    match_games=2,
    implied=implied,
    options={
        "supply": ("draw", "batches"),
        "obligation_stock_open": ("free", "follow_or_trump"),
        "obligation_stock_empty": ("free", "follow_or_trump", "strict"),
        "exchange": ("immediate", "none"),
        "exchange_trigger": ("just_won", "own_turn"),
        "deck": {3: ("es36", "es39")},
        "stock": {3: (27, 30)},
        "sides": {4: ("pairs", "single")},
        "match_games": Range(1, 100),
        "rank_order": ORDERS,
    },
)
