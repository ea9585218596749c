"""Observations from the kernel: all that the seat on turn may know, in the bytes that `encoding.observation` writes for a `State`."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from engine.cards.pack import NO_SUIT
from engine.search import encoding
from engine.search.encoding import GONE, MOST, NO_CHIPS, OF_SONG, ON_TABLE, SEATS, SHOWN, WINNING
from engine.search.kernel import codes
from engine.search.masks import FOLD

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.rules.terms import Terms
    from engine.search.kernel.state import KernelState


@final
class ObservationWriter:
    """A writer of observations of one game. All matches share its look-up tables."""

    def __init__(self, game: Terms) -> None:
        shared = encoding.tables(game.pack.size)
        self.byte: vec[i64] = shared.byte
        self.spread: vec[i64] = shared.spread
        self.place: vec[i64] = shared.place
        self.seats: i64 = game.players
        self.full: i64 = shared.full[game.players]
        self.size: i64 = game.pack.size
        self.ranks: i64 = 2**game.pack.size - 1  # the cards of one suit
        self.weak_pair: i64 = self.spread[game.pair & MOST] * OF_SONG
        self.strong_pair: i64 = self.spread[game.pair >> 8] * OF_SONG
        self.predicts: bool = "predictions" in [stage.__name__ for stage in game.stages]
        self.no_chips: i64 = sum([NO_CHIPS // 65536 * 256**seat for seat in range(game.players)])

    def write(self, t: KernelState, out: vec[i64], start: i64) -> None:
        """Write `encoding.WORDS` words from `start` on. It reads no hidden cards except the hand of the seat on turn."""
        byte, place = self.byte, self.place
        seat: i64 = t.turn
        seats: i64 = self.seats
        self._cards(t, out, start)
        if t.in_trick:
            best: i64 = place[t.program.cards.place[t.best % FOLD]]
            out[start + (best >> 3)] = out[start + (best >> 3)] | byte[best & 7] * WINNING
            turned: i64 = t.lying >> 8 * seat | (t.lying << 8 * (seats - seat)) & self.full
            out[start + 8] = turned | byte[7] * t.lead
        else:
            out[start + 8] = byte[7] * NO_SUIT
        if t.shown >= 0:
            shown_card: i64 = place[t.shown]
            out[start + (shown_card >> 3)] = out[start + (shown_card >> 3)] | byte[shown_card & 7] * SHOWN
        if t.sung:
            self._songs(t, out, start)
        dealer: i64 = t.dealer - seat
        if dealer < 0:
            dealer += seats
        soloist: i64 = SEATS
        if t.soloist >= 0:
            soloist = t.soloist - seat
            if soloist < 0:
                soloist += seats
        out[start + 9] = (
            t.trump
            + byte[1] * dealer
            + byte[2] * soloist
            + byte[3] * t.n
            + byte[4] * t.bid
            + byte[5] * min(MOST, t.deal_no)
            + byte[6] * seats
        )
        self._counts(t, out, start + encoding.CAPTURED)

    def _cards(self, t: KernelState, out: vec[i64], start: i64) -> None:
        """Write hand, trick, and completed tricks."""
        spread, ranks = self.spread, self.ranks
        hand: i64 = t.hands[t.turn]
        table: i64 = t.table if t.in_trick else 0
        away: i64 = t.away
        at: i64 = start
        end: i64 = start + 8
        while at < end:
            out[at] = spread[hand & MOST] | spread[table & MOST] * ON_TABLE | spread[away & MOST] * GONE
            out[at + 1] = (
                spread[(hand & ranks) >> 8]
                | spread[(table & ranks) >> 8] * ON_TABLE
                | spread[(away & ranks) >> 8] * GONE
            )
            hand >>= self.size
            table >>= self.size
            away >>= self.size
            at += 2

    def _songs(self, t: KernelState, out: vec[i64], start: i64) -> None:
        bit = t.program.cards.bit
        suit: i64 = 0
        while suit < 4:
            if t.sung & bit[suit] and (not t.hidden & bit[suit] or t.singer[suit] == t.turn):
                at: i64 = start + suit + suit
                out[at] = out[at] | self.weak_pair
                out[at + 1] = out[at + 1] | self.strong_pair
            suit += 1

    def _counts(self, t: KernelState, out: vec[i64], at: i64) -> None:
        """Write the words by seat, the observer first."""
        byte, cards, songs, tricks = self.byte, t.cards, t.songs, t.tricks
        seats: i64 = self.seats
        captured: i64 = 0
        sung: i64 = 0
        won: i64 = 0
        other: i64 = t.turn
        place: i64 = 0
        while place < seats:
            unit: i64 = byte[place]
            captured += unit * cards[other]
            sung += unit * songs[other]
            won += unit * tricks[other]
            place += 1
            other += 1
            if other == seats:
                other = 0
        out[at] = captured
        out[at + 1] = sung
        out[at + 2] = won
        out[at + 3] = out[at + 4] = out[at + 5] = out[at + 6] = out[at + 7] = out[at + 8] = 0
        out[at + 9] = self.no_chips
        kind: i64 = t.program.stakes.settlement
        if kind == codes.CHIPS:  # Antes are paid before the first deal.
            self._chips(t, out, at)
        elif t.deal_no > 1:
            if kind == codes.GAMES:
                out[at + 3] = self._turned(t, t.totals, 0, True)
                out[at + 4] = self._turned(t, t.games, 0, True)
            elif kind == codes.LOSS_MARKS:
                out[at + 5] = self._turned(t, t.marks, 0, False)
        if self.predicts:
            out[at + 6] = self._turned(t, t.predicted, 1, False)

    def _turned(self, t: KernelState, values: vec[i64], more: i64, by_side: bool) -> i64:
        """Return numbers by seat or by side, each plus `more`, as one byte per seat from the observer on."""
        turned: i64 = 0
        other: i64 = t.turn
        place: i64 = 0
        while place < self.seats:
            value: i64 = values[t.side[other] if by_side else other] + more
            turned += self.byte[place] * min(MOST, max(0, value))
            place += 1
            other += 1
            if other == self.seats:
                other = 0
        return turned

    def _chips(self, t: KernelState, out: vec[i64], at: i64) -> None:
        low: i64 = 0
        middle: i64 = 0
        high: i64 = 0
        other: i64 = t.turn
        place: i64 = 0
        while place < self.seats:
            unit: i64 = self.byte[place]
            chips: i64 = min(2 * NO_CHIPS - 1, max(0, t.chips[other] + NO_CHIPS))
            low += unit * (chips & MOST)
            middle += unit * (chips >> 8 & MOST)
            high += unit * (chips >> 16)
            place += 1
            other += 1
            if other == self.seats:
                other = 0
        out[at + 7] = low
        out[at + 8] = middle
        out[at + 9] = high
