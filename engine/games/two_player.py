"""Two-player Tute: eight cards, strict from the first trick, several songs in one window, exchange at any own turn.

Source: rules book, two_player (Wikipedia, 003).
"""

from typing import Any

from engine.match.scoring.results import most_points_wins
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS, TUTES


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the size of the stock, which follows from the size of the hands."""
    return {"stock": 20} if options.get("hand_size") == 10 else {}


GAME = Rules(
    key="two_player",
    code="TWO",
    title="Tute a dos",
    line={
        "en": "The plain game for two: whoever has more points wins the deal.",
        "es": "El juego sencillo para dos: gana el reparto quien más tantos hace.",
    },
    source="Wikipedia (003)",
    board_deals=1,
    players=(2,),
    hand_size=8,
    stock=24,
    trump_source="turned_stock",
    shown_card_drawn=True,
    draw="winner_first",
    exchange="immediate",
    exchange_seven="13RCS",
    exchange_two="7654",
    exchange_trigger="own_turn",
    exchange_min_stock=3,
    obligation_stock_open="strict",
    songs_per_trick="many",
    song_order="forty_first_in_window",
    song_min_stock=3,
    result=most_points_wins,
    implied=implied,
    options={
        "hand_size": (8, 10),
        "match_games": Range(1, 100),
        "match_end": ("race", "series"),
        "win_by": (1, 2),
        "song_trigger": ("just_won", "has_won_any"),
        "songs_per_trick": ("many", 1),
        "song_order": ("forty_first_in_window", "any", "forty_first"),
        "song_min_stock": Range(0, 24),
        "song_timing": ("after_draw", "before_draw"),
        "tute": ("wins", "none"),
        "tute_ranks": TUTES,
        "exchange_trigger": ("own_turn", "just_won"),
        "exchange_window": ("both", "before_draw", "after_draw"),
        "exchange_min_stock": Range(1, 24),
        "next_dealer": ("right", "last_trick_winner"),
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
