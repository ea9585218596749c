"""Tute cabrero, three to six players: the players in the middle lose. Source: rules book, cabrero (001 above all, 004)."""

from engine.match.scoring.results import middle_loses
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS


def implied(options: dict[str, object], players: int) -> dict[str, object]:
    """Return ten cards each at a table of five where the dealer sits out."""
    return {"hand_size": 10} if players == 5 and options.get("dealer_plays") is False else {}


def is_of_revision_3(rules: Rules) -> bool:
    """Return True for the options of revision 3: accusations name a seat and wait until the count; the duel keeps what was agreed before it."""
    return rules.illegal_move == "accuse" or (rules.final_duel and (rules.no_load or rules.illegal_move != "reject"))


SHOWN = ("mano_last", "last_dealt", "rotating")

GAME = Rules(
    key="cabrero",
    code="CAB",
    revision=2,  # In revision 1 the first deal event of a match named a mano that the next event contradicted.
    revised=(is_of_revision_3,),
    title="Tute cabrero",
    line={
        "en": "Three to six players, no friends: whoever ends in the middle loses, until one is left out.",
        "es": "De tres a seis, sin amigos: pierde quien queda en medio, hasta que uno se va.",
    },
    source="reglamento de tute.com.ar (001), Pagat (004)",
    score_unit="rank",
    suits_named=True,  # the first deal is played in coins
    players=(4, 3, 5, 6),
    dealer_plays={3: True, 4: True, 5: True, 6: False},
    hand_size={3: 13, 4: 10, 5: 8, 6: 8},
    trump_source={3: "centre_card", 4: "mano_last", 5: "mano_last", 6: "mano_last"},
    first_deal="coins_2o",
    shown_card_drawn={3: False},
    next_dealer="previous_mano",
    exchange={3: "before_first_lead", 4: "none", 5: "none", 6: "none"},
    exchange_seven="13RCS",
    exchange_two="765",
    capote="swept",
    capote_spoiled_by_song=True,
    result=middle_loses,
    middle_rule="all_between",
    tie="level_lose",
    settlement="loss_marks",
    match_end="elimination",
    max_losses=4,
    duel_game="a_dos",
    implied=implied,
    options={
        "max_losses": Range(1, 50),
        "trump_source": {4: SHOWN, 5: SHOWN, 6: SHOWN},
        "tie": ("level_lose", "all_takers_lose", "seat_order"),
        "final_duel": BOOL,
        "illegal_move": ("reject", "two_marks", "one_mark", "accuse"),
        "song_order": ("any", "forty_first"),
        "exchange_duty": ("may", "must"),
        "exchange_chain": BOOL,
        "dealer_plays": {5: BOOL},
        "middle_rule": ("all_between", "second", "median"),
        "capote_spoiled_by_song": BOOL,
        "tute": ("wins", "none"),
        "undertrump": BOOL,
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
