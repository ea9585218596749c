"""Exact solving in machine words: two sides play out tricks for points, with open cards and a stock of known order.

A hand is one number, 16 bits a suit, and a card is the place of its bit. Hands are passed as arguments, the hand to move first, so there is no array
of hands. Seats are places in the ring of the seats that play. The value of a position is the number of points that the first camp will still gain on
the second.

The search is alpha-beta with null windows, which move in strides from a first guess. Its transposition table ranks cards among those that are left,
so positions that differ only in points bound each other (`_distance`). Of cards with the same effect one is tried. The highest trumps, and the cards
that a leader can go on leading, win their points for certain (`_sure`), and the last trick plays itself. Singing costs nothing, so every possible
song is sung, unless it excludes a dearer song, a tute or an exchange.

Compiled this searches 6 to 10 million cards a second; as Python source some 70 times fewer, to the same values. Bits come from a table: mypyc
2.4.1 shifts a literal wrongly from bit 31 on. Multipliers past 62 bits are attributes: as constants they would be Python objects.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from engine.rules.following import CODE, STRICT, duty_number, followers, winners
from engine.search.masks import INTERPRETED, words

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.match.state import State
    from engine.rules.parameters import Rules
    from engine.rules.terms import Terms

SUIT: Final = 1023  # all cards of a suit
LOW: Final = 31  # strengths without points
HIGH: Final = 992  # strengths with points
FAR: Final = 8000
STRIDE: Final = 16  # Step from one bound to the next in points, without a guess.
NEAR: Final = 2  # Step from one bound to the next in points, with a guess.
ANY, FIRST, IN_WINDOW = 0, 1, 2
BEFORE_DRAW, BEFORE_LEAD, BEFORE_CARD = 0, 1, 2  # moments of an exchange
ORDERS = {"any": ANY, "forty_first": FIRST, "forty_first_side": FIRST, "forty_first_in_window": IN_WINDOW}
TUTE: Final = 130  # equal to settlement.TUTE_SCORE
ROWS: Final = 14 if INTERPRETED else 20  # Rows of the table, as a power of two.


def knows(game: Terms) -> bool:
    """Return True if `Tricks` can solve the deals of a game played by two sides."""
    rules = game.rules
    return (
        game.score_unit == "points"
        and rules.settlement == "games"
        and rules.result.__name__ == "most_points_wins"
        and rules.tie in ("last_trick", "drawn", "last_trick_or_none")
        and game.pack.size == 10
        and _rises([rules.rank_points.get(rank, 0) for rank in game.pack.ranks])
        and rules.sides in ("single", "pairs")
        and rules.auction == "none"
        and rules.supply == "draw"
        and (rules.draw == "none" or bool(rules.shown_card_drawn))
        and rules.on_trump is None
        and rules.trump_source not in ("first_table_pair", "named")
        and rules.partner_exempt == "none"
        and not rules.no_load
        and not game.table_songs
        and game.target is None
        and not rules.last_trick_optional
        and rules.capote != "announced"
        and rules.illegal_move != "accuse"
        and _knows_talk(rules, game)
    )


def _rises(points: list[int]) -> bool:
    """Return True if the lower half of a suit is worth nothing and no card is worth less than one that it beats."""
    return points == sorted(points) and not any(points[:5])


def _knows_talk(rules: Rules, game: Terms) -> bool:
    if rules.hand_songs not in ("trick_winner", "none") or not game.merged:
        return False
    if rules.hand_songs != "none" and (
        rules.sing_first_trick_only or rules.tute_first_trick_only or rules.song_timing != "after_draw"
    ):
        return False
    return rules.exchange in ("none", "immediate", "before_first_lead")


class Tricks:
    """A solver of deals of one game. It keeps its table for all calls about the same deal (`begin`)."""

    def __init__(self, game: Terms) -> None:
        rules, pack = game.rules, game.pack
        self.nodes: i64 = 0
        self.limit: i64 = 0
        self.over = False  # True if the limit is reached
        self.m1: i64 = 0x7FB5D329728EA185
        self.m2: i64 = 0x81DADEF4BC2DD44D - (1 << 64)
        self.k0: i64 = 0x9E3779B97F4A7C15 - (1 << 64)
        self.k1: i64 = 0xD6E8FEB86659FD93 - (1 << 64)
        self.k2: i64 = 0x165667B19E3779F9
        self.salt: i64 = 0  # A number that is mixed into the keys of this deal.
        self.mask: i64 = 2**ROWS - 1
        self.table: vec[i64] = words([0] * 2 ** (ROWS + 1))
        # History heuristic: cut-offs by each card, by place in the trick and by seat.
        self.past: vec[i64] = words([0] * 1024)
        self.moves: vec[i64] = words([0] * 2048)
        self.bit: vec[i64] = words([2**place for place in range(62)])
        self.low: vec[i64] = words([max(0, (x & -x).bit_length() - 1) for x in range(1024)])
        self.high: vec[i64] = words([max(0, x.bit_length() - 1) for x in range(1024)])
        self.count: vec[i64] = words([x.bit_count() for x in range(1024)])
        self.rank: vec[i64] = words([_among(live, hand) for live in range(32) for hand in range(32)])
        points = [rules.rank_points.get(rank, 0) for rank in pack.ranks]
        self.worth: vec[i64] = words(points + [0] * 6)
        self.sums: vec[i64] = words([sum(p for place, p in enumerate(points) if x >> place & 1) for x in range(1024)])
        self.apart: vec[i64] = words([_points_apart(points[5:], x, y) for x in range(32) for y in range(32)])
        self.bonus: i64 = rules.last_trick_bonus
        self.suits: vec[i64] = words([SUIT * 2**shift if shift % 16 == 0 and shift < 64 else 0 for shift in range(65)])
        self.open_duty: i64 = duty_number(rules, rules.obligation_stock_open)
        self.empty_duty: i64 = duty_number(rules, rules.obligation_stock_empty)
        # announcements
        self.sings: bool = rules.hand_songs != "none"
        self.pair: i64 = game.pair
        self.song_trump: i64 = rules.song_values["trump"]
        self.song_other: i64 = rules.song_values["other"]
        order = ORDERS[rules.song_order]
        self.order: i64 = ANY if self.song_trump == self.song_other else order
        self.songs: i64 = 8 if rules.songs_per_trick == "many" else int(rules.songs_per_trick)
        self.song_stock: i64 = rules.song_min_stock
        tutes = [pack.mask(rank) for rank in rules.tute_ranks] if game.tute_mask else []
        self.tutes: vec[i64] = words([mask * 0x0001000100010001 for mask in tutes])
        self.n_tutes: i64 = len(tutes)
        moments = game.exchange_moments
        self.swap_turn: bool = "own_turn" in moments
        self.swap_after: bool = "after_draw" in moments
        self.swap_before: bool = "before_draw" in moments
        self.swap_stock: i64 = max(1, rules.exchange_min_stock)
        self.chain: bool = rules.exchange_chain
        ranks = pack.ranks
        self.seven: i64 = ranks.find("7")
        self.two: i64 = ranks.find("2")
        self.seven_for: i64 = pack.mask(rules.exchange_seven) if moments and rules.exchange_seven else 0
        self.two_for: i64 = pack.mask(rules.exchange_two) if moments and rules.exchange_two else 0
        # the deal
        self.ring: list[int] = []  # seats by place
        self.n: i64 = 0
        self.camps: i64 = 0
        self.alternate = False  # True if the seats of the two camps alternate
        self.trump: i64 = 0
        self.left: i64 = 0  # tricks not completed
        self.rest: i64 = 0  # card points in hands, on the table and in the stock
        self.stock: vec[i64] = words([0] * 64)
        self.drawn: i64 = 0
        self.end: i64 = 0
        self.to_sing: i64 = 0  # Suits whose pair somebody may sing now or later, including those already sung.
        self.four: i64 = 0  # number of tutes that somebody may declare now or later: none, or all
        self.sung: i64 = 0
        self.twenties: i64 = 0
        self.swapped = False

    def begin(self) -> None:
        """Start another deal: forget all results, so that it takes as many nodes as with a new solver."""
        # Ints of Python source do not wrap around.
        self.salt = (self.salt + self.k2) & 0x3FFFFFFFFFFFFFFF
        i: i64 = 0
        while i < 1024:
            self.past[i] = 0
            i += 1

    # ---- a question

    def solve(self, state: State, first: tuple[int, ...], nodes: int, guess: int | None = None) -> tuple[int, int]:
        """Return the least and the most that the first camp gains on the second in the whole deal, its present lead included.

        The state must ask for a card. A guess should be off by a few points at most.
        """
        self._load(state, first)
        at = self.ring.index(state.turn)
        hands = [_word(state, seat) for seat in self.ring[at:] + self.ring[:at]] + [0, 0]
        ahead: i64 = 0
        by_seat = state.seat_points()
        for seat in state.active:
            # Either partner's points are those of the side, since partners score together.
            ahead += by_seat[seat] if seat in first else -by_seat[seat]
        self.nodes = 0
        self.limit = nodes
        self.over = False
        low: i64 = -FAR
        high: i64 = FAR
        beta: i64 = max(-400, min(400, (guess or 0) - ahead))
        stride: i64 = STRIDE if guess is None else NEAR
        while low < high:
            value: i64 = self._root(state, hands, beta - 1, beta, ahead)
            if self.over:
                break
            if value < beta:
                high = value
            else:
                low = value
            if low == -FAR:
                beta = high - stride
                stride += stride >> 1
            elif high == FAR:
                beta = low + stride
                stride += stride >> 1
            else:
                beta = (low + high + 1) >> 1
        return low + ahead if low > -FAR else -FAR, high + ahead if high < FAR else FAR

    def _load(self, state: State, first: tuple[int, ...]) -> None:
        self.ring = ring = [min(state.active)]
        while len(ring) < state.size:
            ring.append(state.next[ring[-1]])
        self.n = len(ring)
        self.camps = sum(1 << place for place, seat in enumerate(ring) if seat not in first)
        self.alternate = (self.n, self.camps) in ((4, 5), (4, 10), (2, 1), (2, 2))
        self.trump = state.trump * 16
        self.left = state.left // state.size
        draws = [] if state.n == 0 else state.stock[::-1][: state.n]
        if state.n and state.shown >= 0 and state.holder < 0 and len(draws) < state.n:
            draws = [*draws, state.shown]
        self.drawn = 0
        self.end = len(draws)
        rest: i64 = state.table_points if state.in_trick else 0
        for place, card in enumerate(draws):
            self.stock[place] = card // 10 * 16 + card % 10
            rest += self.worth[card % 10]
        for seat in ring:
            rest += sum([state.points_of[card] for card in state.hand_of(seat)])
        self.rest = rest
        self.to_sing = 15 if self.sings else 0
        self.four = self.n_tutes
        if not draws:  # Hands only shrink, so nobody will hold what nobody holds now.
            hands = [_word(state, seat) for seat in ring]
            if not any(hand & four == four for hand in hands for four in self.tutes):
                self.four = 0
            for suit in range(4):
                if not any((hand >> 16 * suit) & self.pair == self.pair for hand in hands):
                    self.to_sing &= ~(1 << suit)
        self.sung = state.sung
        self.twenties = sum(1 << place for place, seat in enumerate(ring) if state.twenties >> seat & 1)
        self.swapped = state.swapped

    def _root(self, state: State, hands: list[int], alpha: i64, beta: i64, ahead: i64) -> i64:
        h0: i64 = hands[0]
        h1: i64 = hands[1]
        h2: i64 = hands[2]
        h3: i64 = hands[3]
        p: i64 = self.ring.index(state.turn)
        if state.in_trick:
            laid: i64 = 0
            for card in state.table:
                laid |= self.bit[card // 10 * 16 + card % 10]
            winner: i64 = self.ring.index(state.winner)
            best: i64 = self.bit[state.best // 10 * 16 + state.best % 10]
            return self.follow(
                h0, h1, h2, h3, p, len(state.table), state.lead * 16, winner, best,
                state.table_points, laid, alpha, beta, ahead,
            )  # fmt: skip
        own_songs = [points for seat, points in state.window_songs if seat == state.turn]
        number: i64 = len(own_songs) if state.last_trick >= 0 else 9
        return self.speak(h0, h1, h2, h3, p, alpha, beta, ahead, number, self.song_other in own_songs)

    # ---- between two tricks

    def speak(  # noqa: C901 - the hot path: calls cost more than lines
        self,
        h0: i64,
        h1: i64,
        h2: i64,
        h3: i64,
        p: i64,
        alpha: i64,
        beta: i64,
        ahead: i64,
        songs_made: i64,
        other: bool,
    ) -> i64:
        """Let the winner of a trick announce and lead. songs_made: number of songs in this turn; 9: no trick has been won yet."""
        stock_left: i64 = self.end - self.drawn
        songs: i64 = 0
        tutes: i64 = 0
        if self.to_sing & ~self.sung and songs_made < self.songs and stock_left >= self.song_stock:
            songs = self._songs(h0, p, other)
        if self.four and songs_made < self.songs and stock_left >= self.song_stock:
            i: i64 = 0
            while i < self.four:
                if h0 & self.tutes[i] == self.tutes[i]:
                    tutes = 1
                i += 1
        swap: i64 = 0
        if stock_left and (self.swap_turn or (self.swap_after and songs_made < 9)):
            swap = self._swaps(h0, stock_left)
        if not songs and not tutes and not swap:
            return self.follow(h0, h1, h2, h3, p, 0, 0, 0, 0, 0, 0, alpha, beta, ahead)
        first: bool = not (self.camps >> p) & 1
        free = True  # True if announcing nothing may be best.
        if songs and not tutes and not swap:
            trump: i64 = self.bit[self.trump >> 4]
            free = not songs & trump and self.order == FIRST and not self.sung & trump
        best: i64 = -FAR if first else FAR
        a: i64 = alpha
        b: i64 = beta
        step: i64 = 0
        while step < 7 and a < b:
            v: i64 = 0
            if step == 6:
                if not free:
                    break
                v = self.follow(h0, h1, h2, h3, p, 0, 0, 0, 0, 0, 0, a, b, ahead)
            elif step < 4:
                suit: i64 = (step + (self.trump >> 4)) & 3  # trumps first
                if not songs & self.bit[suit]:
                    step += 1
                    continue
                v = self._sing(h0, h1, h2, h3, p, suit, a, b, ahead, songs_made, other)
            elif step == 4:
                if not tutes:
                    step += 1
                    continue
                v = (TUTE if first else -TUTE) - ahead
            else:
                if not swap:
                    step += 1
                    continue
                v = self._swap(h0, h1, h2, h3, p, 0, 0, 0, 0, 0, 0, a, b, ahead, swap, BEFORE_LEAD, songs_made, other)
            if self.over:
                return 0
            if first:
                best = max(best, v)
                a = max(a, best)
            else:
                best = min(best, v)
                b = min(b, best)
            step += 1
        return best

    def _songs(self, hand: i64, p: i64, other: bool) -> i64:
        """Return the suits whose pair the seat may sing now."""
        suits: i64 = 0
        suit: i64 = 0
        while suit < 4:
            if (hand >> (suit * 16)) & self.pair == self.pair and not self.sung & self.bit[suit]:
                shut: bool = suit * 16 == self.trump and (
                    (self.order == FIRST and self._has_sung_twenty(p)) or (self.order == IN_WINDOW and other)
                )
                if not shut:
                    suits |= self.bit[suit]
            suit += 1
        return suits

    def _has_sung_twenty(self, p: i64) -> bool:
        return self.twenties & self.bit[p] != 0

    def _sing(
        self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, suit: i64, alpha: i64, beta: i64, ahead: i64, songs_made: i64, other: bool
    ) -> i64:  # fmt: skip
        sung: i64 = self.sung
        twenties: i64 = self.twenties
        gain: i64 = self.song_other
        if suit * 16 == self.trump:
            gain = self.song_trump
        else:
            self.twenties = twenties | self.bit[p]
        if (self.camps >> p) & 1:
            gain = -gain
        self.sung = sung | self.bit[suit]
        v: i64 = gain + self.speak(
            h0, h1, h2, h3, p, alpha - gain, beta - gain, ahead + gain, songs_made + 1, other or suit * 16 != self.trump
        )
        self.sung = sung
        self.twenties = twenties
        return v

    def _swaps(self, hand: i64, stock_left: i64) -> i64:
        """Return the legal exchanges: 1 of the seven of trumps, 2 of the two, 3 of either."""
        if stock_left < self.swap_stock:
            return 0
        shown_card: i64 = self.bit[self.stock[self.end - 1] & 15]
        trumps: i64 = (hand >> self.trump) & SUIT
        legal: i64 = 0
        barred: i64 = self.bit[self.two] | (0 if self.chain else self.bit[self.seven])
        if self.swapped and shown_card & barred:
            return legal
        if trumps & self.bit[self.seven] and self.seven_for & shown_card:
            legal = 1
        if trumps & self.bit[self.two] and self.two_for & shown_card:
            legal |= 2
        return legal

    def _swap(
        self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, k: i64, led: i64, bp: i64, best: i64,
        tp: i64, laid: i64, alpha: i64, beta: i64, ahead: i64, swap: i64, moment: i64, songs_made: i64, other: bool,
    ) -> i64:  # fmt: skip
        """Return the best of the exchanges `swap`; after it the same seat is on turn again. The other arguments are those of `follow` and `speak`."""
        first: bool = not (self.camps >> p) & 1
        value: i64 = -FAR if first else FAR
        taken: i64 = self.stock[self.end - 1]
        swapped = self.swapped
        which: i64 = 1
        while which < 3:
            if swap & which:
                card: i64 = self.trump + (self.seven if which == 1 else self.two)
                hand: i64 = h0 ^ self.bit[card] ^ self.bit[taken]
                self.stock[self.end - 1] = card
                self.swapped = True
                v: i64 = 0
                if moment == BEFORE_DRAW:
                    v = self.after(hand, h1, h2, h3, p, alpha, beta, ahead)
                elif moment == BEFORE_LEAD:
                    v = self.speak(hand, h1, h2, h3, p, alpha, beta, ahead, songs_made, other)
                else:
                    v = self.follow(hand, h1, h2, h3, p, k, led, bp, best, tp, laid, alpha, beta, ahead)
                self.stock[self.end - 1] = taken
                self.swapped = swapped
                if self.over:
                    return 0
                value = max(value, v) if first else min(value, v)
            which += 1
        return value

    def after(self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, alpha: i64, beta: i64, ahead: i64) -> i64:
        """Go on after a trick, with its winner first: exchanges before the draw, the draw, the winner's turn."""
        stock_left: i64 = self.end - self.drawn
        if not stock_left:
            return self.speak(h0, h1, h2, h3, p, alpha, beta, ahead, 0, False)
        swap: i64 = self._swaps(h0, stock_left) if self.swap_before else 0
        best: i64 = 0
        if swap:
            best = self._swap(
                h0, h1, h2, h3, p, 0, 0, 0, 0, 0, 0, alpha, beta, ahead, swap, BEFORE_DRAW, 0, False
            )  # fmt: skip
            if self.over:
                return 0
        at: i64 = self.drawn
        bit = self.bit
        stock = self.stock
        h0 |= bit[stock[at]]
        h1 |= bit[stock[at + 1]]
        if self.n > 2:
            h2 |= bit[stock[at + 2]]
            if self.n > 3:
                h3 |= bit[stock[at + 3]]
        self.drawn = at + self.n
        value: i64 = self.speak(h0, h1, h2, h3, p, alpha, beta, ahead, 0, False)
        self.drawn = at
        if not swap:
            return value
        return min(best, value) if (self.camps >> p) & 1 else max(best, value)

    # ---- a trick

    def follow(  # noqa: C901 - the hot path: a call costs more than any line of it
        self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, k: i64, led: i64, bp: i64, best: i64,
        tp: i64, laid: i64, alpha: i64, beta: i64, ahead: i64,
    ) -> i64:  # fmt: skip
        """Let the seat at place p play the card number k of a trick.

        h0: its hand; h1, h2, h3: the hands of the next seats. led: suit led, as a shift (0 16 32 48); best, bp: the winning card and the place of its
        seat; tp: points on the table; laid: cards on the table.
        """
        self.nodes += 1
        if self.nodes > self.limit:
            self.over = True
            return 0
        wide_low: i64 = alpha
        wide_high: i64 = beta
        first: bool = not (self.camps >> p) & 1
        best_known: i64 = 255
        key: i64 = 0
        dear: i64 = 0
        row: i64 = -1
        e: i64 = 0
        trump: i64 = self.suits[self.trump]
        suit_led: i64 = self.suits[led]
        table = self.table
        n: i64 = self.n
        stock_left: i64 = self.end - self.drawn
        m: i64 = h0
        wins: i64 = -1  # The cards that would be winning the trick once played.
        value: i64 = -FAR if first else FAR
        if k == 0:
            tute: i64 = self._tute(h0, h1, h2, h3) if self.four else 0
            if not tute:
                up: i64 = self.rest + self.bonus
                down: i64 = up
                if self.to_sing & ~self.sung:
                    up += self._to_sing(h0, h1, h2, h3, p, 0)
                    down += self._to_sing(h0, h1, h2, h3, p, 1)
                if up <= alpha:
                    return up
                if -down >= beta:
                    return -down
                if not stock_left:
                    if self.left == 1:
                        return self._last(h0, h1, h2, h3, p)
                    sure: i64 = self._sure(h0, h1, h2, h3, p)
                    least: i64 = 2 * (sure >> 12 if first else sure & 4095) - down
                    if least >= beta:
                        return least
                    most: i64 = up - 2 * (sure & 4095 if first else sure >> 12)
                    if most <= alpha:
                        return most
            if self.left > 1:
                key = self._key(h0, h1, h2, h3, p, stock_left, ahead, tute)
                dear = _dear(h0 | h1 | h2 | h3)
                row = (key & self.mask) << 1
                key ^= self.salt
                e = table[row + 1]
                if e and table[row] == key:
                    lo: i64 = (e & 0xFFFF) - 16384
                    hi: i64 = ((e >> 16) & 0xFFFF) - 16384
                    if e >> 41 != dear:
                        d: i64 = self._distance(e >> 41, dear)
                        lo -= d
                        hi += d
                    if lo >= beta or lo == hi:
                        return lo
                    if hi <= alpha:
                        return hi
                    if lo > alpha:
                        alpha = lo
                    if hi < beta:
                        beta = hi
                    best_known = (e >> 32) & 255
                    if best_known != 255:
                        best_known = self._nth(h0 | h1 | h2 | h3, best_known)
        else:
            if self.swap_turn and stock_left:
                swap: i64 = self._swaps(h0, stock_left)
                if swap:
                    value = self._swap(
                        h0, h1, h2, h3, p, k, led, bp, best, tp, laid, alpha, beta, ahead, swap, BEFORE_CARD, 0, False
                    )
                    if self.over:
                        return 0
                    if first:
                        alpha = max(alpha, value)
                    else:
                        beta = min(beta, value)
                    if alpha >= beta:
                        return value
            m = followers(self.open_duty if stock_left else self.empty_duty, h0, suit_led, trump, best, laid, False)
            wins = winners(m, best, suit_led, trump)
        base: i64 = (self.left * 4 + k) * 16
        live: i64 = h0 | h1 | h2 | h3 | laid
        if stock_left:
            live = -1
        end: i64 = self._different(m, live, base)
        moves = self.moves
        past = self.past
        seat: i64 = k << 8 | p << 6
        i: i64 = base
        many: bool = end - base > 1
        if many:
            while i < end:
                card: i64 = moves[i]
                promise: i64 = 0x10000000000
                if card != best_known:
                    promise = self._promise(p, k, led, bp, best, tp, card, wins, h1, h2, h3)
                    promise = (promise * 16 + (past[seat + card] >> 8) + 0x1000000) << 8
                moves[i] = promise + card
                i += 1
        chosen: i64 = 255
        bit = self.bit
        worth = self.worth
        i = base
        while i < end:
            picked: i64 = moves[i]
            if many:
                j: i64 = i
                q: i64 = i + 1
                while q < end:
                    o: i64 = moves[q]
                    if o > picked:
                        picked = o
                        j = q
                    q += 1
                if j != i:
                    moves[j] = moves[i]
                    moves[i] = picked
            card = picked & 255
            s: i64 = card & 48
            c: i64 = card & 15
            card_bit: i64 = bit[card]
            np: i64 = bp
            nb: i64 = best
            if card_bit & wins:
                np = p
                nb = card_bit
            v: i64 = 0
            if k == n - 1:
                v = self._take(h0 ^ card_bit, h1, h2, h3, p, np, tp + worth[c], alpha, beta, ahead)
            else:
                after: i64 = p + 1
                if after == n:
                    after = 0
                own: i64 = h0 ^ card_bit
                lead: i64 = led if k else s
                on_table: i64 = tp + worth[c]
                cards: i64 = laid | card_bit
                turn: i64 = k + 1
                if n == 4:
                    v = self.follow(h1, h2, h3, own, after, turn, lead, np, nb, on_table, cards, alpha, beta, ahead)
                elif n == 3:
                    v = self.follow(h1, h2, own, 0, after, turn, lead, np, nb, on_table, cards, alpha, beta, ahead)
                else:
                    v = self.follow(h1, own, 0, 0, after, turn, lead, np, nb, on_table, cards, alpha, beta, ahead)
            if self.over:
                return 0
            if first:
                if v > value:
                    value = v
                    chosen = card
                    if v > alpha:
                        alpha = v
            elif v < value:
                value = v
                chosen = card
                if v < beta:
                    beta = v
            if alpha >= beta:
                if many:
                    past[seat + card] = past[seat + card] + self.left * self.left
                    if past[seat + card] > 262144:
                        self._forget()
                break
            i += 1
        if row >= 0:
            lo = -FAR
            hi = FAR
            e = table[row + 1]
            if e and table[row] == key and e >> 41 == dear:
                lo = (e & 0xFFFF) - 16384
                hi = ((e >> 16) & 0xFFFF) - 16384
            else:
                table[row] = key
            if chosen != 255:
                s = chosen & 48
                chosen = s | self.count[((h0 | h1 | h2 | h3) >> s) & ((1 << (chosen & 15)) - 1)]
            if value >= wide_high:
                lo = max(lo, value)
            elif value <= wide_low:
                hi = min(hi, value)
            else:
                lo = value
                hi = value
            table[row + 1] = (lo + 16384) | ((hi + 16384) << 16) | (chosen << 32) | (1 << 40) | (dear << 41)
        return value

    def _take(  # noqa: C901 - the hot path: calls cost more than lines
        self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, winner: i64, tp: i64, alpha: i64, beta: i64, ahead: i64
    ) -> i64:
        """Complete a trick with the last card of place p: the winner takes the points, and the search goes on."""
        gain: i64 = tp
        if self.left == 1:
            gain += self.bonus
        if (self.camps >> winner) & 1:
            gain = -gain
        if self.left == 1:
            return gain
        self.left -= 1
        self.rest -= tp
        n: i64 = self.n
        d: i64 = winner - p
        if d < 0:
            d += n
        v: i64 = 0
        if d == 0:
            v = self.after(h0, h1, h2, h3, winner, alpha - gain, beta - gain, ahead + gain)
        elif n == 4:
            if d == 1:
                v = self.after(h1, h2, h3, h0, winner, alpha - gain, beta - gain, ahead + gain)
            elif d == 2:
                v = self.after(h2, h3, h0, h1, winner, alpha - gain, beta - gain, ahead + gain)
            else:
                v = self.after(h3, h0, h1, h2, winner, alpha - gain, beta - gain, ahead + gain)
        elif n == 3:
            if d == 1:
                v = self.after(h1, h2, h0, 0, winner, alpha - gain, beta - gain, ahead + gain)
            else:
                v = self.after(h2, h0, h1, 0, winner, alpha - gain, beta - gain, ahead + gain)
        else:
            v = self.after(h1, h0, 0, 0, winner, alpha - gain, beta - gain, ahead + gain)
        self.left += 1
        self.rest += tp
        return gain + v

    def _different(self, m: i64, live: i64, base: i64) -> i64:
        """Write one card of each set with the same effect into `moves`, from `base` on; return the end.

        live: all cards in play, or -1 while there is a stock.
        """
        low = self.low
        out = self.moves
        n: i64 = base
        s: i64 = 0
        while m:
            x: i64 = m & SUIT
            if x:
                z: i64 = x & LOW
                if not z & (z - 1) or live == -1:
                    while x:
                        out[n] = s + low[x]
                        n += 1
                        x &= x - 1
                else:
                    others: i64 = (live >> s) & SUIT & ~x
                    last: i64 = 16
                    while x:
                        c: i64 = low[x]
                        x &= x - 1
                        if last < c and self.worth[c] == 0 and not others & ((1 << c) - (2 << last)):
                            last = c
                            continue
                        last = c
                        out[n] = s + c
                        n += 1
            m >>= 16
            s += 16
        return n

    def _promise(
        self, p: i64, k: i64, led: i64, bp: i64, best: i64, tp: i64, card: i64, wins: i64, h1: i64, h2: i64, h3: i64
    ) -> i64:
        """Return how good a card looks: the points of the trick, by who will take it if all beat what they can."""
        s: i64 = card & 48
        c: i64 = card & 15
        t: i64 = self.trump
        trump: i64 = self.suits[t]
        lead: i64 = led if k else s
        suit_led: i64 = self.suits[lead]
        wp: i64 = bp
        top: i64 = best
        if self.bit[card] & wins:
            wp = p
            top = self.bit[card]
        i: i64 = k
        q: i64 = p
        while i < self.n - 1:
            q += 1
            if q == self.n:
                q = 0
            x: i64 = h1 & suit_led
            shift: i64 = lead
            if not x:
                x = h1 & trump
                shift = t
            if x and winners(x, top, suit_led, trump):
                wp = q
                top = self.bit[shift + self.high[x >> shift]]
            h1 = h2
            h2 = h3
            i += 1
        value: i64 = tp + self.worth[c]
        keep: i64 = c
        if s == t:
            keep += 6
        if (self.camps >> wp) & 1 == (self.camps >> p) & 1:
            good: i64 = 1000 + 8 * value
            if wp == p:
                good -= keep
            return good
        return -8 * value - keep

    def _sure(  # noqa: C901 - the hot path: calls cost more than lines
        self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64
    ) -> i64:
        """Return the card points that each camp takes for certain: those of the leader's camp, shifted by 12 bits, and those of the other.

        A trump that beats every trump of the other camp wins its trick whenever it is played, unless a partner's trump does. Besides, the leader wins
        tricks with cards that nobody can beat, one after the other, in the better of two ways: while all who could ruff must follow, or after drawing
        all trumps. If it wins all remaining tricks in this way, it takes all points.
        """
        t: i64 = self.trump
        high = self.high
        sums = self.sums
        foes: i64 = h1 | h3
        mate: i64 = h2
        if not self.alternate:
            foes = 0
            mate = 0
            q: i64 = p
            i: i64 = 1
            while i < self.n:
                q += 1
                if q == self.n:
                    q = 0
                h: i64 = h1 if i == 1 else (h2 if i == 2 else h3)
                if (self.camps >> q) & 1 == (self.camps >> p) & 1:
                    mate |= h
                else:
                    foes |= h
                i += 1
        own: i64 = (h0 >> t) & SUIT
        a: i64 = own | ((mate >> t) & SUIT)
        b: i64 = (foes >> t) & SUIT
        if b > a:
            points: i64 = 0
            theirs: i64 = sums[b & (-2 << high[a])] if a else sums[b]
        else:
            points = sums[a & (-2 << high[b])] if b else sums[a]
            theirs = 0
        strict: bool = self.alternate and self.empty_duty & CODE == STRICT
        if not strict and (b or (mate >> t) & SUIT):
            return points << 12 | theirs
        # rounds: tricks, before trumps are drawn, in suits that nobody can ruff; long: tricks after trumps are drawn.
        worth = self.worth
        low = self.low
        t1: i64 = (h1 >> t) & SUIT
        t2: i64 = (h2 >> t) & SUIT
        t3: i64 = (h3 >> t) & SUIT
        rounds: i64 = 0
        drawn: i64 = 0  # Points in the rounds of drawing trumps.
        long: i64 = 0
        extra: i64 = 0
        # `draws`: everybody else runs out of trumps in as many rounds as the leader has certain winners in trumps.
        y: i64 = b | t2
        w: i64 = own & (-2 << high[y]) if y else own
        tops: i64 = 0
        while w:
            tops += 1
            w &= w - 1
        z1: i64 = t1
        z2: i64 = t2
        z3: i64 = t3
        draws: bool = True
        if y:
            i = 0
            while i < tops:
                z1 &= z1 - 1
                z2 &= z2 - 1
                z3 &= z3 - 1
                i += 1
            draws = not (z1 | z2 | z3)
        s: i64 = 0
        while s < 64:
            x: i64 = (h0 >> s) & SUIT
            if x and s != t:
                z1 = (h1 >> s) & SUIT
                z2 = (h2 >> s) & SUIT
                z3 = (h3 >> s) & SUIT
                y = z1 | z2 | z3
                w = x & (-2 << high[y]) if y else x
                if draws:
                    drawn += sums[w]
                going = True
                while w:
                    c: i64 = high[w]
                    w ^= 1 << c
                    long += 1
                    if not going:
                        continue
                    if (not z1 and t1) or (not z3 and t3):
                        going = False
                        continue
                    # A partner who ruffs takes the lead away.
                    if not z2 and t2:
                        extra = max(extra, worth[c])
                        going = False
                        continue
                    rounds += 1
                    points += worth[c]
                    if not strict:
                        continue
                    # Opponents follow with their lowest card, a partner with their highest.
                    if z1:
                        points += worth[low[z1]]
                        z1 &= z1 - 1
                    if z2:
                        points += worth[high[z2]]
                        z2 ^= 1 << high[z2]
                    if z3:
                        points += worth[low[z3]]
                        z3 &= z3 - 1
            s += 16
        points += extra
        if draws:
            points = max(points, sums[a | b] + drawn)
            x = own
            while x:
                long += 1
                x &= x - 1
        else:
            long = 0
        if rounds + tops >= self.left or long >= self.left:
            return (self.rest + self.bonus) << 12
        return points << 12 | theirs

    def _last(self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64) -> i64:
        """Play the last trick, in which nobody has a choice, and return its value."""
        trump: i64 = self.suits[self.trump]
        s: i64 = 0
        while not h0 & self.suits[s]:
            s += 16
        led: i64 = self.suits[s]
        best: i64 = h0
        winner: i64 = p
        q: i64 = p
        i: i64 = 1
        while i < self.n:
            q += 1
            if q == self.n:
                q = 0
            h: i64 = h1 if i == 1 else (h2 if i == 2 else h3)
            if winners(h, best, led, trump):
                best = h
                winner = q
            i += 1
        gain: i64 = self.rest + self.bonus
        return -gain if (self.camps >> winner) & 1 else gain

    def _tute(self, h0: i64, h1: i64, h2: i64, h3: i64) -> i64:
        """Return 1 if somebody holds a tute or may still get one."""
        in_stock: i64 = 0
        at: i64 = self.drawn
        while at < self.end:
            in_stock |= self.bit[self.stock[at]]
            at += 1
        i: i64 = 0
        while i < self.n_tutes:
            four: i64 = self.tutes[i] & ~in_stock
            if h0 & four == four or h1 & four == four or h2 & four == four or h3 & four == four:
                return 1
            i += 1
        return 0

    def _to_sing(self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, camp: i64) -> i64:
        """Return the most points of songs that a camp (0 the first) can still score."""
        pair: i64 = self.pair
        total: i64 = 0
        suit: i64 = 0
        drawing: bool = self.drawn < self.end
        if drawing and self.end - self.drawn < self.song_stock:
            return 0
        if not drawing and self.song_stock > 0:
            return 0
        while suit < 4:
            if self.to_sing & ~self.sung & self.bit[suit]:
                value: i64 = self.song_trump if suit * 16 == self.trump else self.song_other
                if drawing:
                    total += value
                else:
                    s: i64 = suit * 16
                    q: i64 = p
                    i: i64 = 0
                    while i < self.n:
                        h: i64 = h0 if i == 0 else (h1 if i == 1 else (h2 if i == 2 else h3))
                        if (h >> s) & pair == pair:
                            if (self.camps >> q) & 1 == camp:
                                total += value
                            break
                        q += 1
                        if q == self.n:
                            q = 0
                        i += 1
            suit += 1
        return total

    # ---- the table

    def _key(self, h0: i64, h1: i64, h2: i64, h3: i64, p: i64, stock_left: i64, ahead: i64, tute: i64) -> i64:
        """Return the table key of a position with a lead: hands by place from the leader on, songs that are left, the stock.

        Cards are ranked among those that are left, so positions that differ only in points share a key. Cards keep their identity while something
        else depends on it: a stock, a tute (its worth depends on the points won), a pair that can be sung.
        """
        more: i64 = stock_left << 5 | p << 1
        if tute:
            more |= (ahead + 1024) << 12 | 8
        if self.swapped:
            more |= 1
        singable: i64 = 0
        open_: i64 = self.to_sing & ~self.sung
        if open_:
            suit: i64 = 0
            while suit < 4:
                if open_ & self.bit[suit] and (stock_left or self._is_paired(h0, h1, h2, h3, suit * 16)):
                    singable |= self.bit[suit]
                suit += 1
            if self.order == FIRST and singable & self.bit[self.trump >> 4]:
                singable |= self.twenties << 4
        shown_card: i64 = self.stock[self.end - 1] if stock_left else 0
        named_suits: i64 = 15 if stock_left or tute else singable
        if INTERPRETED:
            suits = [
                self._folded(h0 >> s, h1 >> s, h2 >> s, h3 >> s, named_suits >> (s >> 4) & 1) for s in range(0, 64, 16)
            ]
            return hash((more, singable, shown_card, *suits)) & 0xFFFFFFFFFFFFFFF
        m1: i64 = self.m1
        m2: i64 = self.m2
        k1: i64 = self.k1
        k: i64 = self.k0 * (more + 1)
        k = _mix(k ^ (singable << 8) ^ shown_card, m1, m2)
        s: i64 = 0
        while s < 4:
            k = _mix(k ^ (self._folded(h0, h1, h2, h3, named_suits & 1) * k1), m1, m2) + s
            named_suits >>= 1
            h0 >>= 16
            h1 >>= 16
            h2 >>= 16
            h3 >>= 16
            s += 1
        return _mix(k, m1, m2)

    def _folded(self, h0: i64, h1: i64, h2: i64, h3: i64, by_card: i64) -> i64:
        """Return who holds which card of the lowest suit of these hands, by card (`by_card`) or by rank among the cards that are left."""
        if by_card:
            return ((h0 & SUIT) << 10 | (h1 & SUIT)) << 20 | (h2 & SUIT) << 10 | (h3 & SUIT)
        rank = self.rank
        live: i64 = h0 | h1 | h2 | h3
        top: i64 = live & HIGH
        n: i64 = self.count[live & LOW]
        live = (live & LOW) << 5
        v: i64 = rank[top | ((h0 >> 5) & LOW)] << n | rank[live | (h0 & LOW)]
        v = v << 10 | rank[top | ((h1 >> 5) & LOW)] << n | rank[live | (h1 & LOW)]
        v = v << 10 | rank[top | ((h2 >> 5) & LOW)] << n | rank[live | (h2 & LOW)]
        return v << 10 | rank[top | ((h3 >> 5) & LOW)] << n | rank[live | (h3 & LOW)]

    def _distance(self, was: i64, now: i64) -> i64:
        """Return by how much the values of two positions with one key can differ: only the points of the cards differ.

        was, now: the cards worth points, as `_dear` returns them.
        """
        apart = self.apart
        return (
            apart[(was & 31) << 5 | (now & 31)]
            + apart[(was & 992) | ((now >> 5) & 31)]
            + apart[((was >> 5) & 992) | ((now >> 10) & 31)]
            + apart[((was >> 10) & 992) | ((now >> 15) & 31)]
        )

    def _nth(self, live: i64, place: i64) -> i64:
        """Return the card of a suit at a place among those that are left."""
        x: i64 = (live >> (place & 48)) & SUIT
        i: i64 = place & 15
        while i:
            x &= x - 1
            i -= 1
        return (place & 48) | self.low[x]

    def _is_paired(self, h0: i64, h1: i64, h2: i64, h3: i64, s: i64) -> bool:
        pair: i64 = self.pair
        return (
            (h0 >> s) & pair == pair or (h1 >> s) & pair == pair or (h2 >> s) & pair == pair or (h3 >> s) & pair == pair
        )

    def _forget(self) -> None:
        past = self.past
        i: i64 = 0
        while i < 1024:
            past[i] = past[i] >> 1
            i += 1


