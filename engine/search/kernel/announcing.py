"""Songs, tutes, exchanges, claims: `songs`, `exchanges` and `turns` of `engine.match.trick`.

Announcements are a mask like `KernelState.extra`: a bit for each action from SING on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match import steps
from engine.search.kernel import codes
from engine.search.kernel.points import best_other, total
from engine.search.kernel.state import OTHER, TARGET, KernelState, cut_short
from engine.search.masks import FOLD

if TYPE_CHECKING:
    from mypy_extensions import i64

# bits of announcements: the action less SING; from bit 32 on, the seats that may be accused
DECLARATIONS: Final = 255  # songs and tutes
CLAIM: Final = 131072
ACCUSED: Final = 4294967296
WORDS: Final = 4294967295  # all bits below `ACCUSED`
BY_CHANCE: Final = 4294836223  # announcements that a playout makes: WORDS less CLAIM


def holds_a_song(t: KernelState, hand: i64) -> bool:
    """Return True if a hand holds a pair or four of a rank."""
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


def declarations(t: KernelState, seat: i64, hand: i64) -> i64:  # noqa: C901 - written out like its twin in engine.match
    """Return the songs and tutes that a seat may declare in window B. Call it only for a hand that holds a pair or a tute."""
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
    legal: i64 = 0
    pairs: i64 = (hand >> songs.shift) & hand & songs.low
    suit: i64 = 0
    while suit < 4:
        if (
            pairs & t.program.cards.suit[suit]
            and not t.sung & bit[suit]
            and (suit != t.trump or _forty_in_order(t, seat))
        ):
            legal |= bit[suit]
        suit += 1
    if tute:
        rank: i64 = 0
        while rank < 3:
            four: i64 = songs.tutes[rank]
            if four and hand & four == four:
                legal |= bit[act.TUTE - act.SING + rank]
            rank += 1
    return legal


def _is_singer(t: KernelState, seat: i64, winner: i64) -> bool:
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


def _side_tricks(t: KernelState, seat: i64) -> i64:
    side: i64 = t.side[seat]
    total: i64 = 0
    place: i64 = 0
    while place < t.size:
        other: i64 = t.active[place]
        if t.side[other] == side:
            total += t.tricks[other]
        place += 1
    return total


def _forty_in_order(t: KernelState, seat: i64) -> bool:
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


def sing(t: KernelState, seat: i64, suit: i64) -> i64:
    """Score a song from the hand, which may end the game."""
    songs, bit = t.program.songs, t.program.cards.bit
    t.songs[seat] = t.songs[seat] + (songs.trump if suit == t.trump else songs.other)
    t.singers |= bit[seat]
    t.sung |= bit[suit]
    t.window[seat] = t.window[seat] + 1
    t.in_window = True
    if suit != t.trump:
        t.window_others |= bit[seat]
        t.twenties |= bit[seat]
        if songs.hides and t.n == 0:
            t.hidden |= bit[suit]
    t.singer[suit] = seat
    return reached_by(t, seat)


def reached_by(t: KernelState, seat: i64) -> i64:
    """Record that the side of a seat has just reached the target. With `claim_mode: auto` that ends the game."""
    songs = t.program.songs
    if songs.target < 0 or not songs.has_target or t.capote_by >= 0:
        return steps.WAIT
    side: i64 = t.side[seat]
    points: i64 = t.totals[side]
    other: i64 = 0
    while other < t.seats:
        if t.side[other] == side:
            points += t.cards[other] + t.songs[other]
            if not t.left and other == t.last_trick:
                points += t.program.counts.last_bonus
        other += 1
    if points < songs.target:
        return steps.WAIT
    place: i64 = 0
    while place < t.n_reached and t.reached[place] != side:
        place += 1
    if place == t.n_reached:
        t.reached[place] = side
        t.n_reached += 1
    if songs.auto and t.game_deal >= songs.claim_from:
        return cut_short(t, TARGET, side, 0)
    return steps.WAIT


def table_songs(t: KernelState) -> None:
    """Score the pairs in the completed trick for its winner."""
    songs, cards = t.program.songs, t.program.cards
    pairs: i64 = (t.table >> songs.shift) & t.table & songs.low
    t.table_song = pairs != 0
    if not pairs:
        return
    suit: i64 = 0
    if songs.best_only and pairs & (pairs - 1):
        worth: i64 = 0  # The first of the dearest pairs.
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


def _table_song(t: KernelState, suit: i64) -> None:
    songs, bit = t.program.songs, t.program.cards.bit
    points: i64 = songs.trump if suit == t.trump else songs.other
    if songs.table == codes.FIRST_40:
        points = 20 if t.table_pairs else 40
    t.table_pairs += 1
    t.songs[t.winner] = t.songs[t.winner] + points
    t.table_singers |= bit[t.winner]
    t.singer[suit] = t.winner
    t.sung |= bit[suit]
    if songs.makes_trump and t.trump == NO_SUIT:
        t.trump = suit


# ---- exchanges


def exchanges(t: KernelState, seat: i64) -> i64:
    """Return the exchanges that a seat may make in a window or at its own turn, if the game allows exchanges then."""
    swaps = t.program.swaps
    if t.shown < 0 or t.trump == NO_SUIT or t.capote_by >= 0 or t.n < swaps.min_stock:
        return 0
    if swaps.deferred and t.pending >= 0:
        return 0
    return possible_exchanges(t, t.hands[seat])


def possible_exchanges(t: KernelState, hand: i64) -> i64:
    """Return the exchanges for which a hand holds the card to give up."""
    swaps, bit = t.program.swaps, t.program.cards.bit
    legal: i64 = 0
    if t.swapped and swaps.barred[t.shown]:
        return legal
    if hand & swaps.seven[t.shown]:
        legal = bit[act.EXCHANGE_SEVEN - act.SING + t.trump]
    if hand & swaps.two[t.shown]:
        legal |= bit[act.EXCHANGE_TWO - act.SING + t.trump]
    return legal


def exchange(t: KernelState, seat: i64, action: i64) -> None:
    """Carry out an exchange: at once, or as a notice under the shown card."""
    swaps, cards = t.program.swaps, t.program.cards
    card: i64 = swaps.seven[t.shown] if action < act.EXCHANGE_TWO else swaps.two[t.shown]
    if swaps.deferred:
        t.hands[seat] = t.hands[seat] ^ card
        t.pending = seat
        t.pending_card = card
        return
    t.hands[seat] = t.hands[seat] ^ card ^ cards.bit[t.shown]
    t.shown = cards.place[card % FOLD]
    t.swapped = True


def carry_out(t: KernelState, action: i64) -> i64:
    """Carry out an announcement of the seat on turn. Returns WAIT if the deal goes on, or the step that ends it."""
    seat: i64 = t.turn
    if action < act.TUTE:
        return sing(t, seat, action - act.SING)
    if action < act.EXCHANGE_SEVEN:
        t.tute_by = seat
        return steps.COUNT
    if action < act.PASS:
        exchange(t, seat, action)
        return steps.WAIT
    return claim(t) if action == act.CLAIM else accuse(t, action)


# ---- claims, accusations


def fix_turns(t: KernelState) -> None:
    """Store the announcements that do not depend on the hand. Call it when a deal begins and after a promise of a capote."""
    p = t.program
    t.own_extra = 0
    t.lead_extra = 0
    if t.capote_by < 0 and t.game_deal >= p.songs.claim_from:
        if p.claims_own:
            t.own_extra |= CLAIM
        if p.claims_after:
            t.lead_extra = CLAIM


def after_trick(t: KernelState, seat: i64) -> i64:
    """Return the announcements of a seat after a trick that do not depend on its hand."""
    if t.last_trick >= 0 and t.side[seat] == t.side[t.last_trick]:
        return t.lead_extra
    return 0


def claim(t: KernelState) -> i64:
    """Carry out a claim of the target: a right one wins the game at once, a wrong one loses it."""
    side: i64 = t.side[t.turn]
    right = total(t, side) >= t.program.counts.target
    return cut_short(t, OTHER, side if right else best_other(t, t.turn), 0)


def accusations(t: KernelState, seat: i64) -> i64:
    """Return the accusations that a seat may make: any other seat of the deal may have revoked."""
    return (t.playing ^ t.program.cards.bit[seat]) * ACCUSED


def accuse(t: KernelState, action: i64) -> i64:
    """Carry out an accusation of a revoke: two marks for the offender, or one for the accuser."""
    bit = t.program.cards.bit
    loser: i64 = action - act.ACCUSE
    marks: i64 = 2
    if not t.revokers & bit[loser]:
        loser = t.turn
        marks = 1
    victor: i64 = -1
    if t.size == 2:
        victor = t.ring[loser]
    return cut_short(t, OTHER, victor, bit[loser], marks)
