"""Tute habanero, two players: eight cards, immediate exchange, songs end near the end of the stock, capote.

Source: rules book, habanero (002, 004).
"""

from engine.match.scoring.results import to_target
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS, TUTES

GAME = Rules(
    key="habanero",
    code="HAB",
    title="Tute habanero",
    line={
        "en": "Two players over several deals: 101 points win.",
        "es": "Dos jugadores y varios repartos: ganan 101 tantos.",
    },
    source="CatsAtCards (002), Pagat (004)",
    score_unit="games",
    players=(2,),
    hand_size=8,
    stock=24,
    trump_source="turned_stock",
    shown_card_drawn=True,
    draw="winner_first",
    next_dealer="last_trick_winner",
    exchange="immediate",
    exchange_seven="13RCS",
    exchange_two="7654",
    exchange_min_stock=2,
    song_min_stock=3,
    capote="announced",
    result=to_target,
    target=101,
    both_reach="higher_total",
    claim_mode="claim",
    match_games=1,
    options={
        "target": Range(1),
        "capote": ("announced", "none"),
        "obligation_stock_open": ("free", "trump_follow"),
        "tute": ("wins", "none"),
        "tute_ranks": TUTES,
        "song_min_stock": Range(0, 24),
        "song_timing": ("after_draw", "before_draw"),
        "song_order": ("any", "forty_first_in_window", "forty_first"),
        "songs_per_trick": (1, "many"),
        "exchange": ("immediate", "deferred", "none"),
        "exchange_window": ("both", "before_draw", "after_draw"),
        "exchange_min_stock": Range(1, 24),
        "claim_mode": ("claim", "auto", "none"),
        "claim_from_deal": Range(1),
        "both_reach": ("higher_total", "last_trick", "first_reached"),
        "match_games": Range(1, 100),
        "match_end": ("race", "series"),
        "win_by": (1, 2),
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
