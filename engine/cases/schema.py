"""The fields of each kind of case, as in the table of the rules book (README, section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By kind: the fields of `given` and of `expect`. A question mark means optional.
FIELDS: dict[str, tuple[str, str]] = {
    "deal": (
        "players deal_no? sitting_out?",
        "hand_size face_down stock shown_card_drawn tricks",
    ),
    "deal_sequence": (
        "players deck",
        "hand_sizes last_has_trump",
    ),
    "setup": (
        "players deal_no holder_2o? drawn_mano? previous_mano? eliminated?",
        "mano? dealer? trump? active?",
    ),
    "exchange_round": (
        "players deal_no? trump centre_card hands declines?",
        "swaps centre_after hidden? mano?",
    ),
    "auction": (
        "players sitting_out? calls censor_bid?",
        "over to_call? may_pass? lowest_bid? legal_bids? illegal_bids? legal? soloist? bid? displaced? playing? commitments? pot_to?",
    ),
    "partner": (
        "players soloist hands called_card",
        "allowed partner?",
    ),
    "prediction": (
        "players hand_size predictions seat",
        "legal",
    ),
    "discard_draw": (
        "players face_down playing discards",
        "received face_down_after",
    ),
    "legal_move": (
        "players seat lead? trump stock trick hand pending?",
        "legal",
    ),
    "trick_winner": (
        "players trump trick",
        "winner points?",
    ),
    "trace": (
        "players trump trick",
        "states winner next_trump",
    ),
    "table_song": (
        "players trump trick pairs_before?",
        "winner pairs points trump_after?",
    ),
    "declaration": (
        "players seat trick_winner trump stock hand drawn? sung window_sung trick_table_songs? side_tricks? soloist? partner?",
        "legal",
    ),
    "exchange": (
        "players seat trick_winner moment trump shown_card stock hand pending do?",
        "legal after?",
    ),
    "exchange_step": (
        "players seat step trick_winner stock_cards? pending shown_card stock hand",
        "after other_draws?",
    ),
    "draw": (
        "players trick_winner stock stock_cards shown_card shown_card_drawn",
        "drawn stock_after shown_card_after",
    ),
    "claim": (
        "players seat deal_no carried card_points songs last_trick_played",
        "allowed winner",
    ),
    "auto_end": (
        "players deal_no carried card_points songs scorer",
        "over winner",
    ),
    "capote": (
        "players question stock? tricks_since_stock_end? announced seat? order? trick_winners? totals?",
        "allowed? winner? ends_after?",
    ),
    "last_trick_choice": (
        "players points_before_bonus last_trick",
        "if_taken if_declined",
    ),
    "scoring": (
        "players deal_no? carried? card_points? captured? predictions? tricks_won? "
        "songs? table_songs? undrawn? last_trick? tute_by? reached_order? swept_final_phase? announced? partial?",
        "deal_points? totals? winner? games? next_dealer?",
    ),
    "result": (
        "players mano? sitting_out? soloist? partner? deal_points takers? songs? table_songs? undrawn? last_trick? bonus_declined? tute_by? partial?",
        "winner? losers? games? chips?",
    ),
    "payment": (
        "players sitting_out? soloist? defenders? displaced? joiners? bid? soloist_points? deal_points? tricks_won? songs? tute_by? pot? partial?",
        "chips losers? received? pot_after?",
    ),
    "match": (
        "players games? cotos? games_played? game_winner? game_value? loss_marks? deal_losers? revoke_by? accusation? cards?",
        "games? cotos? loss_marks? eliminated? over winners? match_losers?",
    ),
    "accusation": (
        "players seat revoked accuses",
        "legal? asked? proven losers marks",
    ),
    "observation": (
        "players event",
        "public private",
    ),
}
ANYWHERE = {"mano", "sitting_out"}  # Every position may say who leads and who takes no part.


def complaint(case: Any) -> str:
    """Return what is wrong with the form of a case, whatever its game; an empty text if nothing is."""
    shape = "a case is a mapping with kind, given and expect"
    if not isinstance(case, Mapping):
        return f"{shape}, not {case!r}"
    for part in ("given", "expect"):
        if not isinstance(case.get(part), Mapping):
            return f"{shape}; {part!r} is missing or not a mapping"
    if not isinstance(case.get("options") or {}, Mapping):
        return "'options' is not a mapping"
    kind = case["kind"]
    givens, expect = FIELDS[kind]
    needed = (name for name in givens.split() if not name.endswith("?"))
    return (
        _unknown(kind, "given", case["given"], givens)
        or _unknown(kind, "expect", case["expect"], expect)
        or next((f"{kind} needs {name!r} in given" for name in needed if name not in case["given"]), "")
    )


def _unknown(kind: str, part: str, values: Mapping[str, Any], fields: str) -> str:
    known_fields = {name.rstrip("?") for name in fields.split()} | (ANYWHERE if part == "given" else set())
    wrong = next((name for name in values if name not in known_fields), None)
    return "" if wrong is None else f"{kind} has no field {wrong!r} in {part}; its fields are: {fields}"
