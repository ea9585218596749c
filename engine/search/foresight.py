"""Open playouts: the worth of a card if everybody plays the next tricks with open cards.

    table = Foresight(state.game)
    table.begin(state, tricks=4)          # at a decision of the seat on turn: everything that does not depend on the hidden cards
    table.put(deal)                       # one deal of the hidden cards (`engine.search.deals`)
    table.worth(card)                     # the worth of a card in this deal

In a playout every seat plays by habit: simple rules that look at one hand, at the trick and at the cards that are still out. In an open playout all
hands are open in the first tricks: there each seat tries every legal card by one playout and plays the best; later tricks go by habit. So in those
tricks the others punish a mistake, and partners help each other. New exchanges, claims, capotes, the order of songs, and a tute in the first trick
alone are not modelled; every song is sung as soon as possible.

A hand is one number, 16 bits a suit, and a card is the place of its bit. A position is an array of words (`HANDS` and the following places).
Points are counted in halves, worths in thousandths. Bits come from a table: mypyc 2.4.1 shifts a literal wrongly from bit 31 on.
"""

from __future__ import annotations

from math import tanh
from typing import TYPE_CHECKING, Final, final

from engine.rules.following import (
    ANY,
    CODE,
    EXEMPT,
    FOLLOW,
    FREE,
    HIGHER_OR_ALL,
    HIGHER_OR_ANY,
    NO_LOAD,
    TRUMP_FOLLOW,
    demands,
    duty_number,
    followers,
    lightest,
    winners,
)
from engine.search.masks import words

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.match.state import State
    from engine.rules.terms import Terms
    from engine.search.deals import Deal

# places of a position: hands of seats, points of camps, and the trick
HANDS: Final = 0  # one for each seat
POINTS: Final = 7  # one for each camp, in halves; tricks in games that count only these
SEAT: Final = 14  # the seat on turn
LED: Final = 15  # suit
BEST: Final = 16  # the card that is winning, as suit * 16 + strength, and its seat
WINNER: Final = 17
VALUE: Final = 18  # points of the trick, in halves
LAID: Final = 19  # number of cards in the trick, whose mask is in CARDS
CARDS: Final = 20
LIVE: Final = 21  # the cards in hands and stock
UNSUNG: Final = 22  # suits whose pair has not been sung
DRAWN: Final = 23  # place in the stock
END: Final = 24  # Camp that has won at once, plus 1: by a tute (TUTE more) or with the target.
GUESSED: Final = 25  # 1 if the points hold an estimate of tricks to come
CUT: Final = 26  # Number of tricks after which the rest is estimated, if there is still a stock.
NOTICE: Final = 27  # Seat that has laid a card for the shown one, plus 1; or SWAPPED once it has taken the shown card.
TOOK: Final = 28  # Camps that have taken a trick, one bit each; from SANG on, camps that have sung.
TRUMP: Final = 29
TOPS: Final = 30  # For each suit, in three bits, the seat with its highest card in the trick, if trumps move.
WORDS: Final = 31
TUTE: Final = 16
SWAPPED: Final = 8
SANG: Final = 8

MOST_CARDS: Final = 64  # cards of a deal
SUIT: Final = 1023  # all cards of a suit
NO_TRUMP: Final = 4
ALL: Final = 99  # Number of tricks that means: to the end of the deal.

# results of a deal
MOST, TARGET, BID, PRIZE, MIDDLE, MIDDLE_OF_THREE, MOST_LOSES, PAIR, EXACT = range(9)
RESULTS = {
    "most_points_wins": MOST,
    "fewest_points_loses": MOST,  # between two
    "to_target": TARGET,
    "soloist_reaches_bid": BID,
    "middle_loses": MIDDLE,
    "middle_of_three_loses": MIDDLE_OF_THREE,
    "most_points_loses_unless_101": MOST_LOSES,
    "soloist_side_more_points": PAIR,
    "exact_prediction": EXACT,
}

# Value of holding a card instead of a useless one, in halves of points, weakest card first; the same as in the house bot `counting`.
KEEP_TRUMP = (9, 9, 10, 10, 13, 15, 22, 23, 26, 26)
KEEP_PLAIN = (0, 0, 0, 0, 0, 0, 5, 7, 14, 17)
KEEP_TRUMP_SONGLESS = (4, 4, 4, 4, 6, 7, 10, 11, 17, 25)
KEEP_PLAIN_SONGLESS = (0, 0, 0, 0, 0, 0, 0, 2, 5, 5)
BROKEN_PAIR: Final = 20  # cost of playing a card of a pair, in halves of points

# Places of weights: first each trump, then each card of a plain suit, weakest first; then the features below.
MASTER: Final = 20  # the highest card left of its suit: plain, trumps
MASTER_VALUE: Final = 22  # the value of that card in halves: plain, trumps
WHOLE: Final = 24  # an unsung pair in the hand: trumps, plain
READY: Final = 26  # an unsung pair in the hand of the leader
HALF: Final = 28  # one card of a pair, the other in the stock: trumps, plain
RUFFS: Final = 30  # a void plain suit, with trumps in hand
LENGTH: Final = 31  # cards of a plain suit beyond two
SQUARE: Final = 32  # the number of trumps, squared
MANY: Final = 33  # trumps beyond three
LEADS: Final = 34
FEATURES: Final = 35
Weights = tuple[tuple[int, ...], ...]

TUTE_WORTH: Final = 130  # equal to settlement.TUTE_SCORE
NEXT_DEAL: Final = 25.0  # Lead in points that makes one side a clear favourite in the next deal of a game.
FAR: Final = 250  # Largest lead in points in the table of chances.
SAFE: Final = 60  # Distance from the neighbours, in halves of points, that is safe in games where the middle loses.


def knows(game: Terms) -> bool:
    """Return True if `Foresight` can play the deals of a game."""
    rules = game.rules
    return (
        rules.result.__name__ in RESULTS
        and game.pack.size <= 10
        and game.players <= 7
        and rules.supply == "draw"
        and (rules.draw == "none" or bool(rules.shown_card_drawn))
        and (
            rules.result.__name__ != "middle_loses"
            or (
                rules.middle_rule == "all_between"
                and rules.tie == "level_lose"
                and rules.capote_spoiled_by_song
                and (rules.table_songs == "none" or rules.capote_spoiled_by_table_song)
            )
        )
        and rules.two_table_songs == "all"
        and set(rules.pair_ranks) <= set(game.pack.ranks)
    )


