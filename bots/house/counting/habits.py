"""How everybody plays in a playout: simple habits that look at one hand, at the trick and at what is still out.

Written for speed, as `playout` is: plain ints, no copies. Cards and hands are those of `deals`.
"""

from __future__ import annotations

from tute_bot import View

NO_TRUMP = 4
# points that holding a card is worth beside a card of no use, strongest rank first: fitted to games of `greedy` against itself
KEEP_TRUMP = (13.0, 13.0, 11.5, 11.0, 7.5, 6.5, 5.0, 5.0, 4.5, 4.5)
KEEP_PLAIN = (8.5, 7.0, 3.5, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
KEEP_TRUMP_SONGLESS = (12.5, 8.5, 5.5, 5.0, 3.5, 3.0, 2.0, 2.0, 2.0, 2.0)
KEEP_PLAIN_SONGLESS = (2.5, 2.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
KEEP_PAIR = 0.5  # of the points of a pair that can still be sung, beyond what its cards are worth
OVERTAKEN = 0.5  # how much of a trick counts as won while others still play to it


class Habits:
    """The rules of play at one decision, and the habits under them."""

    def __init__(self, view: View, suits: dict[str, int], aims: list[int]) -> None:
        """`aims`: per seat 1 to take points, -1 to stay away from them."""
        order: str = view.rules["rank_order"][::-1]
        values = view.rules["rank_points"]
        self.aims = aims
        self.values = [values.get(rank, 0) for rank in order] + [0] * 16
        self.trump = suits[view.trump] if view.trump else NO_TRUMP
        camps = view.camps()
        self.side = [next((n for n, camp in enumerate(camps) if seat in camp), -1) for seat in range(view.seats)]
        self.size = view.seats - len(view.out)
        self.open_rule = view.rule("obligation_stock_open")
        self.empty_rule = view.rule("obligation_stock_empty")
        self.partner_exempt = view.rule("partner_exempt") != "none"
        self.no_load = bool(view.rule("no_load"))
        sings = view.rule("hand_songs") != "none"
        trump = KEEP_TRUMP if sings else KEEP_TRUMP_SONGLESS
        plain = KEEP_PLAIN if sings else KEEP_PLAIN_SONGLESS
        pad = [0.0] * 3
        self.keep = [[*reversed(trump), *pad] if suit == self.trump else [*reversed(plain), *pad] for suit in range(4)]
        pair = view.rule("pair_ranks") if sings else ""
        self.pair = sum(1 << order.index(rank) for rank in view.rule("pair_ranks") if rank in order)
        self.whole = sum(1 << order.index(rank) for rank in pair if rank in order) or -1

    # -- leading ------------------------------------------------------------------------------------------------------

    def lead(self, seat: int, hand: list[int], live: list[int], trump: int, rule: str) -> int:
        """A master worth points while the others still have its suit, or trumps from a long holding; otherwise low."""
        if rule == "free" or rule == "trump_follow":
            return self.lead_freely(hand)
        if self.aims[seat] > 0:
            out = live[trump] & ~hand[trump] if trump < 4 else 0
            few = 2 * (self.size - 1)  # cards of a suit with the others, above which a ruff is unlikely
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
        """Nobody need follow: the card that costs least, a pair kept together."""
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
        rule: str,
    ) -> int:
        """A card for the trick, within the obligation `rule` (rules book, README 4)."""
        best_suit = best >> 4
        friend = self.side[best_seat] == self.side[seat]
        follow = hand[led]
        if rule == "free":
            return self.answer_freely(hand, trump, best, worth, last, friend)
        if rule == "trump_follow":
            if led == trump and follow:
                only = [0, 0, 0, 0]
                only[led] = follow
                return self.answer_freely(only, trump, best, worth, last, friend)
            return self.answer_freely(hand, trump, best, worth, last, friend)
        aim = self.aims[seat]
        load = not self.no_load
        above = -2 << (best & 15)
        exempt = self.partner_exempt and friend and rule == "strict"
        if follow:
            higher = follow & above if best_suit == led else 0
            if higher and rule == "strict" and not exempt:
                follow = higher
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
        ruffs = (
            hand[trump] if trump < 4 and led != trump and rule in ("strict", "follow_or_trump") and not exempt else 0
        )
        if ruffs and best_suit == trump and rule == "strict":
            ruffs &= above
        if ruffs:
            return trump * 16 + (ruffs & -ruffs).bit_length() - 1
        if aim > 0 and rule == "follow" and trump < 4 and hand[trump] and not friend:
            ruffs = hand[trump] & above if best_suit == trump else hand[trump]
            if ruffs:
                return trump * 16 + (ruffs & -ruffs).bit_length() - 1
        return self.discard(hand, trump, load and (aim < 0 or friend))

    def discard(self, hand: list[int], trump: int, load: bool) -> int:
        """A card that cannot win: the highest plain one to load or to be rid of it, else the lowest."""
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
        """No duty to follow: the card whose trick brings most beyond what the card is worth in the hand."""
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
