"""Plays a full distribution out to the end of the deal, by a simple policy that looks at its own hand and at what is still out.

Written for speed: about two microseconds a card. Cards and hands are those of `deals`. Longer functions than elsewhere in the
project, because a call costs more than what it would tidy up.
"""

from __future__ import annotations

from tute_bot import View

NO_TRUMP = 4
CYCLE = {"o": "c", "c": "b", "b": "e", "e": "o"}  # the next trump of Variable Trump Tute


class Outcome:
    """What a deal came to, per seat: card points with songs and bonus, tricks, and who said tute or first had the target."""

    __slots__ = ("decided", "points", "sang", "tricks", "tute")

    def __init__(self, points: list[int], tricks: list[int], sang: list[bool]) -> None:
        self.points = points
        self.tricks = tricks
        self.sang = sang
        self.tute = -1  # seat that declared a tute
        self.decided = -1  # side that reached the target and said so


class Table:
    """The rules of the table at one decision, shared by all its playouts."""

    def __init__(self, view: View, suits: dict[str, int], aims: list[int]) -> None:
        """`aims`: per seat 1 to take points, -1 to stay away from them."""
        order: str = view.rules["rank_order"][::-1]
        values = view.rules["rank_points"]
        self.values = [values.get(rank, 0) for rank in order] + [0] * 16
        self.trump = suits[view.trump] if view.trump else NO_TRUMP
        camps = view.camps()
        self.side = [next((n for n, camp in enumerate(camps) if seat in camp), -1) for seat in range(view.seats)]
        self.aims = aims
        active = [seat for seat in range(view.seats) if seat not in view.out]
        self.size = len(active)
        self.next = list(range(view.seats))
        for place, seat in enumerate(active):
            self.next[seat] = active[(place + 1) % len(active)]
        self.strict_open = view.rule("obligation_stock_open") == "strict"
        self.trump_open = view.rule("obligation_stock_open") == "trump_follow"
        self.empty = view.rule("obligation_stock_empty")
        self.partner_exempt = view.rule("partner_exempt") != "none"
        self.bonus = view.rule("last_trick_bonus")
        pair = view.rule("pair_ranks")
        self.pair = sum(1 << order.index(rank) for rank in pair if rank in order)
        song = view.rule("song_values")
        self.song = [song["trump" if suit == self.trump else "other"] for suit in range(4)]
        who = view.rule("hand_songs")
        self.singers = [
            who != "none" and (who not in ("soloist", "soloist_side") or seat == view.soloist)
            for seat in range(view.seats)
        ]
        self.table_songs = view.rule("table_songs") != "none"
        self.fours = [1 << order.index(rank) for rank in view.rule("tute_ranks") if rank in order]
        if view.rule("tute") == "none":
            self.fours = []
        self.unsung = 15
        for _, letter, _ in view.songs:
            self.unsung &= ~(1 << suits.get(letter, NO_TRUMP))
        self.points = [view.points(seat) for seat in range(view.seats)]
        self.tricks = list(view.tricks)
        self.sang = [view.sung[seat] > 0 for seat in range(view.seats)]
        self.target = view.rule("target") if view.rule("result") == "to_target" else None
        self.totals = list(view.totals)
        self.sides = len(view.sides)

    def play(self, hands: list[list[int]], stock: list[int], seat: int, trick: list[tuple[int, int]]) -> Outcome:
        """Plays on from a position. `hands` and `stock` are used up. `trick` holds (seat, card) in order; `seat` is to play."""
        points = self.points[:]
        tricks = self.tricks[:]
        outcome = Outcome(points, tricks, self.sang[:])
        unsung = self.unsung
        values, next_seat, trump, size = self.values, self.next, self.trump, self.size
        pair = self.pair
        target = self.target
        live = [0, 0, 0, 0]  # cards in hands and stock; those drawn stay in it
        for hand in hands:
            for suit in (0, 1, 2, 3):
                live[suit] |= hand[suit]
        for card in stock:
            live[card >> 4] |= 1 << (card & 15)
        while True:
            if trick:
                led = trick[0][1] >> 4
                best_seat, best = trick[0]
                worth = 0
                for who, card in trick:
                    worth += values[card & 15]
                    if card >> 4 == best >> 4:
                        if card > best:
                            best_seat, best = who, card
                    elif card >> 4 == trump:
                        best_seat, best = who, card
                count = len(trick)
            else:
                card = self._lead(seat, hands[seat], live)
                led = card >> 4
                hands[seat][led] ^= 1 << (card & 15)
                live[led] ^= 1 << (card & 15)
                best_seat, best = seat, card
                worth = values[card & 15]
                count = 1
                seat = next_seat[seat]
            rule = self.empty
            if stock:
                rule = "strict" if self.strict_open else "trump_follow" if self.trump_open else "free"
            while count < size:
                hand = hands[seat]
                card = self._follow(seat, hand, live, led, best, best_seat, worth, size - count == 1, rule)
                suit = card >> 4
                hand[suit] ^= 1 << (card & 15)
                live[suit] ^= 1 << (card & 15)
                worth += values[card & 15]
                if suit == best >> 4:
                    if card > best:
                        best_seat, best = seat, card
                elif suit == trump:
                    best_seat, best = seat, card
                count += 1
                seat = next_seat[seat]
            trick = []
            seat = best_seat
            points[seat] += worth
            tricks[seat] += 1
            hand = hands[seat]
            if not (hand[0] or hand[1] or hand[2] or hand[3]) and not stock:
                points[seat] += self.bonus
                return outcome
            if stock:
                drawer = seat
                for _ in range(size):
                    card = stock.pop()
                    hands[drawer][card >> 4] |= 1 << (card & 15)
                    drawer = next_seat[drawer]
                    if not stock:
                        break
            if unsung and self.singers[seat]:
                best_song = -1
                for suit in (0, 1, 2, 3):
                    if hand[suit] & pair == pair and unsung >> suit & 1 and (best_song < 0 or suit == trump):
                        best_song = suit
                if best_song >= 0 and self.aims[seat] > 0:
                    points[seat] += self.song[best_song]
                    outcome.sang[seat] = True
                    unsung &= ~(1 << best_song)
                for four in self.fours:
                    if hand[0] & hand[1] & hand[2] & hand[3] & four:
                        outcome.tute = seat
                        return outcome
            if target is not None:
                side = self.side[seat]
                have = self.totals[side] + sum(p for s, p in enumerate(points) if self.side[s] == side)
                if have >= target:
                    outcome.decided = side
                    return outcome

    def _lead(self, seat: int, hand: list[int], live: list[int]) -> int:
        """A master worth points while the others still have its suit, or trumps from a long holding; otherwise low."""
        trump = self.trump
        low = low_card = 99
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
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            if mask:
                strength = (mask & -mask).bit_length() - 1 + (20 if suit == trump else 0)
                if strength < low:
                    low, low_card = strength, suit * 16 + strength
        return low_card if low < 20 else low_card - 20

    def _follow(
        self,
        seat: int,
        hand: list[int],
        live: list[int],
        led: int,
        best: int,
        best_seat: int,
        worth: int,
        last: bool,
        rule: str,
    ) -> int:
        trump = self.trump
        best_suit = best >> 4
        above = -2 << (best & 15)
        friend = self.side[best_seat] == self.side[seat]
        aim = self.aims[seat]
        if rule == "free":
            return self._free(hand, led, best, worth, last, friend, aim)
        follow = hand[led]
        if rule == "trump_follow" and not (led == trump and follow):
            return self._free(hand, led, best, worth, last, friend, aim)
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
                    return led * 16 + top
                if follow is higher or follow == higher:
                    return led * 16 + (higher & -higher).bit_length() - 1
            if (friend or aim < 0) and (last or aim < 0 or best_suit == trump):
                return led * 16 + follow.bit_length() - 1
            return led * 16 + (follow & -follow).bit_length() - 1
        ruffs = (
            hand[trump] if trump < 4 and led != trump and rule in ("strict", "follow_or_trump") and not exempt else 0
        )
        if ruffs and best_suit == trump and rule == "strict":
            ruffs &= above
        if ruffs:
            return trump * 16 + (ruffs & -ruffs).bit_length() - 1
        return self._discard(hand, (friend and aim > 0) or aim < 0)

    def _discard(self, hand: list[int], load: bool) -> int:
        """A card that cannot win: the highest plain one to load or to be rid of it, else the lowest."""
        chosen = -1
        chosen_strength = -1 if load else 99
        for suit in (0, 1, 2, 3):
            mask = hand[suit]
            if mask and suit != self.trump:
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
        mask = hand[self.trump]
        return self.trump * 16 + (mask & -mask).bit_length() - 1

    def _free(self, hand: list[int], led: int, best: int, worth: int, last: bool, friend: bool, aim: int) -> int:
        """No duty to follow: take what is worth it as cheaply as possible, ruff what is dear, else throw low."""
        trump = self.trump
        if friend and last:
            return self._discard(hand, True)
        if not friend:
            suit = best >> 4
            higher = hand[suit] & (-2 << (best & 15))
            if higher and suit != trump:
                top = higher.bit_length() - 1
                if worth or self.values[top]:
                    return suit * 16 + top
            if trump < 4 and worth >= 10:
                ruffs = hand[trump] if suit != trump else higher
                if ruffs:
                    return trump * 16 + (ruffs & -ruffs).bit_length() - 1
        return self._discard(hand, False)
