"""Results: how the points of a deal decide it (parameter `result` of the rules book), one function per value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.match.data import Data
from engine.rules.verdict import Verdict


def nearest_right(state: Data, start: int, seats: Iterable[int]) -> int:
    """Return which of `seats` comes first in the order of `next` after `start`."""
    targets = set(seats)
    seat = state.next[start]
    while seat not in targets:
        seat = state.next[seat]
    return seat


def by_last_trick(state: Data, sides: Sequence[int]) -> int:
    """Return the level side that won the last trick; if none of them did, the one whose seat is nearest to the right of the winner."""
    if len(sides) == 1:
        return sides[0]
    last = state.last_trick
    if last < 0:
        return sides[0]
    if state.side[last] in sides:
        return state.side[last]
    return state.side[nearest_right(state, last, [seat for seat in state.active if state.side[seat] in sides])]


def most_points_wins(state: Data) -> Verdict:
    """Decide by the most points. `tie`: last_trick, last_trick_or_none, drawn or split."""
    points = state.side_points()
    if len(points) == 2 and points[0] != points[1]:
        return Verdict(0 if points[0] > points[1] else 1, points=points)
    sides = state.active_sides()
    top = max(points[side] for side in sides)
    level = [side for side in sides if points[side] == top]
    if len(level) == 1:
        return Verdict(level[0])
    tie = state.rules.tie
    if tie == "last_trick":
        return Verdict(by_last_trick(state, level))
    if tie == "last_trick_or_none" and state.last_trick >= 0 and state.side[state.last_trick] in level:
        return Verdict(state.side[state.last_trick])
    return Verdict(None, why="split" if tie == "split" else "tie")


def fewest_points_loses(state: Data) -> Verdict:
    """Decide between two seats: fewer points loses. `tie`: last_trick, both_lose or replay."""
    points = state.side_points()
    a, b = state.active
    if points[a] != points[b]:
        winner = a if points[a] > points[b] else b
    elif state.rules.tie == "last_trick":
        winner = by_last_trick(state, (a, b))
    elif state.rules.tie == "both_lose":
        return Verdict(None, (a, b), why="tie")
    else:
        return Verdict(None, why="tie")
    return Verdict(winner, (b if winner == a else a,))


def to_target(state: Data) -> Verdict:
    """Decide a game that may take several deals: a total of at least `target` wins it; if no side has that, another deal follows."""
    rules = state.rules
    totals = state.totals_now()
    sides = state.active_sides()
    target = rules.target or 0
    over_target = [side for side in sides if totals[side] >= target]
    if over_target and rules.min_card_points and state.game_deal == 1 and len(sides) == 2:
        over_target = [side for side in over_target if state.card_points(side) >= rules.min_card_points]
        if not over_target:
            return Verdict(next(side for side in sides if totals[side] < target), why="min_card_points")
    if not over_target:
        return Verdict(None, decided=False)
    if len(over_target) == 1:
        return Verdict(over_target[0], why="target")
    if rules.both_reach == "first_reached":
        for side in state.reached:
            if side in over_target:
                return Verdict(side, why="target")
    last = state.side[state.last_trick] if state.last_trick >= 0 else -1
    if rules.both_reach == "last_trick" and last in over_target:
        return Verdict(last, why="target")
    top = max(totals[side] for side in over_target)
    return Verdict(by_last_trick(state, [side for side in over_target if totals[side] == top]), why="target")


def middle_loses(state: Data) -> Verdict:
    """Decide cabrero: the takers strictly between the highest and the lowest lose (R2 to R4 of `cabrero.md`)."""
    rules = state.rules
    takers = [seat for seat in state.active if state.tricks[seat]]
    if len(takers) == 1:
        return Verdict(None, capote_losers(state, takers[0]), why="capote")
    points = state.seat_points()
    if rules.middle_rule == "second":
        scores = sorted({points[seat] for seat in takers}, reverse=True)
        middle = scores[min(1, len(scores) - 1)]
        return Verdict(None, tuple(seat for seat in takers if points[seat] == middle))
    if rules.middle_rule == "median" and len(takers) in (3, 5):
        middle = sorted(points[seat] for seat in takers)[len(takers) // 2]
        return Verdict(None, tuple(seat for seat in takers if points[seat] == middle))
    if rules.tie == "seat_order":
        # If points are equal, the seat that played earlier in the first trick ranks higher, so no two seats are level.
        ranked = sorted(takers, key=lambda seat: (-points[seat], state.active.index(seat)))
        return Verdict(None, tuple(sorted(ranked[1:-1] or ranked[1:])))
    high, low = max(points[s] for s in takers), min(points[s] for s in takers)
    between = tuple(seat for seat in takers if low < points[seat] < high)
    if between:
        return Verdict(None, between)
    if len(takers) == 2 and high != low:
        return Verdict(None, tuple(seat for seat in takers if points[seat] == low))
    if rules.tie == "all_takers_lose":
        return Verdict(None, tuple(takers))
    return Verdict(None, tuple(seat for seat in takers if sum(points[s] == points[seat] for s in takers) > 1))


def capote_losers(state: Data, taker: int) -> tuple[int, ...]:
    """Return the losers after one seat took every trick: that seat if it sang and this spoils the capote, otherwise all others."""
    rules = state.rules
    counts_as_song = (True, rules.capote_spoiled_by_table_song)
    if rules.capote_spoiled_by_song and any(
        s == taker and counts_as_song[table] for s, _, _, table in state.songs_made
    ):
        return (taker,)
    return tuple(seat for seat in state.active if seat != taker)


def soloist_reaches_bid(state: Data) -> Verdict:
    """Compare the soloist's points with the bid. A tute of the soloist makes it, a defender's tute defeats it."""
    soloist = state.notes["soloist"]
    fulfilled = state.tute_by == soloist or (state.tute_by < 0 and state.seat_points()[soloist] >= state.notes["bid"])
    why = "tute" if state.tute_by >= 0 else "points"
    if fulfilled:
        return Verdict(soloist, tuple(seat for seat in state.active if seat != soloist), why=why)
    return Verdict(None, (soloist,), why=why)


def soloist_side(state: Data) -> tuple[int, ...]:
    """Return the soloist and the partner, who may be one seat."""
    return tuple(sorted({state.notes["soloist"], state.notes["partner"]}))


def soloist_side_more_points(state: Data) -> Verdict:
    """Decide codillo: the soloist's side needs more points than the others together."""
    points = state.seat_points()
    pair = soloist_side(state)
    own = sum(points[seat] for seat in pair)
    others = sum(points[seat] for seat in state.active if seat not in pair)
    return _pair_verdict(state, pair, own > others)