def _mix(x: i64, m1: i64, m2: i64) -> i64:
    x ^= (x >> 31) & 0x1FFFFFFFF
    x *= m1
    x ^= (x >> 27) & 0x1FFFFFFFFF
    x *= m2
    return x ^ ((x >> 33) & 0x7FFFFFFF)


def _dear(live: i64) -> i64:
    """Return the cards in play that are worth points, five bits a suit."""
    return ((live >> 5) & 31) | ((live >> 16) & 992) | ((live >> 27) & 31744) | ((live >> 38) & 0xF8000)


def _points_apart(points: list[int], x: int, y: int) -> int:
    """Return by how much a suit's points differ between two positions: x and y are its cards worth points, compared from the highest down."""
    own = [points[i] for i in (4, 3, 2, 1, 0) if x >> i & 1]
    others = [points[i] for i in (4, 3, 2, 1, 0) if y >> i & 1]
    return sum([abs(a - b) for a, b in zip_longest(own, others, fillvalue=0)])


def _among(live: int, hand: int) -> int:
    """Return which of the cards in play, numbered from the lowest, a hand holds."""
    places = place = 0
    for card in range(5):
        if live >> card & 1:
            if hand >> card & 1:
                places |= 1 << place
            place += 1
    return places


def _word(state: State, seat: int) -> int:
    coins, cups, swords, batons, _ = state.hands[seat]
    return coins | cups << 16 | swords << 32 | batons << 48
