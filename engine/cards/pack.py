"""Cards as small ints, their texts, and the tables of ready tuples from which legal cards are read.

A card is `suit * size + strength`, strength 0 the lowest of its suit; Spanish packs have four suits of size 10, so cards are 0..39.
A hand is a list of five ints: one bit mask of strengths per suit, and a fifth that is always 0 and stands for "no suit"
(`NO_SUIT`), so that code may index a hand by the trump suit of a deal without trumps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from engine.errors import EngineError

NO_SUIT: Final = 4
SUIT_BITS: Final = 15  # Python stores an int in digits of 30 bits, so two suits fill one.
ONE_SUIT = (1 << SUIT_BITS) - 1
LOW_SUITS = (1 << 2 * SUIT_BITS) - 1
SPANISH_SUITS = "oceb"  # coins, cups, swords, batons
FRENCH_SUITS = "shdc"  # spades, hearts, diamonds, clubs

ByHolding = list[tuple[int, ...]]  # ready tuples of cards, by the bit mask of one suit of a hand


class Pack:
    """A pack of cards: its cards, their texts and ranks.

    `order` is the rank order high to low, as the rules book prints it; `left_out` are cards that the pack lacks.
    """

    def __init__(self, name: str, order: str, suits: str, left_out: Sequence[str] = ()) -> None:
        self.name = name
        self.ranks = order[::-1]
        self.suits = suits
        self.size = len(order)
        self.texts = [rank + suit for suit in suits for rank in self.ranks]
        self._numbers = {text: card for card, text in enumerate(self.texts)}
        missing = {self._numbers[text] for text in left_out}
        self.cards = [card for card in range(len(self.texts)) if card not in missing]
        self._there = frozenset(self.cards)
        self.suit = [card // self.size for card in range(len(self.texts))]
        self.bit = [1 << card % self.size for card in range(len(self.texts))]
        # `flag` has one bit per card in an int for all suits, 15 bits a suit: adding flags makes a hand in one step.
        self.flag = [1 << SUIT_BITS * (card // self.size) + card % self.size for card in range(len(self.texts))]
        self.suit_flags = [ONE_SUIT << SUIT_BITS * suit for suit in range(NO_SUIT)] + [0]  # NO_SUIT: no card
        # the card of a flag by its bit length; as keys of a dict, powers of two collide
        self._of_length = [0] * (NO_SUIT * SUIT_BITS + 1)
        for card, flag in enumerate(self.flag):
            self._of_length[flag.bit_length()] = card
        self.rank = [self.ranks[card % self.size] for card in range(len(self.texts))]
        self.whole = self.hand(self.cards)  # the pack as a hand
        self.all = _all(self.size)  # all[suit][mask]: the cards of a holding

    def text(self, card: int) -> str:
        """Return the text of a card: '1o' for the ace of coins. Raises EngineError for a number that is no card of this pack."""
        if card not in self._there:
            raise EngineError(f"there is no card number {card!r} in the pack {self.name}")
        return self.texts[card]

    def names(self, cards: Iterable[int]) -> list[str]:
        """Return the texts of the cards, without checking them."""
        return list(map(self.texts.__getitem__, cards))

    def parse(self, text: str) -> int:
        """Return the card of a text. Raises EngineError with the text and the ranks and suits of the pack."""
        card = self._numbers.get(text)
        if card is None or card not in self.cards:
            raise EngineError(
                f"unknown card {text!r}: a card is a rank of {self.ranks[::-1]} and a suit of {self.suits}, e.g. 1o"
            )
        return card

    def parse_suit(self, text: str) -> int:
        """Return the number of a suit letter. Raises EngineError for any other text."""
        if len(text) != 1 or text not in self.suits:
            raise EngineError(f"unknown suit {text!r}: suits are {', '.join(self.suits)}")
        return self.suits.index(text)

    def card(self, rank: str, suit: int) -> int:
        """Return the card of a rank letter in a suit, or -1 if the pack has no such card."""
        card = self._numbers.get(rank + self.suits[suit], -1) if suit < NO_SUIT and rank in self.ranks else -1
        return card if card in self.cards else -1

    def mask(self, ranks: str) -> int:
        """Return the bit mask, within one suit, of some rank letters."""
        return sum(1 << self.ranks.index(rank) for rank in ranks)

    def worth_masks(self, points: Mapping[str, int]) -> list[int]:
        """Return bit masks, within one suit, of the ranks of equal value, the cheapest first."""
        values = sorted({points.get(rank, 0) for rank in self.ranks})
        return [self.mask("".join(rank for rank in self.ranks if points.get(rank, 0) == value)) for value in values]

    def hand(self, cards: Iterable[int]) -> list[int]:
        """Return the cards as a hand (see module docstring)."""
        hand = [0] * (NO_SUIT + 1)
        for card in cards:
            hand[card // self.size] |= self.bit[card]
        return hand

    def flags(self, suit_map: tuple[int, ...]) -> list[int]:
        """Return the flags of all cards in their order, with the suits exchanged by `suit_map`."""
        return [self.flag[suit_map[card // self.size] * self.size + card % self.size] for card in self.cards]

    def of_flags(self, flags: Iterable[int]) -> list[int]:
        """Return the cards of these flags."""
        of_length = self._of_length
        return [of_length[flag.bit_length()] for flag in flags]

    def in_hand(self, hand: Sequence[int]) -> tuple[int, ...]:
        """Return the cards of a hand, ascending."""
        a, b, c, d, _ = hand
        coins, cups, swords, batons = self.all
        return coins[a] + cups[b] + swords[c] + batons[d]

    @property
    def higher(self) -> list[ByHolding]:
        """A table: `higher[card][mask]` are the cards of a holding of that suit that outrank the card."""
        return _higher(self.size)

    @property
    def follow(self) -> list[ByHolding]:
        """A table: `follow[card][mask]` are the cards of a holding of that suit that outrank the card, or the whole holding if none does."""
        return _follow(self.size)

    @property
    def nothing(self) -> ByHolding:
        """A table that never offers a card."""
        return _nothing(self.size)


def hand_of_flags(flags: int) -> list[int]:
    """Return the hand that a sum of flags stands for."""
    low, high = flags & LOW_SUITS, flags >> 2 * SUIT_BITS
    return [low & ONE_SUIT, low >> SUIT_BITS, high & ONE_SUIT, high >> SUIT_BITS, 0]


@cache
def _all(size: int) -> list[ByHolding]:
    ranks = range(size)
    return [[tuple(suit * size + r for r in ranks if mask >> r & 1) for mask in range(1 << size)] for suit in range(4)]


@cache
def _nothing(size: int) -> ByHolding:
    return [()] * (1 << size)


@cache
def _higher(size: int) -> list[ByHolding]:
    holdings = _all(size)
    masks = range(1 << size)
    tables = []
    for card in range(4 * size):
        above = (1 << size) - (2 << card % size)
        row = holdings[card // size]
        tables.append([row[mask & above] for mask in masks])
    return tables


@cache
def _follow(size: int) -> list[ByHolding]:
    holdings = _all(size)
    return [
        [cards or holdings[card // size][mask] for mask, cards in enumerate(row)]
        for card, row in enumerate(_higher(size))
    ]


@cache
def pack(name: str, order: str) -> Pack:
    """Return the pack of a name of the rules book (es40, es36, es39, fr52) with a rank order, high to low."""
    if name == "fr52":
        return Pack(name, order, FRENCH_SUITS)
    # Twos keep their number, so that a card is the same int in every Spanish pack.
    full = order if "2" in order else order + "2"
    left_out = {"es40": [], "es36": ["2o", "2c", "2e", "2b"], "es39": ["2c"]}[name]
    return Pack(name, full, SPANISH_SUITS, left_out)