@final
class Foresight:
    """Playouts of one game, for one decision after another."""

    def __init__(self, game: Terms, weights: Weights = ()) -> None:
        """Takes a game for which `knows` is True.

        weights: the value of the features of a hand at a table of two (`FEATURES`, in hundredths of halves of points), one row for each number of
        pairs of cards in the stock, from one on. Without weights, hands are estimated as in `counting`.
        """
        rules, pack = game.rules, game.pack
        self.bit: vec[i64] = words([2**place for place in range(62)])
        self.low: vec[i64] = words([max(0, (x & -x).bit_length() - 1) for x in range(1024)])
        self.high: vec[i64] = words([max(0, x.bit_length() - 1) for x in range(1024)])
        self.many: vec[i64] = words([x.bit_count() for x in range(1024)])
        points = [2 * rules.rank_points.get(rank, 0) for rank in pack.ranks]
        self.value: vec[i64] = words(points + [0] * (16 - len(points)))
        sings = rules.hand_songs != "none"
        self.pair: i64 = game.pair
        self.sings: bool = sings
        self.no_load: bool = rules.no_load
        self.by_worth = [mask * 0x0001000100010001 for mask in game.worth_masks]
        self.moves: bool = rules.on_trump is not None  # Each trump that is played hands trump to the next suit.
        cycle = dict(rules.trump_cycle or {}) if self.moves else {}
        self.cycle: vec[i64] = words([pack.suits.index(suit) for suit in map(cycle.get, pack.suits) if suit])
        self.on_table: bool = game.table_songs
        self.makes_trump: bool = rules.table_songs == "forced_first_40"
        spare = 10 - len(points)  # a pack without twos lacks the weakest cards
        trump = (KEEP_TRUMP if sings else KEEP_TRUMP_SONGLESS)[spare:]
        plain = (KEEP_PLAIN if sings else KEEP_PLAIN_SONGLESS)[spare:]
        self.keep_trump: vec[i64] = words(_sums(trump))
        self.keep_plain: vec[i64] = words(_sums(plain))
        self.song_trump: i64 = 2 * rules.song_values["trump"]
        self.song_other: i64 = 2 * rules.song_values["other"]
        self.song_stock: i64 = rules.song_min_stock
        self.learned: i64 = len(weights)
        self.weights: vec[i64] = words([weight for row in weights for weight in row])
        self.in_company: bool = rules.hand_songs == "winning_side"
        says_tute = game.tute_mask and not rules.tute_first_trick_only
        tutes = [pack.mask(rank) for rank in rules.tute_ranks] if says_tute else []
        self.tutes: vec[i64] = words([mask * 0x0001000100010001 for mask in tutes])
        self.n_tutes: i64 = len(tutes)
        self.bonus: i64 = 2 * rules.last_trick_bonus
        self.suits: vec[i64] = words([SUIT * 2 ** (16 * suit) for suit in range(4)] + [0])  # NO_TRUMP: no card
        self.open_duty: i64 = duty_number(rules, rules.obligation_stock_open)
        self.empty_duty: i64 = duty_number(rules, rules.obligation_stock_empty)
        # `following.demands` of both duties, two numbers per situation
        duties = [self.open_duty, self.empty_duty]
        self.demands: vec[i64] = words([demand for duty in duties for pair in demands(duty) for demand in pair])
        self.result: i64 = RESULTS[rules.result.__name__]
        if rules.settlement == "chips" and self.result == MOST:
            self.result = PRIZE
        self.predicted: vec[i64] = words([0] * 8)  # tricks that each camp has predicted
        self.soloist: i64 = -1
        self.called: i64 = 0  # the card whose hidden holder plays with the soloist
        self.shares: vec[i64] = words([0] * 8)  # points or tricks that each seat has won so far
        self.target: i64 = 0 if game.target is None else 2 * game.target
        # worth of a deal after which the game goes on, by the lead in points
        self.chances: vec[i64] = words([int(90_000 * tanh(n / NEXT_DEAL / 2)) for n in range(-FAR, FAR + 1)])
        # the decision
        self.seats: i64 = game.players
        self.size: i64 = 0
        self.next: vec[i64] = words([0] * 8)
        self.playing: vec[i64] = words([0] * 8)  # 1 for seats in the deal
        self.camp: vec[i64] = words([0] * 8)
        self.camps: i64 = 0
        self.singers: i64 = 0  # seats that may sing
        # the cards that beat the winning one, by trump, suit led and winning card
        self.beating: vec[i64] = words(
            [
                winners(-1, self.bit[best], self.suits[led], self.suits[trump]) if best < 58 else 0
                for trump in range(5)
                for led in range(4)
                for best in range(64)
            ]
        )
        self.bid: i64 = 0
        self.stock: vec[i64] = words([0] * 64)
        self.face_down: i64 = 0  # number of cards of the stock: those before the shown card, and all
        self.supply: i64 = 0
        self.carried: vec[i64] = words([0] * 8)  # points of earlier deals by camp, in halves
        self.depth: i64 = 0
        self.ahead: i64 = ALL
        self.me: i64 = 0
        self.root: vec[i64] = words([0] * WORDS)
        self.line: vec[i64] = words([0] * WORDS)
        self.trial: vec[i64] = words([0] * WORDS)
        self.choices: vec[i64] = words([0] * 16)
        self.wants: vec[i64] = words([1] * 8)  # 1 for each seat that goes for points
        self.laid: i64 = 0  # the card that lies for the shown one
        self.barred: vec[i64] = words([0] * 8)
        self.missing: vec[i64] = words([0] * 8)
        self.played: i64 = 0  # number of cards laid in playouts

    # ---- a decision

    def begin(self, state: State, tricks: int, ahead: int = ALL) -> None:
        """Start a decision of the seat on turn, which is to play a card: store everything that its deals have in common.

        tricks: number of tricks with open cards, the present one included; ahead: number of further tricks after which, if there is still a stock, a
        playout stops and the rest is estimated.
        """
        self.me = state.turn
        self.depth, self.ahead = tricks, ahead
        root = self.root
        for place in range(WORDS):
            root[place] = 0
        self._seat(state)
        self._count(state)
        root[SEAT] = state.turn
        root[TRUMP] = min(state.trump, NO_TRUMP)
        root[LED] = -1
        if state.in_trick:
            root[LED] = state.lead
            root[BEST] = state.best // 10 * 16 + state.best % 10
            root[WINNER] = state.winner
            root[VALUE] = 2 * state.table_points
            root[LAID] = len(state.table)
            root[CARDS] = self._hand(state.table)
            self._lay_again(state)
        root[UNSUNG] = 15 & ~state.sung if self.sings else 0
        self.supply = self.face_down = state.n
        if state.n and state.shown >= 0 and state.holder < 0 and len(state.stock) < state.n:
            self.face_down = state.n - 1
            self.stock[state.n - 1] = state.shown // 10 * 16 + state.shown % 10
        if state.pending >= 0:
            card: int = state.notes["pending_card"]
            self.laid = card // 10 * 16 + card % 10
            root[NOTICE] = state.pending + 1

    def _lay_again(self, state: State) -> None:
        """Store which seats laid the highest cards of each suit of the trick."""
        seat: i64 = state.leader
        for laid in state.table:
            suit = laid // 10
            if laid == max([card for card in state.table if card // 10 == suit]):
                self.root[TOPS] = self.root[TOPS] + seat * self.bit[3 * suit]
            seat = self.next[seat]

    def _seat(self, state: State) -> None:
        """Set the seats in the deal, their camps, and the singers."""
        self.size = state.size
        for seat in range(8):
            self.playing[seat] = self.barred[seat] = self.missing[seat] = 0
            self.wants[seat] = 1
        soloist, partner = state.notes.get("soloist"), state.notes.get("partner")
        alone = state.rules.hand_songs in ("soloist", "soloist_side")
        sides: list[int] = []
        singers: i64 = 0
        for seat in sorted(state.active):
            self.playing[seat] = 1
            self.next[seat] = state.next[seat]
            side = state.side[seat]
            if side not in sides:
                sides.append(side)
            self.camp[seat] = sides.index(side)
            if self.result in (BID, PAIR):  # the soloist's camp is the first
                self.camp[seat] = 0 if seat in (soloist, partner) else 1
            if self.sings and (not alone or seat == soloist):
                singers |= self.bit[seat]
        self.camps = 2 if self.result in (BID, PAIR) else len(sides)
        self.singers = singers

    def _count(self, state: State) -> None:
        """Set the points of the camps, and the points or tricks that they need."""
        notes = state.notes
        self.bid = 2 * int(notes.get("bid") or 0) if self.result == BID else 0
        self.called = 0
        self.soloist = -1
        if self.result == PAIR:
            self.soloist = notes["soloist"]
            self.called = self._hand([notes["called"]])
        by_seat = state.seat_points()
        for seat in state.active:
            camp = POINTS + self.camp[seat]
            self.shares[seat] = state.tricks[seat] if self.result == EXACT else 2 * by_seat[seat]
            self.root[camp] = self.root[camp] + self.shares[seat]
            if state.tricks[seat]:
                self.root[TOOK] = self.root[TOOK] | self.bit[camp - POINTS]
            if self.result == TARGET:
                self.carried[camp - POINTS] = 2 * state.totals[state.side[seat]]
            elif self.result == EXACT:
                self.predicted[camp - POINTS] = notes["predictions"][seat]
        for seat, _, _, _ in state.songs_made:
            self.root[TOOK] = self.root[TOOK] | self.bit[SANG + self.camp[seat]]

    def different(self, cards: list[int]) -> list[int]:
        """Return the cards, of those of the seat on turn, that differ in effect: of equal neighbours only the lowest.

        Cards are numbers of the engine. Call it after `put`; any deal will do, because the cards still out are the same in all deals.
        """
        count: i64 = self._candidates(self.root, self._hand(cards))
        chosen: list[int] = []
        for place in range(count):
            card: i64 = self.choices[place]
            chosen.append((card >> 4) * 10 + (card & 15))
        return chosen

    def bar(self, seat: int, suits: int) -> None:
        """Let `put` refuse, in this decision, deals in which a seat holds the pair of any of these suits (a mask)."""
        self.barred[seat] = suits

    def aim(self, seat: int, points: bool) -> None:
        """Set whether a seat goes for points by habit in this decision, as all seats do by default, or avoids points and songs."""
        self.wants[seat] = 1 if points else 0

    def lack(self, seat: int, cards: list[int]) -> None:
        """Let `put` refuse, in this decision, deals in which a seat holds one of these cards (numbers of the engine)."""
        self.missing[seat] = self._hand(cards)

    def led_by_habit(self) -> bool:
        """Return True if the only card on the table is the one that its seat would lead by habit in this deal, or an equal card."""
        at, root = self.trial, self.root
        self._copy(root, at)
        seat: i64 = root[WINNER]
        card: i64 = root[BEST]
        at[SEAT] = seat
        at[LAID] = 0
        at[HANDS + seat] = at[HANDS + seat] | self.bit[card]
        at[LIVE] = at[LIVE] | self.bit[card]
        usual: i64 = self._lead(at, at[HANDS + seat])
        if usual >> 4 != card >> 4 or self.value[usual & 15] != self.value[card & 15]:
            return False
        others: i64 = (at[LIVE] & ~at[HANDS + seat]) >> (card >> 4) * 16
        return not others & (self.bit[max(usual, card) & 15] - self.bit[min(usual, card) & 15])

    def put(self, deal: Deal) -> bool:
        """Lay out the cards of a deal. Return False, and lay nothing out, if the deal is barred."""
        root = self.root
        live: i64 = 0
        hands = [self._hand(cards) for cards in deal.hands]
        for seat, hand in enumerate(hands):
            if hand & self.missing[seat]:
                return False
            bars: i64 = self.barred[seat]
            suit: i64 = 0
            while bars and suit < 4:
                if bars & self.bit[suit] and (hand >> (suit * 16)) & self.pair == self.pair:
                    return False
                suit += 1
        for seat, hand in enumerate(hands):
            root[HANDS + seat] = hand
            live |= hand
            if hand & self.called:
                self._pair_up(seat)
        place: i64 = 0
        drawn = deal.stock[::-1]
        while place < self.face_down:
            self.stock[place] = drawn[place] // 10 * 16 + drawn[place] % 10
            place += 1
        place = 0
        while place < self.supply:
            live |= self.bit[self.stock[place]]
            place += 1
        if root[NOTICE]:
            live |= self.bit[self.laid]
        root[LIVE] = live
        return True

    def _pair_up(self, partner: i64) -> None:
        """Make the holder of the called card the soloist's partner in this deal."""
        root = self.root
        root[POINTS] = root[POINTS + 1] = 0
        seat: i64 = 0
        while seat < self.seats:
            if self.playing[seat]:
                camp: i64 = 0 if seat in (self.soloist, partner) else 1
                self.camp[seat] = camp
                root[POINTS + camp] = root[POINTS + camp] + self.shares[seat]
            seat += 1

    def features(self, drawn: list[int]) -> list[int]:
        """Return the features of the leader's hand less those of the other hand: the factors of the weights of a row.

        Call it after `put`, at a table of two. drawn: the cards (numbers of the engine) that the hands have drawn since the trick; they count as not
        yet drawn, because estimates are made before the draw.
        """
        at, weights = self.trial, self.weights
        self._copy(self.root, at)
        leader: i64 = at[SEAT]
        other: i64 = self.next[leader]
        back: i64 = ~self._hand(drawn)
        at[HANDS + leader] = at[HANDS + leader] & back
        at[HANDS + other] = at[HANDS + other] & back
        features: list[int] = []
        for place in range(FEATURES):
            self.weights = words([int(other_place == place) for other_place in range(FEATURES)])
            features.append(self._weighed(at, leader, 0, True) - self._weighed(at, other, 0, False))
        self.weights = weights
        return features

    def worth(self, card: int) -> int:
        """Return the worth of a card (a number of the engine) in this deal to the seat that plays it: thousandths, more is better."""
        line = self.line
        self._copy(self.root, line)
        line[CUT] = self.depth + self.ahead
        self._lay(line, card // 10 * 16 + card % 10)
        tricks_done: i64 = 0 if line[LAID] else 1
        while tricks_done < self.depth and line[LIVE] and not line[END] and not line[GUESSED]:
            self._lay(line, self._choose(line))
            if not line[LAID]:
                tricks_done += 1
        self._run(line)
        return self._score(line, self.camp[self.me])

    # ---- the course of a deal

    def _hand(self, cards: list[int]) -> i64:
        hand: i64 = 0
        for card in cards:
            hand |= self.bit[card // 10 * 16 + card % 10]
        return hand

    def _copy(self, old: vec[i64], new: vec[i64]) -> None:
        place: i64 = 0
        while place < WORDS:
            new[place] = old[place]
            place += 1

    def _lay(self, at: vec[i64], card: i64) -> None:
        """Play a card of the seat on turn."""
        seat: i64 = at[SEAT]
        suit: i64 = card >> 4
        bit: i64 = self.bit[card]
        at[HANDS + seat] = at[HANDS + seat] & ~bit
        at[LIVE] = at[LIVE] & ~bit
        self.played += 1
        laid: i64 = at[LAID] + 1
        if laid == 1:
            at[LED] = suit
            at[BEST] = card
            at[WINNER] = seat
            at[VALUE] = 0
            at[CARDS] = 0
        else:
            if bit & self.beating[at[TRUMP] << 8 | at[LED] << 6 | at[BEST]]:
                at[BEST] = card
                at[WINNER] = seat
        at[VALUE] = at[VALUE] + self.value[card & 15]
        at[CARDS] = at[CARDS] | bit
        at[LAID] = laid
        if self.moves:
            self._move_trump(at, suit, bit, seat)
        at[SEAT] = self.next[seat]
        if laid == self.size:
            self._gather(at)

    def _move_trump(self, at: vec[i64], suit: i64, bit: i64, seat: i64) -> None:
        """Let a trump that is played become the suit led and hand trump to the next suit, and see again which card is winning."""
        cards: i64 = at[CARDS]
        if not cards & self.suits[suit] & -(bit + bit):  # the highest card of its suit in the trick
            at[TOPS] = (at[TOPS] & ~(7 * self.bit[3 * suit])) | seat * self.bit[3 * suit]
        if suit != at[TRUMP]:
            return
        at[LED] = suit
        trump: i64 = self.cycle[suit]
        at[TRUMP] = trump
        best_suit: i64 = trump if cards & self.suits[trump] else suit
        at[BEST] = best_suit * 16 + self.high[(cards >> (best_suit * 16)) & SUIT]
        at[WINNER] = (at[TOPS] >> (3 * best_suit)) & 7

    def _gather(self, at: vec[i64]) -> None:
        """Complete the trick: points, draws, songs."""
        seat: i64 = at[WINNER]
        camp: i64 = self.camp[seat]
        at[SEAT] = seat
        at[LAID] = 0
        at[POINTS + camp] = at[POINTS + camp] + (1 if self.result == EXACT else at[VALUE])
        at[TOOK] = at[TOOK] | self.bit[camp]
        if self.on_table:
            self._sing_table(at, camp)
        if not at[LIVE]:
            at[POINTS + camp] = at[POINTS + camp] + self.bonus
        drawn: i64 = at[DRAWN]
        if drawn < self.supply:
            if at[NOTICE] == seat + 1:
                at[HANDS + seat] = at[HANDS + seat] | self.bit[self.stock[self.supply - 1]]
                at[NOTICE] = SWAPPED
            tricks_left: i64 = at[CUT] - 1
            at[CUT] = tricks_left
            if tricks_left <= 0:
                self._estimate(at)
                return
            self._draw(at, seat)
            drawn = at[DRAWN]
        if self.singers and at[LIVE] and self.supply - drawn >= self.song_stock:
            self._sing_after(at, seat)
        if self.target and not at[END] and at[POINTS + camp] + self.carried[camp] >= self.target:
            at[END] = camp + 1

    def _draw(self, at: vec[i64], drawer: i64) -> None:
        """Let every seat draw, the winner of the trick first. When the stock is empty a card laid for the shown one goes back."""
        drawn: i64 = at[DRAWN]
        i: i64 = 0
        while i < self.size and drawn < self.supply:
            card: i64 = self.stock[drawn]
            drawn += 1
            if drawn == self.supply and at[NOTICE] == SWAPPED:
                card = self.laid
            at[HANDS + drawer] = at[HANDS + drawer] | self.bit[card]
            drawer = self.next[drawer]
            i += 1
        at[DRAWN] = drawn
        if drawn == self.supply and at[NOTICE] and at[NOTICE] < SWAPPED:
            i = HANDS + at[NOTICE] - 1
            at[i] = at[i] | self.bit[self.laid]
            at[NOTICE] = 0

    def _sing_table(self, at: vec[i64], camp: i64) -> None:
        """Score the pairs that lie in the trick for its winner. In some games the first one makes trumps."""
        suit: i64 = 0
        while suit < 4:
            if (at[CARDS] >> (suit * 16)) & self.pair == self.pair:
                is_trump: bool = suit == at[TRUMP]
                if self.makes_trump:
                    is_trump = at[TRUMP] == NO_TRUMP
                    if is_trump:
                        at[TRUMP] = suit
                at[POINTS + camp] = at[POINTS + camp] + (self.song_trump if is_trump else self.song_other)
                at[UNSUNG] = at[UNSUNG] & ~self.bit[suit]
                at[TOOK] = at[TOOK] | self.bit[SANG + camp]
            suit += 1

    def _keen(self, at: vec[i64], seat: i64) -> bool:
        """Return True if a seat goes for points by habit, or for more tricks."""
        if self.result == EXACT:
            camp: i64 = self.camp[seat]
            return at[POINTS + camp] < self.predicted[camp]
        return self.wants[seat] != 0

    def _sing_after(self, at: vec[i64], winner: i64) -> None:
        """Let those sing who may after a trick: its winner, or the winner's whole side."""
        if not self.in_company:
            self._sing(at, winner)
            return
        seat: i64 = 0
        while seat < self.seats:
            if self.playing[seat] and self.camp[seat] == self.camp[winner]:
                self._sing(at, seat)
            seat += 1

    def _sing(self, at: vec[i64], seat: i64) -> None:
        if not self.singers & self.bit[seat]:
            return
        hand: i64 = at[HANDS + seat]
        unsung: i64 = at[UNSUNG]
        camp: i64 = self.camp[seat]
        if unsung and self._keen(at, seat):
            song_suit: i64 = -1
            suit: i64 = 0
            while suit < 4:
                if (
                    unsung & self.bit[suit]
                    and (hand >> (suit * 16)) & self.pair == self.pair
                    and (song_suit < 0 or suit == at[TRUMP])
                ):
                    song_suit = suit
                suit += 1
            if song_suit >= 0:
                at[POINTS + camp] = at[POINTS + camp] + (self.song_trump if song_suit == at[TRUMP] else self.song_other)
                at[UNSUNG] = unsung & ~self.bit[song_suit]
                at[TOOK] = at[TOOK] | self.bit[SANG + camp]
        i: i64 = 0
        while i < self.n_tutes:
            if hand & self.tutes[i] == self.tutes[i]:
                at[END] = TUTE + camp + 1
            i += 1

    def _run(self, at: vec[i64]) -> None:
        """Play on by habit to the end of the deal, or until it is estimated."""
        cards: i64 = 0
        while at[LIVE] and not at[END] and not at[GUESSED] and cards < MOST_CARDS:
            self._lay(at, self._habit(at))
            cards += 1

    def _choose(self, at: vec[i64]) -> i64:
        """Return the card that the seat on turn plays with open hands: the one with the best playout."""
        seat: i64 = at[SEAT]
        count: i64 = self._candidates(at, self._legal(at, at[HANDS + seat]))
        if count == 1:
            return self.choices[0]
        # The playouts of a card do not touch this list.
        choices = self.choices
        trial = self.trial
        camp: i64 = self.camp[seat]
        best: i64 = choices[0]
        most: i64 = -1_000_000_000
        i: i64 = 0
        while i < count:
            self._copy(at, trial)
            trial[CUT] = self.ahead
            self._lay(trial, choices[i])
            self._run(trial)
            score: i64 = self._score(trial, camp)
            if score > most:
                most = score
                best = choices[i]
            i += 1
        return best

    def _candidates(self, at: vec[i64], allowed: i64) -> i64:
        """Put the cards of a set into `choices`, but of cards with the same effect only the lowest. Return their number."""
        hand: i64 = at[HANDS + at[SEAT]]
        others: i64 = (at[LIVE] & ~hand) | at[CARDS] if at[LAID] else at[LIVE] & ~hand
        choices = self.choices
        count: i64 = 0
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (allowed >> (suit * 16)) & SUIT
            out: i64 = (others >> (suit * 16)) & SUIT
            before: i64 = -1
            while mask:
                strength: i64 = self.low[mask]
                mask &= mask - 1
                if (
                    before < 0
                    or self.value[before] != self.value[strength]
                    or (self.pair & (self.bit[strength] | self.bit[before]))
                    or out & (self.bit[strength] - self.bit[before])
                ):
                    choices[count] = suit * 16 + strength
                    count += 1
                before = strength
            suit += 1
        return count

    def _duty(self, at: vec[i64]) -> i64:
        """Return the duty in force."""
        return self.open_duty if at[DRAWN] < self.supply else self.empty_duty

    def _legal(self, at: vec[i64], hand: i64) -> i64:
        """Return the cards that the seat on turn may play."""
        if not at[LAID]:
            return hand
        duty: i64 = self._duty(at)
        partner: bool = duty & EXEMPT != 0 and self.camp[at[WINNER]] == self.camp[at[SEAT]]
        led: i64 = self.suits[at[LED]]
        trump: i64 = self.suits[at[TRUMP]]
        best: i64 = self.bit[at[BEST]]
        legal: i64 = followers(duty, hand, led, trump, best, at[CARDS], partner)
        if duty & NO_LOAD and not winners(legal, best, led, trump):
            return lightest(legal, self.by_worth)
        return legal

    def _shift(self, mask: i64, places: i64) -> i64:
        return mask << places

    # ---- habits

    def _habit(self, at: vec[i64]) -> i64:
        """Return the card that the seat on turn plays by habit."""
        hand: i64 = at[HANDS + at[SEAT]]
        if at[LAID]:
            return self._follow(at, hand)
        return self._lead(at, hand)

    def _lead(self, at: vec[i64], hand: i64) -> i64:
        """Return a lead: a master worth points while the others still have its suit, or a trump from a long holding; otherwise a low card."""
        code: i64 = self._duty(at) & CODE
        if code in (FREE, TRUMP_FOLLOW):
            return self._lead_freely(hand, at[TRUMP])
        trump: i64 = at[TRUMP]
        out: i64 = 0
        live: i64 = at[LIVE] & ~hand
        if trump < 4:
            out = (live >> (trump * 16)) & SUIT
        few: i64 = 2 * (self.size - 1)  # If the others hold more cards of a suit than this, a ruff is unlikely.
        keen: bool = self._keen(at, at[SEAT])
        lowest: i64 = 99
        chosen: i64 = 0
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (hand >> (suit * 16)) & SUIT
            if mask:
                top: i64 = self.high[mask]
                strength: i64 = self.low[mask]
                if suit == trump:
                    if keen and out and mask > out | (live >> (suit * 16)) & SUIT and self.many[mask] >= 3:
                        return suit * 16 + top
                    strength += 20
                else:
                    others: i64 = (live >> (suit * 16)) & SUIT
                    if keen and mask > others and self.value[top] and (not out or self.many[others] >= few):
                        return suit * 16 + top
                if strength < lowest:
                    lowest = strength
                    chosen = suit * 16 + self.low[mask]
            suit += 1
        return chosen

    def _lead_freely(self, hand: i64, trump: i64) -> i64:
        """Return, where nobody need follow suit, the lead that costs least and keeps pairs together."""
        least: i64 = 999
        chosen: i64 = 0
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (hand >> (suit * 16)) & SUIT
            if mask:
                if self.sings and mask & self.pair == self.pair and mask != self.pair:
                    mask &= ~self.pair
                strength: i64 = self.low[mask]
                value: i64 = (
                    self.keep_trump[self.bit[strength]] if suit == trump else self.keep_plain[self.bit[strength]]
                )
                cost: i64 = value + self.value[strength]
                if cost < least:
                    least = cost
                    chosen = suit * 16 + strength
            suit += 1
        return chosen

    def _follow(self, at: vec[i64], hand: i64) -> i64:  # noqa: C901 - the hot path: calls cost more than branches
        """Return a legal card for the trick."""
        code: i64 = self.open_duty & CODE
        place: i64 = 0
        if at[DRAWN] >= self.supply:
            code = self.empty_duty & CODE
            place = 16
        led: i64 = at[LED]
        shift: i64 = led * 16
        best: i64 = at[BEST]
        trump: i64 = at[TRUMP]
        friend: bool = self.camp[at[WINNER]] == self.camp[at[SEAT]]
        last: bool = at[LAID] == self.size - 1
        if friend:
            place += 2
        if led == trump:
            place += 8
        elif best >> 4 != led:
            place += 4
        demand: i64 = self.demands[place]
        follow: i64 = (hand >> shift) & SUIT
        if code in (FREE, TRUMP_FOLLOW):
            return self._answer_freely(
                at, self._shift(follow, shift) if follow and demand != ANY else hand, last, friend
            )
        shy: bool = not self._keen(at, at[SEAT])
        above: i64 = -self.bit[(best & 15) + 1]
        if follow:
            higher: i64 = 0
            if best >> 4 == led:
                higher = follow & above
                if higher and demand == HIGHER_OR_ALL:
                    follow = higher
            elif demand == HIGHER_OR_ALL:  # The suit led must be beaten, even though the trick is trumped.
                beats: i64 = follow & -self.bit[self.high[(at[CARDS] >> shift) & SUIT] + 1]
                if beats:
                    follow = beats
            if higher:
                if shy:
                    losing: i64 = follow & ~higher
                    if losing:
                        return shift + self.high[losing]
                    return shift + (self.high[follow] if last else self.low[follow])
                top: i64 = self.high[higher]
                if not friend and led != trump:
                    if last:
                        return shift + (top if self.value[top] else self.low[higher])
                    if higher >= ((at[LIVE] & ~hand) >> shift) & SUIT:
                        return shift + top
                if follow == higher:
                    return shift + self.low[higher]
            if not self.no_load and (shy or (friend and (last or best >> 4 == trump))):
                return shift + self.high[follow]
            return shift + self.low[follow]
        if trump < 4:
            ruffs: i64 = (hand >> (trump * 16)) & SUIT
            if ruffs:
                over: i64 = ruffs
                if best >> 4 == trump:
                    over = ruffs & above
                demand = self.demands[place + 1]
                if demand == HIGHER_OR_ANY or (demand == HIGHER_OR_ALL and over):
                    ruffs = over
                elif demand == ANY:  # This is a habit, not a duty.
                    ruffs = over if code == FOLLOW and not friend and not shy else 0
                if ruffs:
                    return trump * 16 + self.low[ruffs]
        if self.no_load:
            return self._discard(lightest(hand, self.by_worth), trump, False)
        return self._discard(hand, trump, friend or shy)

    def _discard(self, hand: i64, trump: i64, load: bool) -> i64:
        """Return a card that cannot win: the highest plain card, to load the trick or to get rid of it, else the lowest."""
        chosen: i64 = -1
        reached: i64 = -1 if load else 99
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (hand >> (suit * 16)) & SUIT
            if mask and suit != trump:
                if load:
                    top: i64 = self.high[mask]
                    if top > reached:
                        chosen = suit * 16 + top
                        reached = top
                else:
                    bottom: i64 = self.low[mask]
                    if bottom < reached:
                        chosen = suit * 16 + bottom
                        reached = bottom
            suit += 1
        if chosen >= 0:
            return chosen
        return trump * 16 + self.low[(hand >> (trump * 16)) & SUIT]

    def _answer_freely(self, at: vec[i64], hand: i64, last: bool, friend: bool) -> i64:
        """Return the card that gains most, where nobody need follow suit: the trick's points less the value of keeping the card."""
        best_suit: i64 = at[BEST] >> 4
        strongest: i64 = at[BEST] & 15
        value: i64 = at[VALUE]
        trump: i64 = at[TRUMP]
        chosen: i64 = -1
        most: i64 = -9999
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (hand >> (suit * 16)) & SUIT
            whole: i64 = self.pair if self.sings and mask & self.pair == self.pair else 0
            while mask:
                strength: i64 = self.high[mask]
                bit: i64 = self.bit[strength]
                mask &= ~bit
                gain: i64 = value + self.value[strength]
                if (suit == trump and best_suit != suit) or (suit == best_suit and strength > strongest):
                    if not last and suit != trump:
                        gain >>= 1
                elif not friend:
                    gain = -gain
                elif not last:
                    gain >>= 1
                gain -= self.keep_trump[bit] if suit == trump else self.keep_plain[bit]
                if whole & bit:
                    gain -= BROKEN_PAIR
                if gain > most:
                    most = gain
                    chosen = suit * 16 + strength
            suit += 1
        return chosen

    # ---- what a position is worth

    def _estimate(self, at: vec[i64]) -> None:
        """Add to the points of each camp the points that a hand better than the others' may bring; what remains is as good for all."""
        at[GUESSED] = 1
        if at[NOTICE] and at[NOTICE] < SWAPPED:  # A seat that has laid a card will soon take the shown one.
            laid: i64 = HANDS + at[NOTICE] - 1
            at[laid] = at[laid] | self.bit[self.stock[self.supply - 1]]
        if self.learned and self.size == 2:
            leader: i64 = at[SEAT]
            other: i64 = self.next[leader]
            row: i64 = min(self.learned, max(1, (self.supply - at[DRAWN]) // 2)) - 1
            lead: i64 = self._weighed(at, leader, row * FEATURES, True) - self._weighed(
                at, other, row * FEATURES, False
            )
            at[POINTS + self.camp[leader]] = at[POINTS + self.camp[leader]] + (lead + 50) // 100
            return
        total: i64 = 0
        seat: i64 = 0
        while seat < self.seats:
            if self.playing[seat]:
                total += self._hand_value(at, seat)
            seat += 1
        mean: i64 = total // self.size
        seat = 0
        while seat < self.seats:
            if self.playing[seat]:
                camp: i64 = self.camp[seat]
                at[POINTS + camp] = at[POINTS + camp] + self._hand_value(at, seat) - mean
            seat += 1

    def _weighed(self, at: vec[i64], seat: i64, row: i64, leads: bool) -> i64:  # noqa: C901 - as above
        """Return the value of a hand at a table of two by the weights that begin at `row`, in hundredths of halves of points."""
        hand: i64 = at[HANDS + seat]
        against: i64 = at[HANDS + self.next[seat]]
        weights = self.weights
        trump_suit: i64 = at[TRUMP]
        trumps: i64 = self.many[(hand >> (trump_suit * 16)) & SUIT] if trump_suit < NO_TRUMP else 0
        sum_: i64 = trumps * trumps * weights[row + SQUARE] + max(0, trumps - 3) * weights[row + MANY]
        if leads:
            sum_ += weights[row + LEADS]
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (hand >> (suit * 16)) & SUIT
            live: i64 = (at[LIVE] >> (suit * 16)) & SUIT
            # A feature has two weights, for trumps and for other suits. Pairs have that for trumps first, masters last.
            trump: i64 = 1 if suit == trump_suit else 0
            if not trump:
                if not mask and trumps:
                    sum_ += weights[row + RUFFS]
                sum_ += max(0, self.many[mask] - 2) * weights[row + LENGTH]
            if mask and self.high[mask] == self.high[live]:
                top: i64 = self.value[self.high[mask]]
                sum_ += weights[row + MASTER + trump] + top * weights[row + MASTER_VALUE + trump]
            of_pair: i64 = mask & self.pair
            if of_pair and at[UNSUNG] & self.bit[suit]:
                if of_pair == self.pair:
                    sum_ += weights[row + WHOLE + 1 - trump]
                    if leads:
                        sum_ += weights[row + READY + 1 - trump]
                elif live & self.pair == self.pair and not (against >> (suit * 16)) & self.pair:
                    sum_ += weights[row + HALF + 1 - trump]
            first: i64 = row if trump else row + 10
            while mask:
                sum_ += weights[first + self.low[mask]]
                mask &= mask - 1
            suit += 1
        return sum_

    def _hand_value(self, at: vec[i64], seat: i64) -> i64:
        """Return the value of the cards of a hand, in halves of points."""
        hand: i64 = at[HANDS + seat]
        sum_: i64 = 0
        suit: i64 = 0
        while suit < 4:
            mask: i64 = (hand >> (suit * 16)) & SUIT
            sum_ += self.keep_trump[mask] if suit == at[TRUMP] else self.keep_plain[mask]
            if mask & self.pair == self.pair and at[UNSUNG] & self.bit[suit] and self.singers & self.bit[seat]:
                song: i64 = self.song_trump if suit == at[TRUMP] else self.song_other
                sum_ += song if seat == at[SEAT] else song >> 1
            suit += 1
        return sum_

    def _score(self, at: vec[i64], camp: i64) -> i64:
        """Return the worth of a position for a camp, in thousandths."""
        end: i64 = at[END]
        if self.result == BID:
            fulfilled: bool = at[POINTS] >= self.bid or end == TUTE + 1
            bid: i64 = (100_000 if fulfilled else -100_000) + 150 * at[POINTS]
            return bid if camp == 0 else -bid
        if self.result >= MIDDLE:
            return self._place(at, camp)
        most: i64 = -9999
        i: i64 = 0
        while i < self.camps:
            have: i64 = at[POINTS + i] + self.carried[i]
            if i != camp and have > most:
                most = have
            i += 1
        own: i64 = at[POINTS + camp] + self.carried[camp]
        ahead: i64 = own - most
        if self.result == PRIZE:
            return self._prize(own, most, end, camp)
        if end > TUTE:
            sure: i64 = 1000 * TUTE_WORTH if self.result == MOST else 120_000
            return sure if end == TUTE + 1 + camp else -sure
        return 500 * ahead if self.result == MOST else self._game(at, camp, own, most)

    def _game(self, at: vec[i64], camp: i64, own: i64, most: i64) -> i64:
        """Return the chance of winning a game that may take several deals, plus a little for points."""
        end: i64 = at[END]
        ahead: i64 = own - most
        if at[GUESSED] and not end:
            return max(-100_000, min(100_000, 500 * ahead))
        if end:
            return (100_000 if end == camp + 1 else -100_000) + 500 * ahead
        if own >= self.target or most >= self.target:
            return (100_000 if ahead > 0 else -100_000) + 500 * ahead
        half: i64 = ahead // 2
        return self.chances[max(-FAR, min(FAR, half)) + FAR] + 500 * ahead

    def _place(self, at: vec[i64], camp: i64) -> i64:
        """Return the worth in games where the lead in points is not all."""
        if self.result == EXACT:
            return self._tricks(at, camp)
        if self.result == PAIR:
            return self._pair(at, camp)
        if self.result == MOST_LOSES:
            return self._most_loses(at, camp)
        return self._middle(at, camp)

    def _pair(self, at: vec[i64], camp: i64) -> i64:
        """Return the worth in codillo, where the soloist's pair needs more points than the others."""
        ahead: i64 = at[POINTS] - at[POINTS + 1]
        if at[END] > TUTE:
            ahead = 2 * TUTE_WORTH if at[END] == TUTE + 1 else -2 * TUTE_WORTH
        won: i64 = (100_000 if ahead > 0 else -100_000) + 150 * ahead
        return won if camp == 0 else -won

    def _middle(self, at: vec[i64], camp: i64) -> i64:  # noqa: C901 - as above
        """Return the worth in cabrero, where a camp strictly between highest and lowest loses; its distance from its neighbours counts too."""
        end: i64 = at[END]
        own: i64 = at[POINTS + camp]
        took_tricks: i64 = at[TOOK]
        if self.result == MIDDLE_OF_THREE:  # A seat without a trick counts, too.
            took_tricks |= self.bit[self.camps] - 1
        high: i64 = -1
        low: i64 = 9999
        takers: i64 = 0
        near: i64 = SAFE
        above: bool = False
        below: bool = False
        i: i64 = 0
        while i < self.camps:
            have: i64 = at[POINTS + i]
            if took_tricks & self.bit[i]:
                takers += 1
                high = max(high, have)
                low = min(low, have)
            if i != camp:
                if have >= own:
                    above = True
                    near = min(near, have - own)
                else:
                    below = True
                    near = min(near, own - have)
            i += 1
        at_top: i64 = 0
        between: i64 = 0
        i = 0
        while i < self.camps:
            if took_tricks & self.bit[i]:
                if at[POINTS + i] == high:
                    at_top += 1
                elif at[POINTS + i] != low:
                    between += 1
            i += 1
        lost: i64 = 0
        others: i64 = 0
        i = 0
        while i < self.camps:
            took: bool = took_tricks & self.bit[i] != 0
            loses: bool = False
            if end > TUTE:
                loses = end != TUTE + 1 + i
            elif takers == 1:
                # One camp has won every trick: the others lose, unless it has sung.
                loses = took == (at[TOOK] >> SANG != 0)
            elif took:
                have = at[POINTS + i]
                if between:
                    loses = low < have < high
                elif takers == 2 and high != low:
                    loses = have == low
                elif have == high:
                    loses = at_top > 1 or (self.result == MIDDLE_OF_THREE and takers > 1)
                else:
                    loses = takers - at_top > 1 and self.result == MIDDLE
            if loses:
                if i == camp:
                    lost = 1
                else:
                    others += 1
            i += 1
        distance: i64 = 50_000 * near // SAFE
        if above and below:
            distance = -distance
        return 100_000 * others // max(1, self.camps - 1) - 100_000 * lost + distance

    def _most_loses(self, at: vec[i64], camp: i64) -> i64:
        """Return the worth in gana-pierde for four or five, where the most points lose, but 101 win; the lead over the next counts too."""
        top: i64 = 0
        most: i64 = 0
        i: i64 = 0
        while i < self.camps:
            if at[POINTS + i] > at[POINTS + top]:
                top = i
            if i != camp:
                most = max(most, at[POINTS + i])
            i += 1
        if at[POINTS + top] >= 202:
            return 100_000 if top == camp else -100_000
        lead: i64 = max(-SAFE, min(SAFE, at[POINTS + camp] - most))
        return (-100_000 if top == camp else 100_000 // (self.camps - 1)) - 50_000 * lead // SAFE

    def _tricks(self, at: vec[i64], camp: i64) -> i64:
        """Return the worth in podrida, where a seat needs exactly as many tricks as it has predicted."""
        short: i64 = self.predicted[camp] - at[POINTS + camp]
        return -12_000 - 3_000 * (short if short > 0 else -short) if short else 0

    def _prize(self, own: i64, most: i64, end: i64, camp: i64) -> i64:
        """Return the worth in arrastrado: the winner takes a prize from each, double with 101 points or a tute; every song is paid at once."""
        wins: bool = own >= most
        double: bool = max(own, most) >= 202
        if end > TUTE:
            wins = end == TUTE + 1 + camp
            double = True
        prize: i64 = 200_000 if double else 100_000
        return (prize if wins else -prize // 2) + 150 * own


def _sums(weights: tuple[int, ...]) -> list[int]:
    """Return, for each mask of a suit, the sum of the weights of its cards."""
    return [sum([weight for place, weight in enumerate(weights) if mask >> place & 1]) for mask in range(1024)]
