"""What followers may play under each obligation word (README of the rules book, section 4), as ready tables.

Every obligation comes down to two tables of ready tuples: `ftab`, asked with the holding of the suit led, and `htab`, asked with the
holding of trumps when that is empty. Where they give nothing every card is legal. Which tables these are depends on the card that is
winning, and stands ready for each obligation and trump in `Obligation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from engine.cards.pack import NO_SUIT, ByHolding, Pack
from engine.rules.parameters import Rules

STRICT: Final = 0
FREE: Final = 1
TRUMP_FOLLOW: Final = 2
FOLLOW: Final = 3
FOLLOW_OR_TRUMP: Final = 4
CODES = {
    "strict": STRICT,
    "free": FREE,
    "trump_follow": TRUMP_FOLLOW,
    "follow": FOLLOW,
    "follow_or_trump": FOLLOW_OR_TRUMP,
}
EXEMPTIONS = ("none", "trump_only", "all")  # partner_exempt


class Obligation(NamedTuple):
    """What followers may play under one obligation and one trump."""

    follow: list[ByHolding]  # `ftab` by the winning card, while it is of the suit led
    ruffed: list[ByHolding]  # `ftab` by the suit led, while a trump is winning another suit
    void: ByHolding  # `htab` while no trump has been played on another suit
    over: list[ByHolding]  # `htab` by the trump that is winning


class InForce(NamedTuple):
    """The obligation of a trick. `modified`: followers' cards depend on more than its tables: who is winning, the cards led."""

    code: int
    no_load: bool
    modified: bool
    tables: tuple[Obligation, ...]  # by trump, NO_SUIT included


def in_force(rules: Rules, word: str, pack: Pack, points: list[int]) -> InForce:
    """What an obligation word means under these rules. Modifiers and NL belong to STRICT only."""
    code = CODES[word]
    strict = code == STRICT
    no_load = rules.no_load and strict
    modified = strict and (rules.beat_after_trumped or rules.partner_exempt != "none")
    loads = tuple(points) if no_load else ()
    tables = tuple(_obligation(pack, code, trump, rules.undertrump, loads) for trump in range(NO_SUIT + 1))
    return InForce(code, no_load, modified, tables)


def _obligation(pack: Pack, code: int, trump: int, undertrump: bool, loads: tuple[int, ...]) -> Obligation:
    held, nothing = pack.all, pack.nothing
    cards, suits = range(len(pack.texts)), range(NO_SUIT)
    trumps = nothing if trump == NO_SUIT else held[trump]
    free = [nothing for _ in cards]
    if code == FREE:
        return Obligation(free, [nothing for _ in suits], nothing, free)
    if code == TRUMP_FOLLOW:  # QT
        follow = [held[trump] if pack.suit[card] == trump else nothing for card in cards]
        return Obligation(follow, [nothing for _ in suits], nothing, free)
    if code == FOLLOW:  # F1, F3
        return Obligation([held[pack.suit[card]] for card in cards], held, nothing, free)
    if code == FOLLOW_OR_TRUMP:  # F1 to F3
        return Obligation([held[pack.suit[card]] for card in cards], held, trumps, [trumps for _ in cards])
    if loads:
        follow, ruffed = _unloaded(pack, loads)
    else:
        follow, ruffed = pack.follow, held
    return Obligation(follow, ruffed, trumps, follow if undertrump else pack.higher)  # P2 to P7


@cache
def _unloaded(pack: Pack, points: tuple[int, ...]) -> tuple[list[ByHolding], list[ByHolding]]:
    """`follow` and `ruffed` under NL: a holding that cannot win gives only its cards of least value."""
    least = [[least_of(cards, points) for cards in row] for row in pack.all]
    follow = []
    for row, suit in zip(pack.higher, pack.suit, strict=True):
        follow.append([winning or least[suit][mask] for mask, winning in enumerate(row)])
    return follow, least


def least_of(cards: tuple[int, ...], points: Sequence[int]) -> tuple[int, ...]:
    """The cards of least value among these."""
    least = min([points[card] for card in cards], default=0)
    return tuple([card for card in cards if points[card] == least])
