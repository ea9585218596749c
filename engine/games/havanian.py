"""Havanian Tute, two players, Cuba: as Habanero, but trump answers trump, no tute, exchange before the draw, claims from the second deal.

Source: rules book, havanian (W-var, W-lud, 002).
"""

from dataclasses import replace

from engine.games.habanero import GAME as HABANERO
from engine.rules.options import BOOL, Range
from engine.rules.ranks import ORDERS

GAME = replace(
    HABANERO,
    key="havanian",
    code="HAV",
    title="Tute habanero de Cuba",
    line={
        "en": "The Cuban game for two: whoever passes 100 points wins.",
        "es": "El juego cubano para dos: se gana con más de 100 tantos.",
    },
    source="Wikipedia (W-var), Ludoteka (W-lud), CatsAtCards (002)",
    exchange_window="before_draw",
    obligation_stock_open="trump_follow",
    tute="none",
    claim_from_deal=2,
    claim_window="post_trick",
    options={
        "target": Range(1),
        "capote": ("announced", "none"),
        "obligation_stock_open": ("trump_follow", "free"),
        "tute": ("wins", "none"),
        "song_min_stock": Range(0, 24),
        "song_timing": ("after_draw", "before_draw"),
        "exchange": ("immediate", "deferred", "none"),
        "exchange_two": ("7654", ""),
        "exchange_window": ("before_draw", "both"),
        "exchange_min_stock": Range(1, 24),
        "claim_mode": ("claim", "auto", "none"),
        "claim_from_deal": Range(1),
        "claim_window": ("post_trick", "own_turn"),
        "both_reach": ("higher_total", "last_trick", "first_reached"),
        "song_order": ("any", "forty_first_in_window", "forty_first"),
        "match_games": Range(1, 100),
        "match_end": ("race", "series"),
        "win_by": (1, 2),
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
