"""Playouts of a distribution of the cards by `habits`: to the end of the deal or, with a stock, for a few tricks.

It is written for speed: about two microseconds a card. Functions are longer here than elsewhere, because calls are slow.
Cards and hands are those of `deals`.

It does not use the engine, although `view.to_state` would provide a state. The engine's playouts are random, or follow a policy by `State.apply`,
and a card would cost about twice as much (1.1 microseconds here, 0.9 more for `State.apply`). The results would differ, too, because this model is
simpler than the rules on purpose: every song is sung at once, every target claimed at once, the rest of a long stock estimated. The numbers of the
rules (points, songs, moves of trumps) come from the engine's declarations through the tables of the SDK, the rule of a trick from `following`, and
`tests/bots/test_model.py` compares the cards that the habits choose with those that the engine allows.
"""

from __future__ import annotations

from habits import BEATING, KEEP_PAIR, NO_TRUMP, Habits
from tute_bot import View

END = 99  # number of tricks that means: to the end of the deal
BITS = 1 << 10  # number of masks of one suit in a pack of Tute


class Outcome:
    """The outcome of a deal, by seat: card points with songs and bonus, tricks, and who declared a tute or first reached the target."""

    __slots__ = ("decided", "estimated", "points", "sang", "side", "tricks", "tute")

    def __init__(self, points: list[float], tricks: list[int], sang: list[bool], side: list[int]) -> None:
        self.points = points
        self.tricks = tricks
        self.sang = sang
        self.side = side
        self.tute = -1  # seat that declared a tute
        self.decided = -1  # side that reached the target and claimed it
        self.estimated = False  # True if the points of the remaining tricks are an estimate


