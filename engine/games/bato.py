"""Bato: four cards; play or pass, change cards, then win the promised tricks or pay the pot. Source: rules book, bato (001; julepe for gaps)."""

from typing import Any

from engine.errors import OptionError
from engine.match.scoring.payments import lost_pot, pot_per_trick
from engine.match.scoring.results import trick_commitments
from engine.rules.options import BOOL, Range
from engine.rules.parameters import CARD_POINTS, Rules


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return what loss marks imply (they are the score and end the match) and no loading (cards have their usual points, which nobody counts).

    Raise OptionError for `losses` without marks.
    """
    ends_by_marks = options.get("match_end") == "losses"
    marks = options.get("settlement", "loss_marks" if ends_by_marks else "chips") == "loss_marks"
    if ends_by_marks and not marks:
        raise OptionError("match_end 'losses' counts loss marks: it needs settlement 'loss_marks'")
    by_marks = {"settlement": "loss_marks", "score_unit": "marks", "match_end": "losses"} if marks else {}
    return by_marks | ({"rank_points": CARD_POINTS} if options.get("no_load") else {})


GAME = Rules(
    key="bato",
    code="BAT",
    title="Bato",
    line={
        "en": "Whoever says play needs two tricks, whoever joins needs one; whoever fails loses.",
        "es": "Quien dice juego necesita dos bazas, quien le sigue, una; no llegar es perder.",
    },
    source="reglamento de tute.com.ar (001)",
    board_deals=1,
    score_unit="chips",
    forfeit=lost_pot,
    players=(4, 3, 5, 6),
    rank_points={},
    hand_size=4,
    trump_source="turned_stock",
    shown_card_drawn=False,
    auction="play_then_join",
    all_pass="next_dealer",
    passed_may_join=True,
    discard_draw_max=4,
    stock_exhausted="limit",
    first_leader="first_playing",
    hand_songs="none",
    tute="none",
    last_trick_bonus=0,
    result=trick_commitments,
    tricks_soloist=2,
    tricks_joiner=1,
    settlement="chips",
    match_end="deals",
    match_deals=12,
    max_losses=4,
    payments=pot_per_trick,
    ante=4,
    implied=implied,
    options={
        "ante": Range(4, 4000, 4),
        "passed_may_join": BOOL,
        "discard_draw_max": Range(0, 4),
        "stock_exhausted": ("limit", "reshuffle_out_hands"),
        "dealer_takes_shown": BOOL,
        "first_leader": ("first_playing", "soloist"),
        "undertrump": BOOL,
        "no_load": BOOL,
        "tricks_soloist": Range(1, 4),
        "tricks_joiner": Range(1, 4),
        "settlement": ("chips", "loss_marks"),
        "match_end": ("deals", "losses"),
        "max_losses": Range(1, 100),
        "match_deals": Range(1, 500),
    },
)
