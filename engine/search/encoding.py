"""What a seat may know, in bytes, and actions as a dense range: the same layout for every game, made for learning.

Actions: the numbers of `engine.cards.actions` up to the highest bid are kept as they are; a change of cards (bato), whose number grows with the
cards, becomes one of 32 subsets of the hand in ascending order of its cards.

An observation is `SIZE` bytes, a byte a number. Seats are counted from the observer: 0 is the observer, 1 the next in order of play. A list by
seat has seven places, whatever the number of players; the eighth byte of each row of eight is another number, or 0.

    start  bytes  what
    0      64     cards: 16 places for each suit, the weakest card first (an ace of coins stands at 9). The sum of
                  1 own hand, 2 on the table, 4 winning the trick, 8 played in earlier tricks or out of play, 16 shown card,
                  32 of a song announced in this deal
    64     7      the card of each seat in the trick on the table, its number + 1; 0: none
    71     1      lead suit of the trick, 4 between tricks
    72     8      trump (0 to 3, 4 none); dealer; soloist (7 nobody); stock; bid; deal (at most 255); players; 0
    80     7      card points captured in the deal, by seat
    88     7      points of songs in the deal, by seat
    96     7      tricks won in the deal, by seat
    104    7      points carried from earlier deals of the game, by seat (at most 255)
    112    7      games won, by seat (at most 255)
    120    7      loss marks, by seat (at most 255)
    128    7      tricks predicted + 1, by seat; 0: has not spoken
    136    3 x 7  chips + 2**23, by seat: the low bytes, from 144 on the middle ones, from 152 on the high ones
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match.opening.joining import CHANGE
from engine.match.view import played, quiet
from engine.search.playouts.words import block, words

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.game import Game
    from engine.match.data import Data
    from engine.match.state import State

SEATS: Final = 7
DISCARDS: Final = act.BID + 231  # first number of the subsets of a hand, which has five cards at most
ACTIONS: Final = DISCARDS + 32
WORDS: Final = 20
SIZE: Final = 8 * WORDS  # bytes of an observation
SUMS: Final = 10  # words by seat, from CAPTURED on
CAPTURED: Final = 10
MOST: Final = 255
NO_CHIPS: Final = 8388608

# what a byte of a card is the sum of
OWN: Final = 1
ON_TABLE: Final = 2
WINNING: Final = 4
GONE: Final = 8
SHOWN: Final = 16
OF_SONG: Final = 32


# ---- actions


def index(state: State, action: int) -> int:
    """The dense number, 0 to ACTIONS - 1, of an action that is legal in this state."""
    return legal(state)[state.legal_actions().index(action)]


def action(state: State, number: int) -> int:
    """The action of a dense number; the inverse of `index` in the same state."""
    if number < DISCARDS:
        return number
    hand, subset = state.hand_of(state.turn), number - DISCARDS
    return act.discard(tuple([card for place, card in enumerate(hand) if subset >> place & 1]))


def legal(state: State) -> tuple[int, ...]:
    """Dense numbers of the legal actions, in the order of `legal_actions`."""
    actions = state.legal_actions()
    if state.phase is not CHANGE:
        return actions
    hand = state.hand_of(state.turn)
    found: list[int] = []
    for one in actions:
        code: i64 = one - act.DISCARD
        if code < 0:
            found.append(one)
            continue
        subset: i64 = 0
        bit: i64 = 1
        place: i64 = 0
        while code:  # its cards stand in the order of the hand
            card: i64 = code % 53 - 1
            while hand[place] != card:
                bit += bit
                place += 1
            subset += bit
            code //= 53
        found.append(int(DISCARDS + subset))
    return tuple(found)


# the highest dense number that a stage before the first lead may ask for
_STAGES = {
    "change_cards": ACTIONS - 1,
    "predictions": act.PREDICT + 17,
    "call_card": act.CALL + 51,
    "name_trump": act.TRUMP + 3,
}


def width(game: Game) -> int:
    """One more than the highest dense number that a match of this game can ask for: so long is a mask."""
    highest = act.ACCUSE
    for stage in game.stages:  # with fewer seats left, or in a final duel, nothing is added to them
        highest = max(highest, _STAGES.get(stage.__name__, 0))
        if stage.__name__ in ("points_auction", "censor"):
            highest = max(highest, act.BID + (game.rules.max_bid or 0))
    return highest + 1


# ---- observations


@final
class Tables:
    """What is looked up for a pack: made once, so that a thousand matches share its cache lines."""

    def __init__(self, pack_size: int) -> None:
        self.byte: vec[i64] = words([256**place for place in range(8)])
        self.spread: vec[i64] = words([_spread(mask) for mask in range(256)])  # eight bits to eight bytes
        self.place: vec[i64] = words([card // pack_size * 16 + card % pack_size for card in range(4 * pack_size)])
        self.full: vec[i64] = words([256**seats - 1 for seats in range(SEATS + 1)])


def _spread(mask: int) -> int:
    return sum([256**bit for bit in range(8) if mask >> bit & 1])


_TABLES: dict[int, Tables] = {}


def tables(pack_size: int) -> Tables:
    """The tables for packs of so many cards a suit."""
    found = _TABLES.get(pack_size)
    if found is None:
        found = _TABLES[pack_size] = Tables(pack_size)
    return found


@final
class Sight:
    """What everybody sees of one match, in words of eight bytes.

    Kept along while it is played (`begin`, `after`), or worked out of a state (`look`).
    """

    def __init__(self, shared: Tables) -> None:
        self.byte: vec[i64] = shared.byte
        self.spread: vec[i64] = shared.spread
        self.place: vec[i64] = shared.place
        self.full: vec[i64] = shared.full
        self.on_table: i64 = ON_TABLE * 0x0101010101010101
        self.public: vec[i64] = words([0] * 8)  # the cards that lie or lay on the table
        self.table: i64 = 0  # by seat: its card in the trick + 1
        self.sums: vec[i64] = words([0] * SUMS)  # by seat, counted from seat 0
        self.soloist: i64 = -1
        self.bid: i64 = 0
        self.deal: i64 = 0

    def begin(self, state: Data) -> None:
        """A deal begins, or begins anew."""
        public = self.public
        word: i64 = 0
        while word < 8:
            public[word] = 0
            word += 1
        self.table = 0
        self.deal = state.deal_no
        self._count_all(state)

    def look(self, state: Data) -> None:
        """Takes in a state of which nothing is known yet."""
        self.begin(state)
        lying = state.table if state.in_trick else []
        for card in played(state):
            if card not in lying:
                self._mark(card, GONE)
        if not lying:
            return
        place = state.active.index(state.turn) - len(lying)
        for number, card in enumerate(lying):
            self._mark(card, ON_TABLE)
            self.table += self.byte[state.active[(place + number) % state.size]] * (card + 1)

    def after(self, state: Data, action: i64, seat: i64) -> None:
        """Follows an action that a seat has taken; the match goes on."""
        if state.deal_no != self.deal:
            self.begin(state)
            return
        if action >= act.PLAY_END:
            self._count_all(state)
            return
        byte, public = self.byte, self.public
        place: i64 = self.place[action]
        word: i64 = place >> 3
        public[word] = public[word] + byte[place & 7] * ON_TABLE
        if state.best_suit != NO_SUIT:
            self.table += byte[seat] * (action + 1)
            return
        self.table = 0
        lying: i64 = self.on_table
        word = 0
        while word < 8:
            there: i64 = public[word] & lying
            if there:
                public[word] = public[word] + there + there + there  # from ON_TABLE to GONE
            word += 1
        self._count(state)

    def _mark(self, card: i64, what: i64) -> None:
        place: i64 = self.place[card]
        self.public[place >> 3] = self.public[place >> 3] | self.byte[place & 7] * what

    def _count(self, state: Data) -> None:
        """What the end of a trick changes."""
        byte, sums, cards, songs, tricks = self.byte, self.sums, state.cards, state.songs, state.tricks
        seats: i64 = state.seats
        seat: i64 = 0
        points: i64 = 0
        sung: i64 = 0
        won: i64 = 0
        while seat < seats:
            unit: i64 = byte[seat]
            points += unit * cards[seat]
            sung += unit * songs[seat]
            won += unit * tricks[seat]
            seat += 1
        sums[0] = points
        sums[1] = sung
        sums[2] = won

    def _count_all(self, state: Data) -> None:
        """What an announcement or a new deal may change."""
        self._count(state)
        byte, sums, notes, side = self.byte, self.sums, state.notes, state.side
        predictions: dict[int, int] = notes.get("predictions", {})
        word: i64 = 3
        while word < SUMS:
            sums[word] = 0
            word += 1
        seat: i64 = 0
        while seat < state.seats:
            unit: i64 = byte[seat]
            sums[3] = sums[3] + unit * min(MOST, max(0, state.totals[side[seat]]))
            sums[4] = sums[4] + unit * min(MOST, state.games[side[seat]])
            sums[5] = sums[5] + unit * min(MOST, state.marks[seat])
            said: int = predictions.get(int(seat), -1)
            sums[6] = sums[6] + unit * (said + 1)
            chips: i64 = min(2 * NO_CHIPS - 1, max(0, state.chips[seat] + NO_CHIPS))
            sums[7] = sums[7] + unit * (chips & MOST)
            sums[8] = sums[8] + unit * (chips >> 8 & MOST)
            sums[9] = sums[9] + unit * (chips >> 16)
            seat += 1
        soloist: int | None = notes.get("soloist")
        self.soloist = -1 if soloist is None else soloist
        bid: int | None = notes.get("bid")
        self.bid = bid or 0

    def write(self, state: Data, seat: i64, out: vec[i64], start: i64) -> None:
        """Writes what a seat may know to `WORDS` words from `start` on. Nothing but its own hand is read that others do not see."""
        byte, public, spread, sums = self.byte, self.public, self.spread, self.sums
        seats: i64 = state.seats
        hand = state.hands[seat]
        suit: i64 = 0
        at: i64 = start
        while suit < 4:
            held: i64 = hand[suit]
            out[at] = public[suit + suit] | spread[held & MOST]
            out[at + 1] = public[suit + suit + 1] | spread[held >> 8]
            at += 2
            suit += 1
        turn: i64 = 8 * seat
        back: i64 = 8 * (seats - seat)
        full: i64 = self.full[seats]
        table: i64 = self.table
        if table:
            winner: i64 = state.winner
            place: i64 = self.place[((table >> (8 * winner)) & MOST) - 1]
            out[start + (place >> 3)] = out[start + (place >> 3)] | byte[place & 7] * WINNING
            out[start + 8] = (table >> turn | (table << back) & full) | byte[7] * state.lead
        else:
            out[start + 8] = byte[7] * NO_SUIT
        if state.shown >= 0:
            place = self.place[state.shown]
            out[start + (place >> 3)] = out[start + (place >> 3)] | byte[place & 7] * SHOWN
        if state.songs_made:
            self._songs(state, seat, out, start)
        dealer: i64 = state.dealer - seat
        soloist: i64 = SEATS
        if self.soloist >= 0:
            soloist = self.soloist - seat
            if soloist < 0:
                soloist += seats
        if dealer < 0:
            dealer += seats
        out[start + 9] = (
            state.trump
            + byte[1] * dealer
            + byte[2] * soloist
            + byte[3] * state.n
            + byte[4] * self.bid
            + byte[5] * min(MOST, state.deal_no)
            + byte[6] * seats
        )
        at = start + CAPTURED
        word: i64 = 0
        while word < SUMS:
            there: i64 = sums[word]
            out[at] = there >> turn | (there << back) & full if there else 0
            at += 1
            word += 1

    def _songs(self, state: Data, seat: i64, out: vec[i64], start: i64) -> None:
        hidden: tuple[int, ...] = state.notes.get("hidden_songs", ())
        pair: i64 = state.game.pair
        for singer, suit, _, _ in state.songs_made:
            if singer == seat or suit not in hidden:
                at: i64 = start + suit + suit
                out[at] = out[at] | self.spread[pair & MOST] * OF_SONG
                out[at + 1] = out[at + 1] | self.spread[pair >> 8] * OF_SONG


def observation(state: State, seat: int) -> bytes:
    """What a seat may know at any moment, `SIZE` bytes. While another seat is asked in secret it is that of a moment in which nobody is asked."""
    seen = quiet(state, seat)
    sight = Sight(tables(state.game.pack.size))
    sight.look(seen)
    out = block(WORDS)
    sight.write(seen, seat, out, 0)
    return memoryview(out).tobytes()
