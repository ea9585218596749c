"""Codillo: one call, a named trump, a secret partner. Source: rules book, codillo (001)."""

from typing import Any

from engine.errors import OptionError
from engine.match.scoring.payments import each_loser_to_each_winner, lost_alone
from engine.match.scoring.results import soloist_side_best_single, soloist_side_more_points
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the parameters that loss marks imply: they are the score and end the match. Raises OptionError for `losses` without marks."""
    ends_by_marks = options.get("match_end") == "losses"
    marks = options.get("settlement", "loss_marks" if ends_by_marks else "chips") == "loss_marks"
    if ends_by_marks and not marks:
        raise OptionError("match_end 'losses' counts loss marks: it needs settlement 'loss_marks'")
    return {"settlement": "loss_marks", "score_unit": "marks", "match_end": "losses"} if marks else {}


GAME = Rules(
    key="codillo",
    code="COD",
    title="Codillo",
    line={
        "en": "A soloist and a partner whom only a called card reveals, against the rest.",
        "es": "Un jugador y el compañero que solo descubre la carta llamada, contra los demás.",
    },
    source="reglamento de tute.com.ar (001)",
    board_deals=1,
    score_unit="chips",
    forfeit=lost_alone,
    players=(4, 5),
    sides="soloist_pair_vs_rest",
    hand_size={4: 10, 5: 8},
    trump_source="named",
    auction="play_or_pass",
    all_pass="next_dealer",
    soloist_partner="called_card",
    first_leader="soloist",
    no_load=True,
    result=soloist_side_more_points,
    settlement="chips",
    match_end="deals",
    match_deals=12,
    max_losses=4,
    payments=each_loser_to_each_winner,
    stake=1,
    implied=implied,
    options={
        "call_own_card": ("forbidden", "solo"),
        "result": (soloist_side_more_points, soloist_side_best_single),
        "no_load": BOOL,
        "first_leader": ("soloist", "mano"),
        "hand_songs": ("trick_winner", "soloist_side"),
        "stake": Range(1, 10_000),
        "settlement": ("chips", "loss_marks"),
        "match_end": ("deals", "losses"),
        "max_losses": Range(1, 100),
        "match_deals": Range(1, 500),
        "rank_order": ORDERS,
    },
)
