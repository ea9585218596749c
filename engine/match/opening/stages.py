"""The stages of a deal between the dealing and the first lead (README of the rules book, section 3)."""

from __future__ import annotations

from collections.abc import Callable

from engine.match.data import Data
from engine.match.opening import auctions, joining
from engine.match.trick import exchanges
from engine.rules.parameters import Rules

Stage = Callable[[Data], int]  # asks a seat (WAIT), or has nothing to ask (STAGE), or ends the deal (DECIDED)

AUCTIONS: dict[str, tuple[Stage, ...]] = {
    "points": (auctions.points_auction,),
    "pot_contract": (auctions.points_auction,),
    "play_or_pass": (auctions.play_or_pass,),
    "play_then_join": (joining.play_then_join, joining.change_cards),
    "trick_prediction": (auctions.predictions,),
}


def stages(rules: Rules) -> tuple[Stage, ...]:
    """The stages that the deals of a game go through, in order."""
    found: list[Stage] = []
    if rules.exchange == "before_first_lead":
        found.append(exchanges.stage)
    found += AUCTIONS.get(rules.auction, ())
    if rules.censor:
        found.append(auctions.censor)
    if rules.trump_source == "named":
        found.append(auctions.name_trump)
    if rules.soloist_partner == "called_card":
        found.append(auctions.call_card)
    return tuple(found)
