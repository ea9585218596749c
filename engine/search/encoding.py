"""Observations in bytes, and actions as a dense range, for learning: one layout for every game.

Actions: the numbers of `engine.cards.actions` stay the same up to the highest bid. A change of cards (bato) has no small number there; here it is one
of the 32 subsets of the hand, whose cards are in ascending order.

An observation holds all that a seat may know in `SIZE` bytes, one per number. Seats are counted from the observer: 0 is the observer, 1 the next in
order of play. A list by seat has seven places, whatever the number of players; the eighth byte of each row of eight is another number, or 0.

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
from engine.match.view import played_masks, quiet
from engine.search.kernel.codes import DISCARDS
from engine.search.masks import block, words

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.game import Game
    from engine.match.data import Data
    from engine.match.state import State

SEATS: Final = 7
ACTIONS: Final = DISCARDS + 32
WORDS: Final = 20
SIZE: Final = 8 * WORDS  # bytes of an observation
SUMS: Final = 10  # number of words by seat, from CAPTURED on
CAPTURED: Final = 10
MOST: Final = 255
NO_CHIPS: Final = 8388608

# parts of the byte of a card
OWN: Final = 1
ON_TABLE: Final = 2
WINNING: Final = 4
GONE: Final = 8
SHOWN: Final = 16
OF_SONG: Final = 32


# ---- actions


def index(state: State, action: int) -> int:
    """Return the dense number, 0 to ACTIONS - 1, of an action that is legal in this state."""
    return legal(state)[state.legal_actions().index(action)]


def action(state: State, number: int) -> int:
    """Return the action of a dense number; the inverse of `index` in the same state."""
    if number < DISCARDS:
        return number
    hand, subset = state.hand_of(state.turn), number - DISCARDS
    return act.discard(tuple([card for place, card in enumerate(hand) if subset >> place & 1]))


def legal(state: State) -> tuple[int, ...]:
    """Return the dense numbers of the legal actions, in the order of `legal_actions`."""
    actions = state.legal_actions()
    if state.phase is not CHANGE:
        return actions
    hand = state.hand_of(state.turn)
    numbers: list[int] = []
    for action in actions:
        code: i64 = action - act.DISCARD
        if code < 0:
            numbers.append(action)
            continue
        subset: i64 = 0
        bit: i64 = 1
        place: i64 = 0
        while code:  # The cards of a discard are in the order of the hand.
            card: i64 = code % 53 - 1
            while hand[place] != card:
                bit += bit
                place += 1
            subset += bit
            code //= 53
        numbers.append(int(DISCARDS + subset))
    return tuple(numbers)


# The highest dense number that each stage before the first lead may ask for.
_STAGES = {
    "change_cards": ACTIONS - 1,
    "predictions": act.PREDICT + 17,
    "call_card": act.CALL + 51,
    "name_trump": act.TRUMP + 3,
}


def width(game: Game) -> int:
    """Return the length of a mask: one more than the highest dense number that a match of this game can ask for."""
    highest = act.ACCUSE + 5 if game.accuses else act.PLAY + 1
    for stage in game.stages:  # Neither eliminations nor a final duel add a stage.
        highest = max(highest, _STAGES.get(stage.__name__, 0))
        if stage.__name__ in ("points_auction", "censor"):
            highest = max(highest, act.BID + (game.rules.max_bid or 0))
    return highest + 1


# ---- observations


@final
class LookUpTables:
    """Look-up tables of a pack, built once, so that a thousand matches share their cache lines."""

    def __init__(self, pack_size: int) -> None:
        self.byte: vec[i64] = words([256**place for place in range(8)])
        self.spread: vec[i64] = words([_spread(mask) for mask in range(256)])  # eight bits to eight bytes
        self.place: vec[i64] = words([card // pack_size * 16 + card % pack_size for card in range(4 * pack_size)])
        self.full: vec[i64] = words([256**seats - 1 for seats in range(SEATS + 1)])


def _spread(mask: int) -> int:
    return sum([256**bit for bit in range(8) if mask >> bit & 1])


_TABLES: dict[int, LookUpTables] = {}


def tables(pack_size: int) -> LookUpTables:
    """Return the tables for packs with this many cards a suit."""
    shared = _TABLES.get(pack_size)
    if shared is None:
        shared = _TABLES[pack_size] = LookUpTables(pack_size)
    return shared


def write(state: Data, seat: int, out: vec[i64], start: i64) -> None:
    """Write the observation of a seat to `WORDS` words from `start` on. It reads no hidden cards except the seat's own hand."""
    shared = tables(state.game.pack.size)
    byte = shared.byte
    lying = state.table if state.in_trick else []
    _write_cards(shared, state, seat, lying, out, start)
    row: i64 = byte[7] * (state.lead if lying else NO_SUIT)
    if lying:
        first = state.active.index(state.turn) - len(lying)
        for number, card in enumerate(lying):
            row += byte[(state.active[(first + number) % state.size] - seat) % state.seats] * (card + 1)
    out[start + 8] = row
    soloist: int | None = state.notes.get("soloist")
    out[start + 9] = (
        state.trump
        + byte[1] * ((state.dealer - seat) % state.seats)
        + byte[2] * (SEATS if soloist is None else (soloist - seat) % state.seats)
        + byte[3] * state.n
        + byte[4] * (state.notes.get("bid") or 0)
        + byte[5] * min(MOST, state.deal_no)
        + byte[6] * state.seats
    )
    _write_counts(shared, state, seat, out, start + CAPTURED)


