"""Individual Tute, two or three players, each alone: strict duties from the first trick, a stock. Source: rules book, individual (004, 002)."""

from typing import Any

from engine.match.scoring.results import most_points_wins
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS, TUTES


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return what a session by the clock implies: a board is a whole session, and most games win it."""
    return {"board_deals": None, "score_unit": "games"} if options.get("match_end") == "clock" else {}


GAME = Rules(
    key="individual",
    code="IND",
    title="Tute individual",
    line={
        "en": "Two or three players, each alone; most points wins the game.",
        "es": "Dos o tres jugadores, cada uno por su cuenta; gana quien más tantos hace.",
    },
    source="Pagat (004), CatsAtCards (002)",
    board_deals=1,
    players=(2, 3),
    trump_source="turned_stock",
    stock={2: 20, 3: 9},
    shown_card_drawn={2: True, 3: False},
    draw="winner_first",
    exchange_seven="13RCS",
    exchange_two="7654",
    exchange_min_stock=2,
    obligation_stock_open="strict",
    song_order="forty_first",
    result=most_points_wins,
    match_end="series",
    match_games=12,
    match_minutes=60,
    implied=implied,
    options={
        "match_end": ("series", "race", "clock"),
        "match_minutes": Range(5, 240),
        "match_games": Range(1, 100),
        "win_by": (1, 2),
        "tute": ("wins", "none"),
        "tute_ranks": TUTES,
        "song_order": ("forty_first", "forty_first_in_window", "any"),
        "song_timing": ("after_draw", "before_draw"),
        "song_min_stock": Range(0, 20),
        "exchange": ("none", "immediate"),
        "exchange_min_stock": Range(1, 20),
        "double_at_101": BOOL,
        "double_threshold_with_song": Range(101, 230),
        "tie": ("last_trick", "last_trick_or_none"),
        "undertrump": BOOL,
        "beat_after_trumped": BOOL,
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
