"""When the shown card may be exchanged, and which card may be given for it (parameters `exchange*` of the rules book)."""

from __future__ import annotations

from engine.cards import actions as act
from engine.cards.pack import Pack
from engine.rules.parameters import Rules

MOMENTS = ("before_first_lead", "before_draw", "after_draw", "own_turn")

Swap = tuple[int, int, bool]  # bit of the card that is given, code of the action, whether an exchange before forbids it


def moments(rules: Rules) -> frozenset[str]:
    """The moments at which this game knows exchanges, words of MOMENTS."""
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
    """What may be given for each card of the pack when it is the shown one."""
    table: list[tuple[Swap, ...]] = []
    for card, rank in enumerate(pack.rank):
        suit = pack.suit[card]
        found: list[Swap] = []
        for ranks, giver, code in (
            (rules.exchange_seven, "7", act.EXCHANGE_SEVEN),
            (rules.exchange_two, "2", act.EXCHANGE_TWO),
        ):
            given = pack.card(giver, suit)
            if ranks and rank in ranks and given >= 0:
                found.append((pack.bit[given], code, giver == "2" and rank == "7" and not rules.exchange_chain))
        table.append(tuple(found))
    return table
