"""Exchanges of the shown card: when a seat may make one, and with which card (parameters `exchange*` of the rules book)."""

from __future__ import annotations

from engine.cards import actions as act
from engine.cards.pack import Pack
from engine.rules.parameters import Rules

MOMENTS = ("before_first_lead", "before_draw", "after_draw", "own_turn")

Swap = tuple[int, int, bool]  # bit of the card to give, code of the action, True if an earlier exchange forbids it


def moments(rules: Rules) -> frozenset[str]:
    """Return the moments, words of MOMENTS, at which this game allows exchanges."""
    if rules.exchange == "none":
        return frozenset()
    if rules.exchange == "before_first_lead":
        return frozenset({"before_first_lead"})
    if rules.exchange == "deferred":
        return frozenset({"own_turn"})
    if rules.exchange_trigger == "own_turn":
        return frozenset({"own_turn", "after_draw"})
    return frozenset({"before_draw", "after_draw"} if rules.exchange_window == "both" else {rules.exchange_window})


def swaps(rules: Rules, pack: Pack) -> list[tuple[Swap, ...]]:
    """Return, for each card of the pack as the shown one, the cards that may be given for it."""
    table: list[tuple[Swap, ...]] = []
    for card, rank in enumerate(pack.rank):
        suit = pack.suit[card]
        allowed: list[Swap] = []
        for ranks, giver, code in (
            (rules.exchange_seven, "7", act.EXCHANGE_SEVEN),
            (rules.exchange_two, "2", act.EXCHANGE_TWO),
        ):
            card_to_give = pack.card(giver, suit)
            if ranks and rank in ranks and card_to_give >= 0:
                # A 7 that lies there by an exchange goes on to the 2 where `exchange_chain` says so. A 2 does not go back to the 7: they could
                # take each other for ever.
                barred = rank == "2" or (rank == "7" and not rules.exchange_chain)
                allowed.append((pack.bit[card_to_give], code, barred))
        table.append(tuple(allowed))
    return table
