"""The end of a deal for two: the stock is gone and both hands are known, so the rest of the deal is searched to its end.

Only strict obligations (rules book, README 4, P1 to P6): all games for two in the book have them in their final phase, except brisca. Songs and tutes
are declared as soon as possible. Cards and hands are those of `deals`.
"""

from __future__ import annotations

from collections.abc import Callable

from following import STRICT, followers
from habits import BEATING, SUIT, SUITS

Value = Callable[[int, int], float]
INFINITE = float("inf")


class Endgame:
    """Alpha-beta over the last tricks, with a table of positions at trick ends."""

    def __init__(
        self, values: list[int], trump: int, pair: int, songs: list[int], bonus: int, target: int | None, worth: Value
    ) -> None:
        """Take everything that stays the same during a search.

        `songs`: points of the pair of each suit, 0 if it cannot be sung; `worth(ours, theirs)`: the worth of final points to us; `target`: points
        with which a side wins at once (points and target include carried points), or None.
        """
        self.values = values
        self.trump = trump
        self.pair = pair
        self.songs = songs
        self.bonus = bonus
        self.target = target
        self.worth = worth
        self.known: dict[tuple[int, ...], float] = {}

    def lead(
        self, hands: list[list[int]], turn: int, ours: int, theirs: int, unsung: int, alpha: float, beta: float
    ) -> float:
        """Return the value of a position in which `turn` (0 we, 1 they) leads."""
        if self.target is not None and (ours if turn == 0 else theirs) >= self.target:
            return self.worth(ours, theirs) + (1000.0 if turn == 0 else -1000.0)
        key = (*hands[0], *hands[1], turn, ours, theirs, unsung)
        value_known = self.known.get(key)
        if value_known is not None:
            return value_known
        low, high = alpha, beta
        best = -INFINITE if turn == 0 else INFINITE
        for card in self.candidates(hands[turn], hands[1 - turn]):
            value = self.after_lead(hands, turn, card, ours, theirs, unsung, low, high)
            if turn == 0:
                best = max(best, value)
                low = max(low, best)
            else:
                best = min(best, value)
                high = min(high, best)
            if low >= high:
                return best  # a bound, not a value, so it is not stored
        if alpha < best < beta:
            self.known[key] = best
        return best

    def after_lead(
        self,
        hands: list[list[int]],
        turn: int,
        card: int,
        ours: int,
        theirs: int,
        unsung: int,
        alpha: float,
        beta: float,
    ) -> float:
        """Return the value after `turn` has led a card."""
        hand = hands[turn]
        hand[card >> 4] ^= 1 << (card & 15)
        best = INFINITE if turn == 0 else -INFINITE
        for answer in self.answers(hands[1 - turn], card):
            value = self.after_trick(hands, turn, card, answer, ours, theirs, unsung, alpha, beta)
            if turn == 0:
                best = min(best, value)
                beta = min(beta, best)
            else:
                best = max(best, value)
                alpha = max(alpha, best)
            if alpha >= beta:
                break
        hand[card >> 4] ^= 1 << (card & 15)
        return best

    def after_trick(
        self,
        hands: list[list[int]],
        leader: int,
        card: int,
        answer: int,
        ours: int,
        theirs: int,
        unsung: int,
        alpha: float,
        beta: float,
    ) -> float:
        """Return the value after the trick is complete; the card led has already left its hand."""
        wins = BEATING[(card >> 4) * 5 + self.trump][card] >> answer & 1
        winner = 1 - leader if wins else leader
        hand = hands[1 - leader]
        hand[answer >> 4] ^= 1 << (answer & 15)
        gained = self.values[card & 15] + self.values[answer & 15]
        winners_hand = hands[winner]
        last = not (winners_hand[0] or winners_hand[1] or winners_hand[2] or winners_hand[3])
        if last:
            gained += self.bonus
        else:
            song = -1
            for suit in (0, 1, 2, 3):
                if (
                    unsung >> suit & 1
                    and winners_hand[suit] & self.pair == self.pair
                    and (song < 0 or suit == self.trump)
                ):
                    song = suit
            if song >= 0:
                gained += self.songs[song]
                unsung &= ~(1 << song)
        if winner == 0:
            ours += gained
        else:
            theirs += gained
        value = self.worth(ours, theirs) if last else self.lead(hands, winner, ours, theirs, unsung, alpha, beta)
        hand[answer >> 4] ^= 1 << (answer & 15)
        return value

    def candidates(self, hand: list[int], other: list[int]) -> list[int]:
        """Return leads, strongest first; of neighbours worth the same, with no card of the other hand between them, only one."""
        cards = []
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            previous = -1
            while mask:
                strength = mask.bit_length() - 1
                mask ^= 1 << strength
                if previous >= 0 and self.values[previous] == self.values[strength]:
                    between = (1 << previous) - (2 << strength)
                    if not other[suit] & between and not (self.pair >> previous | self.pair >> strength) & 1:
                        previous = strength
                        continue
                previous = strength
                cards.append(suit * 16 + strength)
        return cards

    def answers(self, hand: list[int], card: int) -> list[int]:
        """Return the legal answers to a lead."""
        word = hand[0] | hand[1] << 16 | hand[2] << 32 | hand[3] << 48
        laid = 1 << card
        legal = followers(STRICT, word, SUITS[card >> 4], SUITS[self.trump], laid, laid, False)
        return [c for s in (0, 1, 2, 3) for c in _cards(s, legal >> 16 * s & SUIT)]


def _cards(suit: int, mask: int) -> list[int]:
    cards = []
    while mask:
        strength = mask.bit_length() - 1
        mask ^= 1 << strength
        cards.append(suit * 16 + strength)
    return cards
