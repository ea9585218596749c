"""Verdicts: `engine.match.scoring.results` and the results in the files of games, numbered in `codes.RESULTS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.kernel import codes
from engine.search.kernel.points import (
    active_sides,
    by_last_trick,
    lowest,
    of_side,
    ranked,
    seat_points,
    top_sides,
    total,
    with_points,
)
from engine.search.kernel.state import CAPOTE, COUNTED, OTHER, SPLIT, TARGET, TIE, TUTE, KernelState
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def decide(t: KernelState) -> None:  # noqa: C901 - written out like its twin in engine.match
    """Set victor, losers and why for a deal that was not cut short."""
    p = t.program.counts
    t.why = COUNTED
    t.victor = -1
    t.losers = 0
    t.lost_marks = 1
    t.goes_on = False
    if t.tute_by >= 0 and not p.soloists:
        t.why = TUTE
        t.victor = t.side[t.tute_by]
        t.losers = t.playing & ~of_side(t, t.victor)
    elif p.result == codes.MOST_POINTS_WINS:
        _most_points_wins(t)
    elif p.result == codes.FEWEST_POINTS_LOSES:
        _fewest_points_loses(t)
    elif p.result == codes.TO_TARGET:
        _to_target(t)
    elif p.result == codes.MIDDLE_LOSES:
        _middle_loses(t)
    elif p.result <= codes.SOLOIST_SIDE_BEST:
        _soloist(t)
    elif p.result == codes.TRICK_COMMITMENTS:
        _commitments(t)
    elif p.result == codes.MIDDLE_OF_THREE:
        _middle_of_three(t)
    elif p.result == codes.CABRON_LOSES:
        _cabron(t)
    elif p.result == codes.MOST_POINTS_LOSES:
        _most_points_loses(t)


# ---- results


def _most_points_wins(t: KernelState) -> None:
    level: i64 = top_sides(t, active_sides(t), False)
    tie: i64 = t.program.counts.tie
    if level & (level - 1) == 0 or tie == codes.TIE_LAST_TRICK:
        t.victor = by_last_trick(t, level)
    elif (
        tie == codes.TIE_LAST_TRICK_OR_NONE and t.last_trick >= 0 and level & t.program.cards.bit[t.side[t.last_trick]]
    ):
        t.victor = t.side[t.last_trick]
    else:
        t.why = SPLIT if tie == codes.TIE_SPLIT else TIE


def _fewest_points_loses(t: KernelState) -> None:
    level: i64 = top_sides(t, t.playing, False)
    tie: i64 = t.program.counts.tie
    if level & (level - 1) == 0 or tie == codes.TIE_LAST_TRICK:
        t.victor = by_last_trick(t, level)
        t.losers = t.playing & ~t.program.cards.bit[t.victor]
    else:
        t.why = TIE
        if tie == codes.TIE_BOTH_LOSE:
            t.losers = t.playing


def _to_target(t: KernelState) -> None:  # noqa: C901 - written out like its twin in engine.match
    p, bit = t.program.counts, t.program.cards.bit
    sides: i64 = active_sides(t)
    over_target: i64 = 0
    side: i64 = 0
    while side < t.sides:
        if sides & bit[side] and total(t, side) >= p.target:
            over_target |= bit[side]
        side += 1
    if over_target and p.min_card_points and t.game_deal == 1 and count(sides) == 2:
        short: i64 = sides & ~over_target
        over_target = _with_cards(t, over_target)
        if not over_target:
            t.why = OTHER
            t.victor = lowest(t, short)
            return
    if not over_target:
        t.goes_on = True
        return
    t.why = TARGET
    if over_target & (over_target - 1) == 0:
        t.victor = lowest(t, over_target)
        return
    if p.both_reach == codes.FIRST_REACHED:
        place: i64 = 0
        while place < t.n_reached:
            if over_target & bit[t.reached[place]]:
                t.victor = t.reached[place]
                return
            place += 1
    if p.both_reach == codes.LAST_TRICK_REACHED and t.last_trick >= 0 and over_target & bit[t.side[t.last_trick]]:
        t.victor = t.side[t.last_trick]
        return
    t.victor = by_last_trick(t, top_sides(t, over_target, True))


def _with_cards(t: KernelState, sides: i64) -> i64:
    """Return the sides, among `sides`, that have the least card points with which a side may win."""
    bit = t.program.cards.bit
    enough: i64 = 0
    side: i64 = 0
    while side < t.sides:
        points: i64 = t.cards[side] + t.cards[side + 2] if t.pairs else t.cards[side]
        if sides & bit[side] and points >= t.program.counts.min_card_points:
            enough |= bit[side]
        side += 1
    return enough


def _takers(t: KernelState) -> i64:
    bit = t.program.cards.bit
    takers: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if t.playing & bit[seat] and t.tricks[seat]:
            takers |= bit[seat]
        seat += 1
    return takers


def _middle_loses(t: KernelState) -> None:
    p = t.program.counts
    takers: i64 = _takers(t)
    n: i64 = count(takers)
    if n == 1:
        spoiled: i64 = (t.singers if p.spoiled else 0) | (t.table_singers if p.table_spoiled else 0)
        t.losers = takers if spoiled & takers else t.playing & ~takers
        t.why = CAPOTE
        return
    high: i64 = ranked(t, takers, 0)
    low: i64 = ranked(t, takers, n - 1)
    if p.middle == codes.SECOND:
        second: i64 = takers & ~with_points(t, high, takers)
        t.losers = with_points(t, ranked(t, second, 0), takers) if second else takers
    elif p.middle == codes.MEDIAN and (n == 3 or n == 5):
        t.losers = with_points(t, ranked(t, takers, n // 2), takers)
    elif p.tie == codes.TIE_SEAT_ORDER:
        _by_seat_order(t, takers, n)
    else:
        between: i64 = takers & ~with_points(t, high, takers) & ~with_points(t, low, takers)
        if between:
            t.losers = between
        elif n == 2 and high != low:
            t.losers = with_points(t, low, takers)
        elif p.tie == codes.TIE_ALL_TAKERS_LOSE:
            t.losers = takers
        else:
            t.losers = _level(t, takers)


def _level(t: KernelState, seats: i64) -> i64:
    """Return the seats, among `seats`, that have as many points as another of them."""
    bit = t.program.cards.bit
    level: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if seats & bit[seat]:
            same: i64 = with_points(t, seat_points(t, seat), seats)
            if same & (same - 1):
                level |= same
        seat += 1
    return level


def _by_seat_order(t: KernelState, takers: i64, n: i64) -> None:
    """Rank level seats by their turn in the first trick. The first and the last seat escape; if there are only two takers, only the first."""
    bit = t.program.cards.bit
    t.losers = takers
    level: i64 = with_points(t, ranked(t, takers, 0), takers)
    place: i64 = 0
    while not level & bit[t.active[place]]:
        place += 1
    t.losers ^= bit[t.active[place]]
    if n > 2:
        level = with_points(t, ranked(t, takers, n - 1), t.losers)
        place = t.size - 1
        while not level & bit[t.active[place]]:
            place -= 1
        t.losers ^= bit[t.active[place]]


def _soloist(t: KernelState) -> None:
    """Decide subastado, remate and codillo by the points of the soloist's side."""
    p, bit = t.program.counts, t.program.cards.bit
    pair: i64 = bit[t.soloist]
    won = False
    if p.result == codes.SOLOIST_REACHES_BID:
        won = seat_points(t, t.soloist) >= t.bid
    else:
        pair |= bit[t.partner]
        own: i64 = 0
        others: i64 = 0
        best_own: i64 = -1
        best_other_: i64 = -1
        seat: i64 = 0
        while seat < t.seats:
            points: i64 = seat_points(t, seat) if t.playing & bit[seat] else -1
            if pair & bit[seat]:
                own += points
                best_own = max(best_own, points)
            elif points >= 0:
                others += points
                best_other_ = max(best_other_, points)
            seat += 1
        won = own > others if p.result == codes.SOLOIST_SIDE_MORE else best_own > best_other_
    if t.tute_by >= 0:
        won = pair & bit[t.tute_by] != 0
        t.why = TUTE
    t.victor = t.soloist if won else -1
    t.losers = t.playing & ~pair if won else pair


