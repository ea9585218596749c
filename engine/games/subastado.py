"""Tute subastado: three play, the highest bidder against the other two. Source: rules book, subastado (004)."""

from engine.match.scoring.payments import lost_bid, per_five
from engine.match.scoring.results import soloist_reaches_bid
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import SHORT_ORDERS

GAME = Rules(
    key="subastado",
    code="SUB",
    title="Tute subastado",
    line={
        "en": "The highest bidder alone against two, who pool their tricks.",
        "es": "El que más puja, solo contra dos que juntan sus bazas.",
    },
    source="Pagat (004)",
    board_deals=1,
    score_unit="chips",
    forfeit=lost_bid,
    players=(3, 4),
    dealer_plays={3: True, 4: False},
    sides="soloist_vs_rest",
    deck="es36",
    rank_order="13RCS7654",
    hand_size=12,
    trump_source="named",
    auction="points",
    min_bid=60,
    bid_step=5,
    max_bid=230,
    all_pass="next_dealer",
    first_leader="soloist",
    hand_songs="soloist",
    song_order="forty_first",
    tute="none",
    result=soloist_reaches_bid,
    settlement="chips",
    match_end="deals",
    match_deals=12,
    payments=per_five,
    unit=10,
    double_from=120,
    options={
        "censor": {4: BOOL},
        "min_bid": (50, 60, 70),
        "bid_step": (5, 10),
        "max_bid": Range(70, 230),
        "auction_rounds": ("single", "open"),
        "unit": Range(1, 10_000),
        "double_from": Range(50, 230, none=True),
        "deal_packet": (1, 6),
        "tute": ("none", "wins"),
        "song_order": ("forty_first", "any"),
        "all_pass": ("next_dealer", "same_dealer"),
        "match_deals": Range(1, 500),
        "undertrump": BOOL,
        "no_load": BOOL,
        "rank_order": SHORT_ORDERS,
    },
)