def _write_cards(shared: LookUpTables, state: Data, seat: int, lying: list[int], out: vec[i64], at: i64) -> None:
    """Write the words of the cards; `lying` are the cards of the trick on the table."""
    spread = shared.spread
    hand, gone = state.hands[seat], played_masks(state)
    for card in lying:
        gone[state.suit_of[card]] &= ~state.bit_of[card]
    suit: i64 = 0
    while suit < 4:
        own: i64 = hand[suit]
        away: i64 = gone[suit]
        out[at + suit + suit] = spread[own & MOST] | spread[away & MOST] * GONE
        out[at + suit + suit + 1] = spread[own >> 8] | spread[away >> 8] * GONE
        suit += 1
    for card in lying:
        _mark(shared, out, at, card, ON_TABLE)
    if lying:
        _mark(shared, out, at, state.best, WINNING)
    if state.shown >= 0:
        _mark(shared, out, at, state.shown, SHOWN)
    hidden: tuple[int, ...] = state.notes.get("hidden_songs", ())
    pair: i64 = state.game.pair
    for singer, sung, _, _ in state.songs_made:
        if singer == seat or sung not in hidden:
            word: i64 = at + sung + sung
            out[word] = out[word] | spread[pair & MOST] * OF_SONG
            out[word + 1] = out[word + 1] | spread[pair >> 8] * OF_SONG


def _mark(shared: LookUpTables, out: vec[i64], start: i64, card: int, what: i64) -> None:
    place: i64 = shared.place[card]
    out[start + (place >> 3)] = out[start + (place >> 3)] | shared.byte[place & 7] * what


def _write_counts(shared: LookUpTables, state: Data, seat: int, out: vec[i64], at: i64) -> None:
    """Write the words by seat, the observer first."""
    predictions: dict[int, int] = state.notes.get("predictions", {})
    byte, seats = shared.byte, state.seats
    word: i64 = 0
    while word < SUMS:
        out[at + word] = 0
        word += 1
    place: i64 = 0
    other = seat
    while place < seats:
        side = state.side[other]
        unit: i64 = byte[place]
        chips: i64 = min(2 * NO_CHIPS - 1, max(0, state.chips[other] + NO_CHIPS))
        predicted: i64 = predictions.get(other, -1) + 1
        out[at] = out[at] + unit * state.cards[other]
        out[at + 1] = out[at + 1] + unit * state.songs[other]
        out[at + 2] = out[at + 2] + unit * state.tricks[other]
        out[at + 3] = out[at + 3] + unit * min(MOST, max(0, state.totals[side]))
        out[at + 4] = out[at + 4] + unit * min(MOST, state.games[side])
        out[at + 5] = out[at + 5] + unit * min(MOST, state.marks[other])
        out[at + 6] = out[at + 6] + unit * predicted
        out[at + 7] = out[at + 7] + unit * (chips & MOST)
        out[at + 8] = out[at + 8] + unit * (chips >> 8 & MOST)
        out[at + 9] = out[at + 9] + unit * (chips >> 16)
        place += 1
        other = 0 if other + 1 == seats else other + 1


def observation(state: State, seat: int) -> bytes:
    """Return the observation of a seat, `SIZE` bytes. While another seat is asked in secret, it shows the position as if nobody were asked."""
    out = block(WORDS)
    write(quiet(state, seat), seat, out, 0)
    return memoryview(out).tobytes()