def _commitments(t: KernelState) -> None:
    bit = t.program.cards.bit
    seat: i64 = 0
    while seat < t.seats:
        if t.playing & bit[seat]:
            owed: i64 = t.program.counts.by_soloist if seat == t.soloist else t.program.counts.by_joiner
            if t.tricks[seat] < owed:
                t.losers |= bit[seat]
        seat += 1


def _middle_of_three(t: KernelState) -> None:
    high: i64 = ranked(t, t.playing, 0)
    middle: i64 = ranked(t, t.playing, 1)
    low: i64 = ranked(t, t.playing, 2)
    t.losers = with_points(t, high if low == middle and middle < high else middle, t.playing)


def _cabron(t: KernelState) -> None:
    bit = t.program.cards.bit
    losing: i64 = t.playing & ~_takers(t)
    if not losing:
        seat: i64 = 0
        while seat < t.seats:
            if t.playing & bit[seat] and seat_points(t, seat) > 100:
                losing |= bit[seat]
            seat += 1
    if not losing:
        losing = _level(t, t.playing)
    if not losing:
        losing = with_points(t, ranked(t, t.playing, 1), t.playing)
    t.losers = losing


def _most_points_loses(t: KernelState) -> None:
    """Decide gana-pierde for four or five."""
    bit = t.program.cards.bit
    top: i64 = ranked(t, t.playing, 0)
    chosen: i64 = by_last_trick(t, with_points(t, top, t.playing))
    if top >= 101:
        t.victor = chosen
        t.losers = t.playing & ~bit[chosen]
    else:
        t.losers = bit[chosen]
