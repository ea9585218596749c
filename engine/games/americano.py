"""Tute americano, two players: Corriente with eight cards; a trump must follow a trump, the target is 121 and there is no tute.

Source: rules book, americano (004, 002).
"""

from dataclasses import replace

from engine.games.corriente import GAME as CORRIENTE
from engine.rules.options import BOOL, Range
from engine.rules.ranks import ORDERS

GAME = replace(
    CORRIENTE,
    key="americano",
    code="AME",
    title="Tute americano",
    line={
        "en": "Two players over several deals: the first to count 121 wins.",
        "es": "Dos jugadores y varios repartos: gana el primero en contar 121.",
    },
    source="Pagat (004), CatsAtCards (002)",
    hand_size=8,
    stock=24,
    obligation_stock_open="trump_follow",
    tute="none",
    target=121,
    both_reach="first_reached",
    implied=None,
    options={
        "target": Range(1),
        "obligation_stock_open": ("trump_follow", "free"),
        "tute": ("wins", "none"),
        "song_min_stock": Range(0, 24),
        "song_timing": ("after_draw", "before_draw"),
        "song_order": ("any", "forty_first_in_window", "forty_first"),
        "exchange": ("deferred", "immediate", "none"),
        "exchange_min_stock": Range(1, 24),
        "capote": ("none", "announced"),
        "claim_mode": ("claim", "auto", "none"),
        "claim_from_deal": Range(1),
        "both_reach": ("first_reached", "higher_total", "last_trick"),
        "match_games": Range(1, 100),
        "match_end": ("race", "series"),
        "win_by": (1, 2),
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
