"""Chips: `engine.match.scoring.payments`. Each function adds the gains of a deal to `t.chips`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.kernel import codes
from engine.search.kernel.points import seat_points
from engine.search.kernel.state import ALONE, PASSED, SPLIT, KernelState
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def pay(t: KernelState) -> None:
    """Settle by the payments of the game."""
    kind: i64 = t.program.stakes.payments
    if kind == codes.WINNER_AND_SONGS:
        _winner_and_songs(t)
    elif kind == codes.PER_FIVE:
        _per_five(t)
    elif kind == codes.EACH_LOSER:
        _each_loser_to_each_winner(t)
    elif kind == codes.POT_PER_TRICK:
        _pot_per_trick(t)


def share_pot(t: KernelState) -> None:
    """Share the pot equally among all seats; the shares are whole numbers."""
    each: i64 = t.pot // t.seats
    seat: i64 = 0
    while seat < t.seats:
        t.chips[seat] = t.chips[seat] + each
        seat += 1
    t.pot = 0


def _transfer(t: KernelState, payers: i64, receiver: i64, amount: i64) -> None:
    bit, chips = t.program.cards.bit, t.chips
    seat: i64 = 0
    while seat < t.seats:
        if payers & bit[seat]:
            chips[seat] = chips[seat] - amount
            chips[receiver] = chips[receiver] + amount
        seat += 1


def _winner_and_songs(t: KernelState) -> None:
    """Settle arrastrado: everybody pays songs, the losers pay the winner by its points, contracts play for the pot."""
    p, bit = t.program.stakes, t.program.cards.bit
    seat: i64 = 0
    while seat < t.seats:
        if t.songs[seat]:
            _transfer(t, t.playing & ~bit[seat], seat, t.songs[seat])
        seat += 1
    if t.soloist >= 0:
        _pot_deal(t)
    elif t.tute_by >= 0:
        _transfer(t, t.playing & ~bit[t.tute_by], t.tute_by, p.tute)
    elif t.why == SPLIT:
        _split(t)
    elif t.victor >= 0:
        _transfer(t, t.playing & ~bit[t.victor], t.victor, _win_payment(t, t.victor))


def _split(t: KernelState) -> None:
    bit = t.program.cards.bit
    top: i64 = -1
    tied: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if t.playing & bit[seat]:
            points: i64 = seat_points(t, seat)
            if points > top:
                top = points
                tied = 0
            if points == top:
                tied |= bit[seat]
        seat += 1
    n: i64 = count(tied)
    payers: i64 = t.size - n
    if not payers:
        return
    first: i64 = 0  # the first tied seat in order of play
    while not tied & bit[t.active[first]]:
        first += 1
    each: i64 = payers * _win_payment(t, t.active[first]) // n
    rest: i64 = each * n
    place: i64 = 0
    paid: i64 = 0
    while place < t.size:
        seat = t.active[place]
        if tied & bit[seat]:
            t.chips[seat] = t.chips[seat] + each
        else:
            part: i64 = rest // payers + (1 if paid < rest % payers else 0)
            t.chips[seat] = t.chips[seat] - part
            paid += 1
        place += 1


def _win_payment(t: KernelState, seat: i64) -> i64:
    p = t.program.stakes
    points: i64 = seat_points(t, seat)
    if not p.threshold_counts_songs:
        points -= t.songs[seat]
    return p.win_101 if points >= 101 else p.win


def _pot_deal(t: KernelState) -> None:
    p, bit = t.program.stakes, t.program.cards.bit
    soloist: i64 = t.soloist
    others: i64 = t.playing & ~bit[soloist]
    if t.tute_by == soloist or (t.tute_by < 0 and seat_points(t, soloist) >= t.bid):
        _transfer(t, others, soloist, p.contract)
        t.chips[soloist] = t.chips[soloist] + t.pot
        t.pot = 0
    else:
        _transfer(t, others, soloist, -p.contract)
        t.chips[soloist] = t.chips[soloist] - t.pot
        t.pot *= 2


def _per_five(t: KernelState) -> None:
    """Settle subastado and remate: by the bid, between the soloist and each opponent."""
    p = t.program.stakes
    if t.soloist < 0:
        return
    stake: i64 = t.bid // 5 * p.chips_unit
    if t.bid >= p.double_from:
        stake *= 2
    opponents: i64 = t.playing & ~t.program.cards.bit[t.soloist]
    _transfer(t, opponents, t.soloist, stake if t.victor == t.soloist else -stake)


def _each_loser_to_each_winner(t: KernelState) -> None:
    """Settle codillo: a soloist alone counts for two."""
    bit = t.program.cards.bit
    if t.soloist < 0:
        return
    pair: i64 = bit[t.soloist] | bit[t.partner]
    amount: i64 = t.program.stakes.stake
    if t.soloist == t.partner:
        amount *= 2
    if t.losers & bit[t.soloist]:
        amount = -amount
    _transfer(t, t.playing & ~pair, t.soloist, amount)
    if t.soloist != t.partner:
        _transfer(t, t.playing & ~pair, t.partner, amount)


def _pot_per_trick(t: KernelState) -> None:
    """Settle bato: a quarter of the pot for each trick; a seat that fails its commitment pays the pot into the next one."""
    bit, chips = t.program.cards.bit, t.chips
    if t.why == PASSED:
        return
    pot: i64 = t.pot
    t.pot = 0
    if t.why == ALONE:
        chips[t.soloist] = chips[t.soloist] + pot
        return
    seat: i64 = 0
    while seat < t.seats:
        if t.playing & bit[seat]:
            chips[seat] = chips[seat] + t.tricks[seat] * (pot // 4)
        if t.losers & bit[seat]:
            chips[seat] = chips[seat] - pot
            t.pot += pot
        seat += 1
