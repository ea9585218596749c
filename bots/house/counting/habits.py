"""The habits of all players in a playout: simple rules that look at one hand, at the trick and at the cards still out.

Like `playout`, this is written for speed: plain ints, no copies. Cards and hands are those of `deals`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from following import (
    ANY,
    CODE,
    FOLLOW,
    FREE,
    HIGHER_OR_ALL,
    HIGHER_OR_ANY,
    NO_LOAD,
    TRUMP_FOLLOW,
    demands,
    duty_of,
    lightest,
    winners,
)
from tute_bot import View

NO_TRUMP = 4
SUIT = 0xFFFF
SUITS = (SUIT, SUIT << 16, SUIT << 32, SUIT << 48, 0)  # a mask of the cards of each suit; 0 for NO_TRUMP
# BEATING[led * 5 + trump][best]: the cards that beat the winning card, a bit each.
BEATING = [[winners(sum(SUITS), 1 << best, led, trump) for best in range(64)] for led in SUITS[:4] for trump in SUITS]
# value of holding a card instead of a useless one, in points, strongest rank first; fitted to deals of `greedy` against itself
KEEP_TRUMP = (13.0, 13.0, 11.5, 11.0, 7.5, 6.5, 5.0, 5.0, 4.5, 4.5)
KEEP_PLAIN = (8.5, 7.0, 3.5, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
KEEP_TRUMP_SONGLESS = (12.5, 8.5, 5.5, 5.0, 3.5, 3.0, 2.0, 2.0, 2.0, 2.0)
KEEP_PLAIN_SONGLESS = (2.5, 2.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
KEEP_PAIR = 0.5  # additional value of a pair that can still be sung, as a share of the points of the song
OVERTAKEN = 0.5  # share of a trick that counts as won while others still play to it


class Rule(NamedTuple):
    """An obligation, in the form that playouts need."""

    freely: bool  # True if a hand void in the suit led may play any card
    may_ruff: bool  # True if such a hand need not ruff, although by habit it will
    load: bool  # True if cards worth points may be thrown into a lost trick
    demands: list[tuple[int, int]]  # `following.demands`


class Habits:
    """The rules of play at one decision, and the habits under them."""

    def __init__(self, view: View, suits: dict[str, int], aims: list[int]) -> None:
        """`aims`: for each seat, 1 to take points, -1 to avoid them."""
        order: str = view.rules["rank_order"][::-1]
        values = view.rules["rank_points"]
        self.aims = aims
        self.values = [values.get(rank, 0) for rank in order] + [0] * 16
        self.trump = suits[view.trump] if view.trump else NO_TRUMP
        camps = view.camps()
        self.side = [next((n for n, camp in enumerate(camps) if seat in camp), -1) for seat in range(view.seats)]
        self.size = view.seats - len(view.out)
        # masks of the cards of each point value in all suits, the least first
        self.by_worth = [
            sum(1 << place for place, worth in enumerate(self.values[:16]) if worth == value) * 0x0001000100010001
            for value in sorted(set(self.values))
        ]
        self.open_rule = _rule(view, "obligation_stock_open")
        self.empty_rule = _rule(view, "obligation_stock_empty")
        sings = view.rule("hand_songs") != "none"
        trump = KEEP_TRUMP if sings else KEEP_TRUMP_SONGLESS
        plain = KEEP_PLAIN if sings else KEEP_PLAIN_SONGLESS
        pad = [0.0] * 3
        self.keep = [[*reversed(trump), *pad] if suit == self.trump else [*reversed(plain), *pad] for suit in range(4)]
        pair = view.rule("pair_ranks") if sings else ""
        self.pair = sum(1 << order.index(rank) for rank in view.rule("pair_ranks") if rank in order)
        self.whole = sum(1 << order.index(rank) for rank in pair if rank in order) or -1

    # -- leading ------------------------------------------------------------------------------------------------------

    def lead(self, seat: int, hand: list[int], live: list[int], trump: int, rule: Rule) -> int:
        """Return a lead: a master worth points while the others still have its suit, or a trump from a long holding; otherwise a low card."""
        if rule.freely:
            return self.lead_freely(hand)
        if self.aims[seat] > 0:
            out = live[trump] & ~hand[trump] if trump < 4 else 0
            few = 2 * (self.size - 1)  # if the others hold more cards of a suit than this, a ruff is unlikely
            for suit in (0, 1, 2, 3):
                mask = hand[suit]
                if not mask:
                    continue
                top = mask.bit_length() - 1
                if suit == trump and out and mask.bit_count() >= 3 and mask > out:
                    return suit * 16 + top
                others = live[suit] & ~mask
                if suit != trump and mask > others and self.values[top] and (not out or others.bit_count() >= few):
                    return suit * 16 + top
        low = low_card = 99
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            if mask:
                strength = (mask & -mask).bit_length() - 1
                rank = strength + 20 if suit == trump else strength
                if rank < low:
                    low, low_card = rank, suit * 16 + strength
        return low_card

    def lead_freely(self, hand: list[int]) -> int:
        """Return, where nobody need follow suit, the lead that costs least and keeps pairs together."""
        best, best_card = 99.0, -1
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            if not mask:
                continue
            keep = self.keep[suit]
            if mask & self.whole == self.whole and mask != self.whole:
                mask &= ~self.whole
            strength = (mask & -mask).bit_length() - 1
            cost = keep[strength] + self.values[strength]
            if cost < best:
                best, best_card = cost, suit * 16 + strength
        return best_card

    # -- following ----------------------------------------------------------------------------------------------------

    def follow(  # noqa: C901 - runs for every card of a playout: calls would cost more than the branches
        self,
        seat: int,
        hand: list[int],
        live: list[int],
        trump: int,
        led: int,
        best: int,
        best_seat: int,
        worth: int,
        last: bool,
        rule: Rule,
        laid: list[tuple[int, int]],
    ) -> int:
        """Return a legal card for the trick. `laid` holds (seat, card) of the trick so far."""
        best_suit = best >> 4
        friend = self.side[best_seat] == self.side[seat]
        freely, may_ruff, load, demanded = rule
        situation = 1 if friend else 0
        if best_suit != led:
            situation += 2
        elif led == trump:
            situation += 4
        of_led, of_trumps = demanded[situation]
        follow = hand[led]
        if freely:
            if follow and of_led != ANY:
                hand = [0, 0, 0, 0]
                hand[led] = follow
            return self.answer_freely(hand, trump, best, worth, last, friend)
        aim = self.aims[seat]
        above = -2 << (best & 15)
        if follow:
            higher = follow & above if best_suit == led else 0
            if of_led == HIGHER_OR_ALL:
                if best_suit != led:
                    above = -2 << max([card & 15 for _, card in laid if card >> 4 == led])
                follow = follow & above or follow
            if higher:
                if aim < 0:
                    losing = follow & ~higher
                    if losing:
                        return led * 16 + losing.bit_length() - 1
                    return led * 16 + (follow.bit_length() if last else (follow & -follow).bit_length()) - 1
                top = higher.bit_length() - 1
                if not friend and led != trump and (last or higher >= live[led] & ~hand[led]):
                    return led * 16 + (top if self.values[top] or not last else (higher & -higher).bit_length() - 1)
                if follow == higher:
                    return led * 16 + (higher & -higher).bit_length() - 1
            if load and (aim < 0 or (friend and (last or best_suit == trump))):
                return led * 16 + follow.bit_length() - 1
            return led * 16 + (follow & -follow).bit_length() - 1
        ruffs = hand[trump] if trump < 4 else 0
        if ruffs:
            over = ruffs & above if best_suit == trump else ruffs
            if of_trumps == HIGHER_OR_ALL:
                ruffs = over or ruffs
            elif of_trumps == HIGHER_OR_ANY or (may_ruff and aim > 0 and not friend):
                ruffs = over
            elif of_trumps == ANY:
                ruffs = 0
            if ruffs:
                return trump * 16 + (ruffs & -ruffs).bit_length() - 1
        if load:
            return self.discard(hand, trump, aim < 0 or friend)
        return self.discard(self.lightest(hand), trump, False)

    def lightest(self, hand: list[int]) -> list[int]:
        """Return the cards of a hand that are worth least."""
        word = hand[0] | hand[1] << 16 | hand[2] << 32 | hand[3] << 48
        word = lightest(word, self.by_worth)
        return [word >> 16 * suit & SUIT for suit in (0, 1, 2, 3)]

    def discard(self, hand: list[int], trump: int, load: bool) -> int:
        """Return a card that cannot win: the highest plain card, to load the trick or to get rid of it, else the lowest."""
        chosen = -1
        chosen_strength = -1 if load else 99
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            if mask and suit != trump:
                if load:
                    strength = mask.bit_length() - 1
                    if strength > chosen_strength:
                        chosen, chosen_strength = suit * 16 + strength, strength
                else:
                    strength = (mask & -mask).bit_length() - 1
                    if strength < chosen_strength:
                        chosen, chosen_strength = suit * 16 + strength, strength
        if chosen >= 0:
            return chosen
        mask = hand[trump]
        return trump * 16 + (mask & -mask).bit_length() - 1

    def answer_freely(self, hand: list[int], trump: int, best: int, worth: int, last: bool, friend: bool) -> int:
        """Return the card that gains most, where nobody need follow suit: the trick's points less the value of keeping the card."""
        best_suit = best >> 4
        strongest = best & 15
        values = self.values
        chosen, chosen_gain = -1, -999.0
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            if not mask:
                continue
            keep = self.keep[suit]
            ruffs = suit == trump and best_suit != trump
            whole = self.whole if mask & self.whole == self.whole else 0
            while mask:
                strength = mask.bit_length() - 1
                bit = 1 << strength
                mask ^= bit
                gain = float(worth + values[strength])
                if ruffs or (suit == best_suit and strength > strongest):
                    if not last and suit != trump:
                        gain *= OVERTAKEN
                elif not friend:
                    gain = -gain
                elif not last:
                    gain *= OVERTAKEN
                gain -= keep[strength]
                if whole & bit:
                    gain -= 10
                if gain > chosen_gain:
                    chosen, chosen_gain = suit * 16 + strength, gain
        return chosen


def _rule(view: View, name: str) -> Rule:
    """Return an obligation of the table as a `Rule`."""
    modifiers = ("undertrump", "beat_after_trumped", "partner_exempt", "no_load")
    return _rule_of(duty_of(view.rule(name), *map(view.rule, modifiers)))


@cache
def _rule_of(duty: int) -> Rule:
    code = duty & CODE
    return Rule(code in (FREE, TRUMP_FOLLOW), code == FOLLOW, not duty & NO_LOAD, demands(duty))
