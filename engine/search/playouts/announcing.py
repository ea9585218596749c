"""Songs, tutes and exchanges in machine words: `songs` and `exchanges` of `engine.match.trick`.

What a seat may announce is a mask of the bits below, lowest first, in the order in which `legal_actions` gives the same actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.cards.pack import NO_SUIT
from engine.search.playouts import codes
from engine.search.playouts.lane import OTHER, TARGET, Lane, cut_short
from engine.search.playouts.words import FOLD

if TYPE_CHECKING:
    from mypy_extensions import i64

SONG: Final = 1  # << suit
TUTE: Final = 16  # << rank of TUTE_RANKS
SEVEN: Final = 128
TWO: Final = 256
ACCUSE: Final = 512


def holds_a_song(t: Lane, hand: i64) -> bool:
    """Whether a hand holds a pair or four of a rank at all."""
    songs = t.program.songs
    if (hand >> songs.shift) & hand & songs.low:
        return True
    if songs.tute:
        four = songs.tutes
        return (
            (four[0] != 0 and hand & four[0] == four[0])
            or (four[1] != 0 and hand & four[1] == four[1])
            or (four[2] != 0 and hand & four[2] == four[2])
        )
    return False


def declarations(t: Lane, seat: i64, hand: i64) -> i64:  # noqa: C901 - written out like its twin in engine.match
    """Songs and tutes that a seat, whose hand holds some, may declare in window B."""
    songs, bit = t.program.songs, t.program.cards.bit
    winner: i64 = t.last_trick
    if winner < 0 or songs.who == codes.NO_SONGS or t.n < songs.min_stock or t.capote_by >= 0:
        return 0
    if not _is_singer(t, seat, winner) or (t.table_song and not songs.after_table_song):
        return 0
    if t.window[seat] >= songs.limit:
        return 0
    tute = songs.tute
    if (songs.first_trick_only or songs.tute_first_trick_only) and _side_tricks(t, seat) != 1:
        if songs.first_trick_only:
            return 0
        tute = False
    if songs.before_draw and t.drew:
        hand &= ~t.drawn[seat]
    found: i64 = 0
    pairs: i64 = (hand >> songs.shift) & hand & songs.low
    suit: i64 = 0
    while suit < 4:
        if (
            pairs & t.program.cards.suit[suit]
            and not t.sung & bit[suit]
            and (suit != t.trump or _forty_in_order(t, seat))
        ):
            found |= bit[suit]
        suit += 1
    if tute:
        rank: i64 = 0
        while rank < 3:
            four: i64 = songs.tutes[rank]
            if four and hand & four == four:
                found |= bit[4 + rank]
            rank += 1
    return found


def _is_singer(t: Lane, seat: i64, winner: i64) -> bool:
    songs = t.program.songs
    if songs.any_winner:
        return t.tricks[seat] > 0
    if songs.who == codes.BY_SIDE:
        return t.side[seat] == t.side[winner]
    if seat != winner:
        return False
    if songs.who == codes.BY_SOLOIST:
        return seat == t.soloist
    if songs.who == codes.BY_SOLOIST_SIDE:
        return seat == t.soloist or seat == t.partner
    return True


def _side_tricks(t: Lane, seat: i64) -> i64:
    side: i64 = t.side[seat]
    total: i64 = 0
    place: i64 = 0
    while place < t.size:
        there: i64 = t.active[place]
        if t.side[there] == side:
            total += t.tricks[there]
        place += 1
    return total


def _forty_in_order(t: Lane, seat: i64) -> bool:
    songs, bit = t.program.songs, t.program.cards.bit
    if songs.order == codes.ANY_ORDER or songs.trump == songs.other:
        return True
    if songs.order == codes.FORTY_FIRST:
        return not t.twenties & bit[seat]
    if songs.order == codes.FORTY_FIRST_SIDE:
        other: i64 = 0
        while other < t.seats:
            if t.twenties & bit[other] and t.side[other] == t.side[seat]:
                return False
            other += 1
        return True
    return not t.window_others & bit[seat]


def sing(t: Lane, seat: i64, suit: i64) -> None:
    """Scores a song from the hand."""
    songs, bit = t.program.songs, t.program.cards.bit
    t.songs[seat] = t.songs[seat] + (songs.trump if suit == t.trump else songs.other)
    t.singers |= bit[seat]
    t.sung |= bit[suit]
    t.window[seat] = t.window[seat] + 1
    t.in_window = True
    if suit != t.trump:
        t.window_others |= bit[seat]
        t.twenties |= bit[seat]
    reached_by(t, seat)


def reached_by(t: Lane, seat: i64) -> None:
    """Notes when the side of a seat has just reached the target; with `claim_mode: auto` that ends the game."""
    songs = t.program.songs
    if songs.target < 0 or not songs.has_target or t.capote_by >= 0:
        return
    side: i64 = t.side[seat]
    total: i64 = t.totals[side]
    other: i64 = 0
    while other < t.seats:
        if t.side[other] == side:
            total += t.cards[other] + t.songs[other]
            if not t.left and other == t.last_trick:
                total += t.program.counts.last_bonus
        other += 1
    if total < songs.target:
        return
    place: i64 = 0
    while place < t.n_reached and t.reached[place] != side:
        place += 1
    if place == t.n_reached:
        t.reached[place] = side
        t.n_reached += 1
    if songs.auto and t.game_deal >= songs.auto_from:
        cut_short(t, TARGET, side, 0)


def table_songs(t: Lane) -> None:
    """Pairs that lie in the completed trick score for its winner."""
    songs, cards = t.program.songs, t.program.cards
    pairs: i64 = (t.table >> songs.shift) & t.table & songs.low
    t.table_song = pairs != 0
    if not pairs:
        return
    suit: i64 = 0
    if songs.best_only and pairs & (pairs - 1):
        worth: i64 = 0  # the first of those that are worth most
        best: i64 = 0
        while suit < 4:
            if pairs & cards.suit[suit]:
                here: i64 = pairs & cards.suit[suit]
                value: i64 = songs.trump if suit == t.trump else songs.other
                if not best or value > worth:
                    best = here
                    worth = value
            suit += 1
        pairs = best
        suit = 0
    while suit < 4:
        if pairs & cards.suit[suit]:
            _table_song(t, suit)
        suit += 1


def _table_song(t: Lane, suit: i64) -> None:
    songs, bit = t.program.songs, t.program.cards.bit
    points: i64 = songs.trump if suit == t.trump else songs.other
    if songs.table == codes.FIRST_40:
        points = 20 if t.table_pairs else 40
    t.table_pairs += 1
    t.songs[t.winner] = t.songs[t.winner] + points
    t.table_singers |= bit[t.winner]
    t.sung |= bit[suit]
    if songs.makes_trump and t.trump == NO_SUIT:
        t.trump = suit


# ---- exchanges


def exchanges(t: Lane, seat: i64) -> i64:
    """The exchanges a seat may make in a window or at its own turn, the moment being one of the game's."""
    swaps = t.program.swaps
    if t.shown < 0 or t.trump == NO_SUIT or t.capote_by >= 0 or t.n < swaps.min_stock:
        return 0
    if swaps.deferred and t.pending >= 0:
        return 0
    return given(t, t.hands[seat])


