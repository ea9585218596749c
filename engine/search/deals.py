"""Deals of the hidden cards that agree with what a seat knows. Every such deal is equally likely.

`engine.search.knowledge` gathers four kinds of facts: how many hidden cards each seat holds; cards that a seat cannot hold; sets of which a seat
holds at most n cards, because it has drawn n cards since it showed that it had none; sets of which a seat does not hold every card. The first two,
and the third if only one hand is hidden, are counted exactly: each card is placed with a chance in proportion to the placements that remain. For the
other facts, deals are drawn until one agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.errors import EngineError
from engine.portable import add_up

if TYPE_CHECKING:
    from engine.cards.chance import Dice

TRIES: Final = 100_000  # Rejected deals before giving up; no table has needed more.
FINE: Final = 1 << 30
BITS = [2**card for card in range(64)]


class Deal(NamedTuple):
    """All cards of a deal. hands: by seat, ascending; stock: face down, the next one last; away: cards that others put away."""

    hands: list[list[int]]
    stock: list[int]
    away: list[int]


class AtMost(NamedTuple):
    """A seat holds at most `number` hidden cards of a set (bits of card numbers)."""

    seat: int
    cards: int
    number: int


class Facts(NamedTuple):
    """The known facts about the cards of a deal. Sets of cards are numbers with a bit a card.

    certain: cards that a seat certainly holds, by seat; need: the number of its other cards, by seat; unseen: the hidden cards; barred: hidden
    cards that a seat cannot hold, by seat; at_most; not_all: sets of which a seat does not hold every card, certain cards included; sung: songs
    whose suit is hidden, each as the seat and, for each possible suit, the cards it must hold (no two songs are of one suit); away: number of
    hidden cards that were put away. The other hidden cards lie face down.
    """

    certain: list[int]
    need: list[int]
    unseen: int
    barred: list[int]
    at_most: list[AtMost]
    not_all: list[tuple[int, int]]
    sung: list[tuple[int, dict[int, int]]]
    away: int


def cards_of(mask: int) -> list[int]:
    """Return the numbers of the cards of a set, ascending."""
    cards = []
    card = 0
    while mask:
        if mask & 1:
            cards.append(card)
        mask >>= 1
        card += 1
    return cards


class Deals:
    """The deals that agree with some facts. Build one for a decision; `deal` then returns as many as you want."""

    def __init__(self, facts: Facts) -> None:
        """Raises EngineError if no deal can agree."""
        self.facts = facts
        self._seats = [seat for seat, need in enumerate(facts.need) if need]
        unseen = cards_of(facts.unseen)
        self._rest = len(unseen) - sum(facts.need)
        self._certain = [cards_of(cards) for cards in facts.certain]
        # Limits of a single hidden hand are counted. With several hidden hands, deals that break a limit are rejected.
        counted = facts.at_most if len(self._seats) == 1 else []
        self._checked = [limit for limit in facts.at_most if limit.seat in self._seats] if not counted else []
        self._bars = [
            (seat, cards)
            for seat, cards in facts.not_all
            if seat in self._seats or facts.certain[seat] & cards == cards
        ]
        limits = {}
        for card in unseen:
            numbers = [limit.number for limit in counted if limit.cards & BITS[card]]
            if numbers:
                limits[card] = (-len(numbers), min(numbers))
        bound = [
            card for card in unseen if card in limits or any(facts.barred[seat] & BITS[card] for seat in self._seats)
        ]
        # Innermost sets first, so that all cards placed so far count against the limit of the present one.
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
        """The number of placements of the hidden cards in the hands, including those that are rejected later."""
        return self._total

    def _count(self, place: int, room: tuple[int, ...]) -> int:
        """Count the ways to place the bound cards from `place` on and all free cards. `room`: how many cards each receiver still takes."""
        if place == len(self._bound):
            ways = 1
            free = sum(room)
            for size in room:
                ways *= comb(free, size)
                free -= size
            return ways
        key = (place, *room)
        ways_in_all = self._ways.get(key)
        if ways_in_all is None:
            ways_in_all = 0
            for receiver in range(len(room)):
                if self._goes(place, receiver, room):
                    ways_in_all += self._count(place + 1, _less(room, receiver))
            self._ways[key] = ways_in_all
        return ways_in_all

    def _goes(self, place: int, receiver: int, room: tuple[int, ...]) -> bool:
        """Return True if a bound card may go to a receiver: a hidden hand, or (the last one) the cards that nobody holds."""
        if not room[receiver]:
            return False
        if receiver == len(room) - 1:
            return True
        return self._may[place][receiver] and self._start[receiver] - room[receiver] < self._limit[place]

    def deal(self, dice: Dice) -> Deal:
        """Return one deal. Raises EngineError if no deal that agrees was found."""
        for _ in range(TRIES):
            hands = self._draw_hands(dice)
            if self._agrees(hands):
                rest = hands.pop()
                rest = dice.shuffle(rest)
                away = self.facts.away
                hands_of_deal = [cards[:] for cards in self._certain]
                for seat, cards in zip(self._seats, hands, strict=True):
                    hands_of_deal[seat] = sorted(hands_of_deal[seat] + cards)
                return Deal(hands_of_deal, rest[away:], rest[:away])
        raise EngineError(f"none of {TRIES} deals of the hidden cards agrees with what was seen")

    def likely(self, dice: Dice, weight: Callable[[Deal], float], number: int = 8) -> Deal:
        """Return one of `number` deals, drawn by weight, such as the likelihood of the plays seen in it; any of them if all weights are 0."""
        deals = [self.deal(dice) for _ in range(number)]
        weights = [max(0.0, weight(deal)) for deal in deals]
        total = add_up(weights)
        thrown: int = dice.below(FINE)
        mark = thrown / FINE * total
        for deal, weighs in zip(deals, weights, strict=True):
            mark -= weighs
            if mark < 0:
                return deal
        return deals[-1]

    def _draw_hands(self, dice: Dice) -> list[list[int]]:
        """Return hidden cards by receiver."""
        room = self._start
        last = len(room) - 1
        hands: list[list[int]] = [[] for _ in room]
        for place, card in enumerate(self._bound):
            # Python ints, because these products do not fit into the machine words of compiled dice.
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
        for limit in self._checked:
            if (masks[limit.seat] & limit.cards).bit_count() > limit.number:
                return False
        whole = [cards_held | masks.get(seat, 0) for seat, cards_held in enumerate(self.facts.certain)]
        if any(whole[seat] & cards == cards for seat, cards in self._bars):
            return False
        return not self.facts.sung or suits_sung(self.facts.sung, whole) is not None


def suits_sung(
    sung: Sequence[tuple[int, dict[int, int]]], whole: Sequence[int], used: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """Return a suit for each song whose suit is hidden, given the cards of each seat; None if they do not allow it."""
    if len(used) == len(sung):
        return used
    seat, choices = sung[len(used)]
    for suit, cards in choices.items():
        if suit not in used and whole[seat] & cards == cards:
            suits = suits_sung(sung, whole, (*used, suit))
            if suits is not None:
                return suits
    return None


def _less(room: tuple[int, ...], receiver: int) -> tuple[int, ...]:
    return (*room[:receiver], room[receiver] - 1, *room[receiver + 1 :])
