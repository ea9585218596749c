"""Tute remate: an auction of points, the bidder against all, and no loading of lost tricks. Source: rules book, remate (001, W-faq)."""

from typing import Any

from engine.errors import OptionError
from engine.match.scoring.payments import lost_bid, per_five
from engine.match.scoring.results import soloist_reaches_bid
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the parameters that loss marks imply: ranks, elimination. Raises OptionError for elimination without marks, or if no bid is possible."""
    ends_by_marks = options.get("match_end") == "elimination"
    marks = options.get("settlement", "loss_marks" if ends_by_marks else "chips") == "loss_marks"
    if ends_by_marks and not marks:
        raise OptionError("match_end 'elimination' counts loss marks: it needs settlement 'loss_marks'")
    low, high = options.get("min_bid", 60), options.get("max_bid", 230)
    if low > high:
        raise OptionError(f"nobody could bid: min_bid {low} is above max_bid {high}")
    return (
        {"settlement": "loss_marks", "score_unit": "rank", "match_end": "elimination", "board_deals": None}
        if marks
        else {}
    )


def is_of_revision_2(rules: Rules) -> bool:
    """Return True for the options of revision 2: fewer marks rank higher after a fixed number of deals."""
    return rules.settlement == "loss_marks" and rules.match_end == "deals"


GAME = Rules(
    key="remate",
    revised=(is_of_revision_2,),
    code="REM",
    title="Tute remate",
    line={
        "en": "The highest bidder against all others, for chips.",
        "es": "El que más puja contra todos los demás, por fichas.",
    },
    source="reglamento de tute.com.ar (001)",
    board_deals=1,
    score_unit="chips",
    forfeit=lost_bid,
    players=(4, 3, 5),
    sides="soloist_vs_rest",
    deck={3: "es36", 4: "es40", 5: "es40"},
    hand_size={3: 12, 4: 10, 5: 8},
    trump_source="named",
    auction="points",
    min_bid=60,
    bid_step=5,
    max_bid=230,
    auction_rounds="open",
    all_pass="next_dealer",
    first_leader="soloist",
    no_load=True,
    hand_songs="soloist",
    result=soloist_reaches_bid,
    settlement="chips",
    match_end="deals",
    match_deals=12,
    max_losses=4,
    payments=per_five,
    unit=10,
    implied=implied,
    options={
        "min_bid": Range(5, 230, 5),
        "bid_step": Range(1, 100),
        "max_bid": Range(5, 230),
        "auction_rounds": ("open", "single"),
        "first_leader": ("soloist", "mano"),
        "hand_songs": ("soloist", "trick_winner"),
        "unit": Range(1, 10_000),
        "double_from": Range(5, 230, none=True),
        "settlement": ("chips", "loss_marks"),
        "match_end": ("deals", "elimination"),
        "max_losses": Range(1, 100),
        "song_order": ("any", "forty_first"),
        "match_deals": Range(1, 500),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
