"""The stages of a deal between dealing and the first lead (README of the rules book, section 3)."""

from __future__ import annotations

from collections.abc import Callable

from engine.match.data import Data
from engine.match.opening import auctions, joining
from engine.match.trick import exchanges
from engine.rules.parameters import Rules

Stage = Callable[[Data], int]  # returns WAIT after asking a seat, STAGE with nothing to ask, or DECIDED to end the deal

AUCTIONS: dict[str, tuple[Stage, ...]] = {
    "points": (auctions.points_auction,),
    "pot_contract": (auctions.points_auction,),
    "play_or_pass": (auctions.play_or_pass,),
    "play_then_join": (joining.play_then_join, joining.change_cards),
    "trick_prediction": (auctions.predictions,),
}


def stages(rules: Rules) -> tuple[Stage, ...]:
    """Return the stages of the deals of a game, in order."""
    in_order: list[Stage] = []
    if rules.exchange == "before_first_lead":
        in_order.append(exchanges.stage)
    in_order += AUCTIONS.get(rules.auction, ())
    if rules.censor:
        in_order.append(auctions.censor)
    if rules.trump_source == "named":
        in_order.append(auctions.name_trump)
    if rules.soloist_partner == "called_card":
        in_order.append(auctions.call_card)
    return tuple(in_order)