def soloist_side_best_single(state: Data) -> Verdict:
    """Decide codillo in its other reading: the highest single total must belong to the soloist's side; a tie with an opponent loses."""
    points = state.seat_points()
    pair = soloist_side(state)
    best = max(points[seat] for seat in pair)
    return _pair_verdict(state, pair, all(points[seat] < best for seat in state.active if seat not in pair))


def _pair_verdict(state: Data, pair: tuple[int, ...], won: bool) -> Verdict:
    if state.tute_by >= 0:
        won = state.tute_by in pair
    others = tuple(seat for seat in state.active if seat not in pair)
    why = "tute" if state.tute_by >= 0 else "points"
    return Verdict(state.notes["soloist"] if won else None, others if won else pair, why=why)


def trick_commitments(state: Data) -> Verdict:
    """Decide bato: the soloist owes `tricks_soloist` tricks, each joiner `tricks_joiner`; whoever has fewer fails."""
    won = state.tricks
    return Verdict(None, tuple([seat for seat, owed in commitments(state).items() if won[seat] < owed]))


def commitments(state: Data) -> dict[int, int]:
    """Return the tricks that each seat in play owes."""
    rules, soloist = state.rules, state.notes["soloist"]
    owed = dict.fromkeys(state.active, rules.tricks_joiner or 0)
    owed[soloist] = rules.tricks_soloist or 0
    return owed


def exact_prediction(state: Data) -> Verdict:
    """Decide podrida: every seat scores by its prediction; nobody wins a deal."""
    return Verdict(None)
