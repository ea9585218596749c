"""Deals of the hidden cards that agree with what a seat knows, every one with the same chance.

What is known comes down to four kinds of facts, which `engine.search.knowledge` gathers: how many hidden cards each seat holds; cards that a
seat cannot hold; cards of which a seat holds at most so many, because it drew so often after it showed that it had none; sets of which a
seat does not hold all. The first two, and the third where only one hand is hidden, are counted exactly: how many placements are left after
each choice says with which chance a card goes where. What remains is dealt again until it agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.errors import EngineError
from engine.portable import add_up

if TYPE_CHECKING:
    from engine.cards.chance import Dice

TRIES: Final = 100_000  # deals that are thrown away before one that agrees: more than any table was seen to need
FINE: Final = 1 << 30
BITS = [2**card for card in range(64)]


class Deal(NamedTuple):
    """Where all cards are. hands: by seat, ascending; stock: face down, the next one last; away: what others put away."""

    hands: list[list[int]]
    stock: list[int]
    away: list[int]


class AtMost(NamedTuple):
    """A seat holds at most `number` hidden cards of a set (bits of card numbers)."""

    seat: int
    cards: int
    number: int


class Facts(NamedTuple):
    """All that is known about the cards of a deal. Sets of cards are numbers with a bit a card.

    held: by seat, cards that are certainly there; need: by seat, hidden cards that it holds besides; unseen: the hidden cards; barred: by seat,
    hidden cards that it cannot hold; at_most; not_all: sets of which a seat does not hold every card, held ones included; sung: songs whose
    suit is hidden, each as the seat and what it must hold by suit (each song is of a suit of its own); away: hidden cards that were put
    away. What is left lies face down.
    """

    held: list[int]
    need: list[int]
    unseen: int
    barred: list[int]
    at_most: list[AtMost]
    not_all: list[tuple[int, int]]
    sung: list[tuple[int, dict[int, int]]]
    away: int


def cards_of(mask: int) -> list[int]:
    """The numbers of the cards of a set, ascending."""
    found = []
    card = 0
    while mask:
        if mask & 1:
            found.append(card)
        mask >>= 1
        card += 1
    return found


class Deals:
    """The deals that agree with some facts. Made once for a decision; `deal` then gives as many as are wanted."""

    def __init__(self, facts: Facts) -> None:
        """Raises EngineError where no deal can agree."""
        self.facts = facts
        self._seats = [seat for seat, need in enumerate(facts.need) if need]
        unseen = cards_of(facts.unseen)
        self._rest = len(unseen) - sum(facts.need)
        self._held = [cards_of(held) for held in facts.held]
        # a layer of one hidden hand is counted; where several hands have some, deals that do not agree are thrown away
        counted = facts.at_most if len(self._seats) == 1 else []
        self._checked = [one for one in facts.at_most if one.seat in self._seats] if not counted else []
        self._bars = [
            (seat, cards) for seat, cards in facts.not_all if seat in self._seats or facts.held[seat] & cards == cards
        ]
        limits = {}
        for card in unseen:
            found = [one.number for one in counted if one.cards & BITS[card]]
            if found:
                limits[card] = (-len(found), min(found))
        bound = [
            card for card in unseen if card in limits or any(facts.barred[seat] & BITS[card] for seat in self._seats)
        ]
        # the innermost layers first, so that the cards taken so far are those of the layers that hold the present card
        bound.sort(key=lambda card: (limits.get(card, (0, 0))[0], card))
        self._bound = bound
        self._free = [card for card in unseen if card not in set(bound)]
        self._limit = [limits[card][1] if card in limits else len(unseen) for card in bound]
        self._may = [[not facts.barred[seat] & BITS[card] for seat in self._seats] for card in bound]
        self._ways: dict[tuple[int, ...], int] = {}
        self._start = (*(facts.need[seat] for seat in self._seats), self._rest)
        self._total = self._count(0, self._start) if self._rest >= 0 else 0
        if not self._total:
            raise EngineError(
                "no deal of the hidden cards agrees with what was seen: an event is missing, or one is wrong"
            )

    @property
    def placements(self) -> int:
        """In how many ways the hidden cards can lie in the hands, by what is counted (see above), what is thrown away included."""
        return self._total

    def _count(self, place: int, room: tuple[int, ...]) -> int:
        """Ways to place the bound cards from a place on, and all free ones, into so much room by receiver."""
        if place == len(self._bound):
            ways = 1
            left = sum(room)
            for size in room:
                ways *= comb(left, size)
                left -= size
            return ways
        key = (place, *room)
        found = self._ways.get(key)
        if found is None:
            found = 0
            for receiver in range(len(room)):
                if self._goes(place, receiver, room):
                    found += self._count(place + 1, _less(room, receiver))
            self._ways[key] = found
        return found

    def _goes(self, place: int, receiver: int, room: tuple[int, ...]) -> bool:
        """Whether a bound card may go to a receiver: a hidden hand, or (the last one) the cards that nobody holds."""
        if not room[receiver]:
            return False
        if receiver == len(room) - 1:
            return True
        return self._may[place][receiver] and self._start[receiver] - room[receiver] < self._limit[place]

    def deal(self, dice: Dice) -> Deal:
        """One deal. Raises EngineError where none was found that agrees."""
        for _ in range(TRIES):
            hands = self._one(dice)
            if self._agrees(hands):
                rest = hands.pop()
                rest = dice.shuffle(rest)
                away = self.facts.away
                found = [held[:] for held in self._held]
                for seat, cards in zip(self._seats, hands, strict=True):
                    found[seat] = sorted(found[seat] + cards)
                return Deal(found, rest[away:], rest[:away])
        raise EngineError(f"none of {TRIES} deals of the hidden cards agrees with what was seen")

    def likely(self, dice: Dice, weight: Callable[[Deal], float], of: int = 8) -> Deal:
        """One of so many deals, by their weights: how likely the plays seen are in each. Where all weigh nothing, any of them."""
        found = [self.deal(dice) for _ in range(of)]
        weights = [max(0.0, weight(deal)) for deal in found]
        total = add_up(weights)
        thrown: int = dice.below(FINE)
        mark = thrown / FINE * total
        for deal, weighs in zip(found, weights, strict=True):
            mark -= weighs
            if mark < 0:
                return deal
        return found[-1]

    def _one(self, dice: Dice) -> list[list[int]]:
        """Hidden cards by receiver."""
        room = self._start
        last = len(room) - 1
        hands: list[list[int]] = [[] for _ in room]
        for place, card in enumerate(self._bound):
            # compiled, dice give machine words, and these products do not fit into one
            coarse: int = dice.below(FINE)
            fine: int = dice.below(FINE)
            mark: int = self._count(place, room) * (coarse * FINE + fine) // (FINE * FINE)
            chosen = last
            for receiver in range(last + 1):
                if self._goes(place, receiver, room):
                    chosen = receiver
                    mark -= self._count(place + 1, _less(room, receiver))
                    if mark < 0:
                        break
            hands[chosen].append(card)
            room = _less(room, chosen)
        free = dice.shuffle(self._free)
        start = 0
        for receiver, size in enumerate(room):
            hands[receiver] += free[start : start + size]
            start += size
        return hands

    def _agrees(self, hands: Sequence[list[int]]) -> bool:
        if not self._checked and not self._bars and not self.facts.sung:
            return True
        masks = {seat: sum([BITS[card] for card in hand]) for seat, hand in zip(self._seats, hands, strict=False)}
        for one in self._checked:
            if (masks[one.seat] & one.cards).bit_count() > one.number:
                return False
        whole = [held | masks.get(seat, 0) for seat, held in enumerate(self.facts.held)]
        if any(whole[seat] & cards == cards for seat, cards in self._bars):
            return False
        return not self.facts.sung or suits_sung(self.facts.sung, whole) is not None


def suits_sung(
    sung: Sequence[tuple[int, dict[int, int]]], whole: Sequence[int], used: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """A suit for each song whose suit is hidden, by the cards of each seat; None where they do not allow it."""
    if len(used) == len(sung):
        return used
    seat, asked = sung[len(used)]
    for suit, cards in asked.items():
        if suit not in used and whole[seat] & cards == cards:
            found = suits_sung(sung, whole, (*used, suit))
            if found is not None:
                return found
    return None


def _less(room: tuple[int, ...], receiver: int) -> tuple[int, ...]:
    return (*room[:receiver], room[receiver] - 1, *room[receiver + 1 :])
