"""Deals of the hidden cards: hands for the other seats that agree with everything that was shown and proved.

Cards are ints here, suit * 16 + strength, suits in the order of the pack; a hand is a list of four bit masks.
"""

from __future__ import annotations

from random import Random

from tute_bot import NO_LIMIT, View

ALL = 99
TRIES = 6

Hands = list[list[int]]


class Numbering:
    """The numbers of card texts, and the texts of numbers, for one table."""

    def __init__(self, view: View) -> None:
        suits = "".join(dict.fromkeys(card[1] for card in view.pack))
        self.suit = {letter: number for number, letter in enumerate(suits)}
        self.number = {card: 16 * self.suit[card[1]] + view.strength(card) for card in view.pack}
        self.text = {number: card for card, number in self.number.items()}

    def masks(self, cards: list[str] | set[str]) -> list[int]:
        """Return a hand of card texts as four masks."""
        hand = [0, 0, 0, 0]
        for card in cards:
            number = self.number[card]
            hand[number >> 4] |= 1 << (number & 15)
        return hand


class Dealer:
    """A dealer of the hidden cards at one decision; `deal` returns one full distribution."""

    def __init__(self, view: View, cards: Numbering, random: Random, barred: list[set[int]]) -> None:
        """`barred`: for each seat, the suits whose pair it cannot hold, because it did not sing when it could have."""
        self.random = random
        self.seat = view.seat
        self.base = [cards.masks(view.known[seat]) for seat in range(view.seats)]
        self.base[view.seat] = cards.masks(view.hand)
        self.need = [0] * view.seats
        for seat in range(view.seats):
            if seat != view.seat:
                self.need[seat] = max(0, view.counts[seat] - len(view.known[seat]))
        self.unseen = [cards.number[card] for card in view.pack if card in view.unseen]
        self.others = [seat for seat in range(view.seats) if self.need[seat]]
        limits = {seat: [view.limit[seat].get(letter, NO_LIMIT) for letter in cards.suit] for seat in self.others}
        self.free = all(limit == NO_LIMIT for seat in self.others for limit in limits[seat])
        self.may = {card: [seat for seat in self.others if card & 15 < limits[seat][card >> 4]] for card in self.unseen}
        pair = [view.rules["rank_order"][::-1].find(rank) for rank in view.rule("pair_ranks")]
        self.pair = sum(1 << strength for strength in pair if strength >= 0)
        self.freedom = {card: len(seats) for card, seats in self.may.items()}
        self.barred = [(seat, suit) for seat in self.others for suit in barred[seat]]
        shown_is_drawn = view.stock and view.shown and view.holder is None
        self.face_down = max(0, view.stock - (1 if shown_is_drawn else 0))
        self.total = sum(self.need)
        self.last = [cards.number[view.shown]] if shown_is_drawn and view.shown else []

    def deal(self, draws: int = ALL) -> tuple[Hands, list[int]]:
        """Return hands by seat and the stock, the next card last; if the stock has more than `draws` cards, only the next `draws`."""
        for _ in range(TRIES):
            hands, rest = self._fill(draws)
            if not any(hands[seat][suit] & self.pair == self.pair for seat, suit in self.barred):
                break
        if draws < self.face_down:
            return hands, rest[:draws]
        stock = self.last + rest[: self.face_down] if self.face_down or self.last else []
        return hands, stock

    def _fill(self, draws: int) -> tuple[Hands, list[int]]:
        hands = [hand[:] for hand in self.base]
        if self.free:
            deck = self.random.sample(self.unseen, min(len(self.unseen), self.total + draws))
            for seat in self.others:
                hand = hands[seat]
                for _ in range(self.need[seat]):
                    card = deck.pop()
                    hand[card >> 4] |= 1 << (card & 15)
            return hands, deck
        deck = self.unseen[:]
        self.random.shuffle(deck)
        need = self.need[:]
        spare = len(deck) - sum(need)
        rest = []
        may = self.may
        deck.sort(key=self.freedom.__getitem__)  # the most restricted card first; the shuffle decides among equals
        random = self.random.random
        for card in deck:
            open_ = [seat for seat in may[card] if need[seat]]
            room = sum(need[seat] for seat in open_)
            if spare and (not room or random() * (room + spare) < spare):
                spare -= 1
                rest.append(card)
                continue
            if not open_:  # Dead end: rather than lose the card, give it to a seat proved not to hold it.
                open_ = [seat for seat in self.others if need[seat]]
                room = sum(need[seat] for seat in open_)
            pick = random() * room
            for seat in open_:
                pick -= need[seat]
                if pick < 0:
                    break
            need[seat] -= 1
            hands[seat][card >> 4] |= 1 << (card & 15)
        self.random.shuffle(rest)
        return hands, rest
