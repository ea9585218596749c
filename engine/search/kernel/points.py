"""Points by seat and side, and comparisons of them, for `verdicts` and `paying`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.kernel import codes
from engine.search.kernel.state import KernelState
from engine.search.masks import FOLD, count

if TYPE_CHECKING:
    from mypy_extensions import i64


def seat_points(t: KernelState, seat: i64) -> i64:
    """Return the points of a seat in this deal."""
    p = t.program
    if p.stakes.settlement == codes.PREDICTION_POINTS:
        missed: i64 = t.predicted[seat] - t.tricks[seat]
        if p.counts.hit_or_miss:
            return 0 if missed else 1
        if missed < 0:
            missed = -missed
        return -3 * missed if missed else 10 + 3 * t.predicted[seat]
    points: i64 = t.cards[seat] + t.songs[seat]
    if seat == t.last_trick and not t.left and not t.bonus_declined:
        points += p.counts.last_bonus
    return points


def side_points(t: KernelState, side: i64) -> i64:
    """Return the points of a side in this deal."""
    if t.pairs:
        return seat_points(t, side) + seat_points(t, side + 2)
    return seat_points(t, side)


def total(t: KernelState, side: i64) -> i64:
    """Return the points of a side in the game: those carried, plus those of this deal."""
    return t.totals[side] + side_points(t, side)


def of_side(t: KernelState, side: i64) -> i64:
    """Return the seats of a side, as a set."""
    bit = t.program.cards.bit
    return bit[side] | bit[side + 2] if t.pairs else bit[side]


def active_sides(t: KernelState) -> i64:
    """Return the sides with a seat in the deal, as a set."""
    return 3 if t.pairs else t.playing


def nearest_right(t: KernelState, seat: i64, seats: i64) -> i64:
    """Return the first seat of a set in order of play after `seat`."""
    bit = t.program.cards.bit
    seat = t.ring[seat]
    while not seats & bit[seat]:
        seat = t.ring[seat]
    return seat


def lowest(t: KernelState, mask: i64) -> i64:
    """Return the number of the lowest bit."""
    return t.program.cards.place[(mask & -mask) % FOLD]


def seats_of(t: KernelState, sides: i64) -> i64:
    """Return the seats in the deal that belong to these sides."""
    return t.playing & (sides | sides << 2 if t.pairs else sides)


def by_last_trick(t: KernelState, sides: i64) -> i64:
    """Return the level side that won the last trick, or else the one whose seat is nearest to the right of the winner."""
    if sides & (sides - 1) == 0 or t.last_trick < 0:
        return lowest(t, sides)
    winner: i64 = t.side[t.last_trick]
    if sides & t.program.cards.bit[winner]:
        return winner
    return t.side[nearest_right(t, t.last_trick, seats_of(t, sides))]


def best_other(t: KernelState, seat: i64) -> i64:
    """Return the other side with the highest total; of level sides, that of the nearest seat to the right."""
    others: i64 = active_sides(t) & ~t.program.cards.bit[t.side[seat]]
    return t.side[nearest_right(t, seat, seats_of(t, top_sides(t, others, True)))]


def top_sides(t: KernelState, sides: i64, totals: bool) -> i64:
    """Return the sides, among `sides`, that have most points."""
    bit = t.program.cards.bit
    top: i64 = -9999
    level: i64 = 0
    side: i64 = 0
    while side < t.sides:
        if sides & bit[side]:
            points: i64 = total(t, side) if totals else side_points(t, side)
            if points > top:
                top = points
                level = 0
            if points == top:
                level |= bit[side]
        side += 1
    return level


def with_points(t: KernelState, points: i64, seats: i64) -> i64:
    """Return the seats, among `seats`, that have exactly these points."""
    bit = t.program.cards.bit
    level: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if seats & bit[seat] and seat_points(t, seat) == points:
            level |= bit[seat]
        seat += 1
    return level


def ranked(t: KernelState, seats: i64, place: i64) -> i64:
    """Return the points of the seat that ranks at `place` among `seats`, 0 for the highest."""
    bit = t.program.cards.bit
    while True:
        top: i64 = -9999
        seat: i64 = 0
        while seat < t.seats:
            if seats & bit[seat] and seat_points(t, seat) > top:
                top = seat_points(t, seat)
            seat += 1
        level: i64 = with_points(t, top, seats)
        n: i64 = count(level)
        if place < n:
            return top
        place -= n
        seats &= ~level
