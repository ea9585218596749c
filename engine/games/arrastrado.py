"""Tute arrastrado: three players, each alone, thirteen cards and a centre card, chips; optionally a contract for the pot.

Source: rules book, arrastrado (004; W-aca and W-nai for gaps).
"""

from typing import Any

from engine.match.scoring.payments import lost_contract, winner_and_songs
from engine.match.scoring.results import most_points_wins
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the parameters of a table of four without a sitting-out dealer: ten cards each; the last card dealt names trump."""
    if players == 4 and options.get("dealer_plays") is True:
        return {"hand_size": 10, "trump_source": "last_dealt", "shown_card_drawn": None, "exchange": "none"}
    return {}


GAME = Rules(
    key="arrastrado",
    code="ARR",
    title="Tute arrastrado",
    line={
        "en": "Three players, each alone; most points takes the deal.",
        "es": "Tres jugadores, cada uno por su cuenta; se lleva el reparto quien más tantos hace.",
    },
    source="Pagat (004)",
    board_deals=1,
    score_unit="chips",
    forfeit=lost_contract,
    players=(3, 4),
    dealer_plays={3: True, 4: False},
    hand_size=13,
    trump_source="centre_card",
    shown_card_drawn=False,
    exchange="before_first_lead",
    exchange_seven="13RCS",
    exchange_two="7654",
    min_bid=101,
    max_bid=230,
    auction_rounds="open",
    all_pass="ordinary_deal",
    song_order="forty_first",
    result=most_points_wins,
    settlement="chips",
    match_end="deals",
    match_deals=12,
    payments=winner_and_songs,
    ante=100,
    win_payment=100,
    win_101_payment=200,
    tute_payment=200,
    contract_payment=200,
    implied=implied,
    options={
        "dealer_plays": {4: BOOL},
        "auction": ("none", "pot_contract"),
        "bid_step": Range(1, 129),
        "double_threshold_counts_songs": BOOL,
        "tute_payment": Range(0, 10_000),
        "exchange_duty": ("may", "must"),
        "song_order": ("forty_first", "any"),
        "tie": ("last_trick", "split"),
        "match_deals": Range(1, 500),
        "undertrump": BOOL,
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