def given(t: Lane, hand: i64) -> i64:
    """SEVEN and TWO for the cards of a hand that may be given for the shown one."""
    swaps = t.program.swaps
    found: i64 = 0
    if hand & swaps.seven[t.shown]:
        found = SEVEN
    if hand & swaps.two[t.shown] and not (t.swapped and swaps.chained[t.shown]):
        found |= TWO
    return found


def exchange(t: Lane, seat: i64, what: i64) -> None:
    """Carries out an exchange: at once, or as a notice laid under the shown card."""
    swaps, cards = t.program.swaps, t.program.cards
    card: i64 = swaps.seven[t.shown] if what == SEVEN else swaps.two[t.shown]
    if swaps.deferred:
        t.hands[seat] = t.hands[seat] ^ card
        t.pending = seat
        t.pending_card = card
        return
    t.hands[seat] = t.hands[seat] ^ card ^ cards.bit[t.shown]
    t.shown = cards.place[card % FOLD]
    t.swapped = True


def carry_out(t: Lane, seat: i64, what: i64) -> None:
    """An announcement. May end the deal."""
    if what < TUTE:
        suit: i64 = 0
        while t.program.cards.bit[suit] != what:
            suit += 1
        sing(t, seat, suit)
    elif what < SEVEN:
        t.tute_by = seat
        t.ended = True
    elif what < ACCUSE:
        exchange(t, seat, what)
    else:
        cut_short(t, OTHER, -1, t.program.cards.bit[seat])  # nobody revokes in a playout, so nothing is proven