class Model(Habits):
    """The bot's model of the play at one decision, shared by all playouts of that decision."""

    def __init__(self, view: View, suits: dict[str, int], aims: list[int]) -> None:
        """`aims`: for each seat, 1 to take points, -1 to avoid them."""
        super().__init__(view, suits, aims)
        active = [seat for seat in range(view.seats) if seat not in view.out]
        self.active = active
        self.next = list(range(view.seats))
        for place, seat in enumerate(active):
            self.next[seat] = active[(place + 1) % len(active)]
        self.stock = view.stock
        self.bonus = view.rule("last_trick_bonus")
        self.predicted = view.predictions if view.rule("result") == "exact_prediction" else {}
        # a soloist whose partner is unknown, else None
        self.soloist = view.soloist if view.called and view.partner is None else None
        self.led = suits[view.led] if view.led else NO_TRUMP
        # the next trump after each suit; empty if trumps do not move
        moves = view.rule("trump_dynamics") == "vtt_cycle"
        self.cycle = [suits[view.rule("trump_cycle")[letter]] for letter in suits] if moves else []
        self._songs(view, suits)
        self.points: list[float] = [float(view.points(seat)) for seat in range(view.seats)]
        self.tricks = list(view.tricks)
        self.sang = [view.sung[seat] > 0 for seat in range(view.seats)]
        self.target = view.rule("target") if view.rule("result") == "to_target" else None
        self.totals = list(view.totals)
        self._sums: list[list[float]] = []

    def _songs(self, view: View, suits: dict[str, int]) -> None:
        song = view.rule("song_values")
        self.song = [song["trump" if suit == self.trump else "other"] for suit in range(4)]
        self.chorus = [self._chorus(view, seat) for seat in range(view.seats)]
        self.least_stock = view.rule("song_min_stock")
        self.table_songs = view.rule("table_songs") != "none"
        self.first_forty = view.rule("table_songs") == "forced_first_40"
        order: str = view.rules["rank_order"][::-1]
        self.fours = [1 << order.index(rank) for rank in view.rule("tute_ranks") if rank in order]
        if view.rule("tute") == "none":
            self.fours = []
        self.early_tute = bool(view.rule("tute_first_trick_only"))
        self.unsung = 15
        for _, letter, _ in view.songs:
            self.unsung &= ~(1 << suits.get(letter, NO_TRUMP))

    def _chorus(self, view: View, seat: int) -> list[int]:
        """Return the seats that may sing after a seat has won a trick."""
        who = view.rule("hand_songs")
        if who == "none" or (who in ("soloist", "soloist_side") and seat != view.soloist):
            return []
        if who == "winning_side":
            return [other for other in self.active if self.side[other] == self.side[seat]]
        return [seat]

    def play(  # noqa: C901 - the loop in which all playouts run: a call costs more than what it would tidy up
        self, hands: list[list[int]], stock: list[int], seat: int, trick: list[tuple[int, int]], horizon: int = END
    ) -> Outcome:
        """Play on from a position. `hands` and `stock` are modified. `trick` holds (seat, card) in order; `seat` is to play.

        `horizon`: number of tricks after which the rest is estimated if the stock still has cards; `stock` need not hold more cards than are drawn
        until then.
        """
        points = self.points[:]
        tricks = self.tricks[:]
        outcome = Outcome(points, tricks, self.sang[:], self.side)
        unsung = self.unsung
        values, next_seat, trump, size = self.values, self.next, self.trump, self.size
        pair, cycle = self.pair, self.cycle
        if self.predicted:
            self.aims = [1 if tricks[s] < self.predicted.get(s, 0) else -1 for s in range(len(tricks))]
        stock_left = self.stock
        live = [0, 0, 0, 0]  # cards in hands and stock
        for hand in hands:
            for suit in (0, 1, 2, 3):
                live[suit] |= hand[suit]
        for card in stock:
            live[card >> 4] |= 1 << (card & 15)
        laid: list[tuple[int, int]] = []
        while True:
            rule = self.open_rule if stock_left else self.empty_rule
            if trick:
                led = trick[0][1] >> 4
                best_seat, best = trick[0]
                worth = 0
                for who, card in trick:
                    worth += values[card & 15]
                    laid.append((who, card))
                if cycle:
                    led, trump, best_seat, best = self.replay(trick)
                else:
                    best_seat, best = _winner(trick, led, trump)
            else:
                card = self.lead(seat, hands[seat], live, trump, rule)
                led = card >> 4
                hands[seat][led] ^= 1 << (card & 15)
                live[led] ^= 1 << (card & 15)
                best_seat, best = seat, card
                worth = values[card & 15]
                laid.append((seat, card))
                if cycle and led == trump:
                    trump = cycle[trump]
                seat = next_seat[seat]
            beating = BEATING[led * 5 + trump]
            while len(laid) < size:
                hand = hands[seat]
                last = size - len(laid) == 1
                card = self.follow(seat, hand, live, trump, led, best, best_seat, worth, last, rule, laid)
                suit = card >> 4
                hand[suit] ^= 1 << (card & 15)
                live[suit] ^= 1 << (card & 15)
                worth += values[card & 15]
                laid.append((seat, card))
                # -1: this seat has no card left, because the model dealt it one too few at the end of a stock
                if card >= 0 and beating[best] >> card & 1:
                    best_seat, best = seat, card
                if cycle and suit == trump:
                    led, trump = suit, cycle[trump]
                    beating = BEATING[led * 5 + trump]
                    best_seat, best = _winner(laid, led, trump)
                seat = next_seat[seat]
            trick = []
            seat = best_seat
            points[seat] += worth
            tricks[seat] += 1
            if self.predicted and tricks[seat] >= self.predicted.get(seat, 0):
                self.aims[seat] = -1
            if self.table_songs:
                trump, unsung = self.sing_table(laid, seat, trump, unsung, outcome)
            laid = []
            horizon -= 1
            hand = hands[seat]
            if not stock_left and not (hand[0] or hand[1] or hand[2] or hand[3]):
                points[seat] += self.bonus
                return outcome
            if stock_left:
                if horizon <= 0:
                    self.estimate(outcome, hands, seat, unsung)
                    return outcome
                drawer = seat
                for _ in range(size):
                    card = stock.pop()
                    hands[drawer][card >> 4] |= 1 << (card & 15)
                    drawer = next_seat[drawer]
                    stock_left -= 1
                    if not stock_left:
                        break
            if stock_left >= self.least_stock:
                for singer in self.chorus[seat]:
                    hand = hands[singer]
                    if unsung and self.aims[singer] > 0:
                        best_song = -1
                        for suit in (0, 1, 2, 3):
                            if hand[suit] & pair == pair and unsung >> suit & 1 and (best_song < 0 or suit == trump):
                                best_song = suit
                        if best_song >= 0:
                            points[singer] += self.song[best_song]
                            outcome.sang[singer] = True
                            unsung &= ~(1 << best_song)
                    for four in self.fours:
                        if hand[0] & hand[1] & hand[2] & hand[3] & four and (
                            not self.early_tute or sum(tricks[s] for s in self.chorus[seat]) == 1
                        ):
                            outcome.tute = singer
                            return outcome
            if self.target is not None:
                side = self.side[seat]
                have = self.totals[side] + sum(p for s, p in enumerate(points) if self.side[s] == side)
                if have >= self.target:
                    outcome.decided = side
                    return outcome

    def replay(self, trick: list[tuple[int, int]]) -> tuple[int, int, int, int]:
        """Return suit led, trump, winning seat and card of a trick under a moving trump; its last card is the one being tried out."""
        suit = trick[-1][1] >> 4
        led, trump = suit if len(trick) == 1 else self.led, self.trump
        if suit == trump:
            led, trump = suit, self.cycle[trump]
        return led, trump, *_winner(trick, led, trump)

    def sing_table(
        self, laid: list[tuple[int, int]], seat: int, trump: int, unsung: int, outcome: Outcome
    ) -> tuple[int, int]:
        """Score the pairs that lie in a trick (songs on the table) for its winner. Return the new trump and the pairs still unsung."""
        pair = self.pair
        masks = [0, 0, 0, 0]
        for _, card in laid:
            masks[card >> 4] |= 1 << (card & 15)
        for suit in (0, 1, 2, 3):
            if masks[suit] & pair == pair:
                if self.first_forty:
                    outcome.points[seat] += 40 if trump == NO_TRUMP else 20
                    trump = suit if trump == NO_TRUMP else trump
                else:
                    outcome.points[seat] += self.song[suit]
                outcome.sang[seat] = True
                unsung &= ~(1 << suit)
        return trump, unsung

    def pair_up(self, hands: list[list[int]], called: int) -> None:
        """Make the holder of the called card the soloist's partner in this deal (codillo)."""
        bit = 1 << (called & 15)
        self.side = [1] * len(hands)
        for seat, hand in enumerate(hands):
            if seat == self.soloist or hand[called >> 4] & bit:
                self.side[seat] = 0

    # -- what is not played out -----------------------------------------------------------------------------------------

    def estimate(self, outcome: Outcome, hands: list[list[int]], winner: int, unsung: int) -> None:
        """Add to the points of each seat the points that a hand better than the others' may bring; what remains is as good for all."""
        sums = self._sums or self._tables()
        outcome.estimated = True
        worths = []
        for seat in self.active:
            hand = hands[seat]
            worth = sums[0][hand[0]] + sums[1][hand[1]] + sums[2][hand[2]] + sums[3][hand[3]]
            if unsung and self.chorus[seat]:
                for suit in (0, 1, 2, 3):
                    if hand[suit] & self.pair == self.pair and unsung >> suit & 1:
                        worth += self.song[suit] * (1.0 if seat == winner else KEEP_PAIR)
            worths.append(worth)
        mean = sum(worths) / len(worths)
        for seat, worth in zip(self.active, worths, strict=True):
            outcome.points[seat] += worth - mean

    def _tables(self) -> list[list[float]]:
        """Return, by suit, the value of every mask of cards."""
        for weights in self.keep:
            table = [0.0] * BITS
            for mask in range(1, BITS):
                low = mask & -mask
                table[mask] = table[mask ^ low] + weights[low.bit_length() - 1]
            self._sums.append(table)
        return self._sums


def _winner(laid: list[tuple[int, int]], led: int, trump: int) -> tuple[int, int]:
    """Return the seat and card that win the trick with this suit led and this trump, which may have changed during the trick."""
    beating = BEATING[led * 5 + trump]
    best_seat, best = -1, -1
    for seat, card in laid:
        if beating[best] >> card & 1 if best >= 0 else card >> 4 in (led, trump):
            best_seat, best = seat, card
    return best_seat, best
