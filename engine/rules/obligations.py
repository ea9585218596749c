"""Ready tables of the cards that followers may play, built from `engine.rules.following`.

Every duty comes down to two tables of ready tuples: `ftab`, looked up by the holding of the suit led, and `htab`, looked up by the holding of trumps
when the hand is void in the suit led. An empty tuple means that every card is legal. Which two tables apply depends on the card that is winning;
`Obligation` has them for one trump.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from engine.cards.pack import NO_SUIT, ByHolding, Pack
from engine.rules.following import ALL, HIGHER_OR_ALL, HIGHER_OR_ANY, MODIFIED, NO_LOAD, demands, duty_number
from engine.rules.parameters import Rules


class Obligation(NamedTuple):
    """The tables of one duty and one trump."""

    follow: list[ByHolding]  # `ftab` by the winning card, while it is of the suit led
    ruffed: list[ByHolding]  # `ftab` by the highest card of the suit led, while a trump is winning another suit
    void: ByHolding  # `htab` while no trump has been played on another suit
    over: list[ByHolding]  # `htab` by the trump that is winning


class InForce(NamedTuple):
    """The obligation of a trick.

    `modified`: the cards of a follower depend on its partner or on all cards of the trick, so looking up `tables` is not enough.
    """

    duty: int
    no_load: bool
    modified: bool
    tables: tuple[Obligation, ...]  # one for each trump, NO_SUIT included
    with_partner: tuple[Obligation, ...]  # the same while the follower's partner is winning


def in_force(rules: Rules, word: str, pack: Pack, points: list[int]) -> InForce:
    """Return what an obligation word means under these rules."""
    duty = duty_number(rules, word)
    no_load, modified = bool(duty & NO_LOAD), bool(duty & MODIFIED)
    # Modified tables leave NL to `engine.match.trick.legality`.
    loads = tuple(points) if no_load and not modified else ()
    tables = tuple(_obligation(pack, duty, trump, loads, False) for trump in range(NO_SUIT + 1))
    if not modified:
        return InForce(duty, no_load, modified, tables, tables)
    with_partner = tuple(_obligation(pack, duty, trump, loads, True) for trump in range(NO_SUIT + 1))
    return InForce(duty, no_load, modified, tables, with_partner)


@cache
def _obligation(pack: Pack, duty: int, trump: int, loads: tuple[int, ...], with_partner: bool) -> Obligation:
    """Return the tables of a duty. `loads`: the points of the cards where NL holds, else empty."""
    cards = range(len(pack.texts))
    least, unloaded = _unloaded(pack, loads) if loads else (pack.all, pack.follow)

    def table(demand: int, card: int, wins: bool = True) -> ByHolding:
        if demand == ALL:
            return (pack.all if wins else least)[pack.suit[card]]
        if demand == HIGHER_OR_ALL:
            return unloaded[card]
        return pack.higher[card] if demand == HIGHER_OR_ANY else pack.nothing

    demanded = demands(duty)
    partner = 1 if with_partner else 0
    (plain, void), (ruffed, over), (trumps_led, _) = (demanded[situation + partner] for situation in (0, 2, 4))
    return Obligation(
        [table(trumps_led if pack.suit[card] == trump else plain, card) for card in cards],
        [table(ruffed, card, wins=False) for card in cards],
        pack.nothing if trump == NO_SUIT else table(void, trump * pack.size),
        [table(over, card) if pack.suit[card] == trump else pack.nothing for card in cards],
    )


@cache
def _unloaded(pack: Pack, points: tuple[int, ...]) -> tuple[list[ByHolding], list[ByHolding]]:
    """Return `least` and `follow` under NL: a holding that cannot win gives only its cards of least value."""
    least = [[least_of(cards, points) for cards in row] for row in pack.all]
    follow = []
    for row, suit in zip(pack.higher, pack.suit, strict=True):
        follow.append([winning or least[suit][mask] for mask, winning in enumerate(row)])
    return least, follow


def least_of(cards: tuple[int, ...], points: Sequence[int]) -> tuple[int, ...]:
    """Return the cards of least value among these."""
    least = min([points[card] for card in cards], default=0)
    return tuple([card for card in cards if points[card] == least])
