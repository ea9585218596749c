"""The worth of the end of a deal to a seat, by the result of the game. Bigger is better; only differences count."""

from __future__ import annotations

import math
from collections.abc import Callable

from playout import Outcome
from tute_bot import View

TUTE = 130.0  # the league's board score of a deal won by tute
POINT = 1.0  # worth of a point; a game won is worth 200 more than a game lost
NEAR = 50.0  # worth of a safe distance; a lost deal costs 100
FAR = 30.0  # distance in points that is safe
NEXT_DEAL = 25.0  # lead in points that makes one side a clear favourite in the second deal of a game

Worth = Callable[[Outcome], float]


def worth_of(view: View) -> Worth:
    """Return the function for this table and seat that values an outcome."""
    if view.capote is not None:
        return _capote(view, view.capote)
    result = view.rule("result")
    if result == "to_target":
        return _to_target(view)
    if result in ("middle_loses", "middle_of_three_loses", "cabron_loses"):
        return _losers(view)
    if result == "most_points_loses_unless_101":
        return _most_loses(view)
    if result == "soloist_reaches_bid" and view.soloist is not None:
        return _bid(view, view.soloist)
    if result in ("soloist_side_more_points", "soloist_side_best_single"):
        return _pair(view)
    if result == "trick_commitments":
        return _commitments(view)
    if result == "exact_prediction":
        predicted = view.predictions.get(view.seat, 0)
        return lambda outcome: (
            0.0 if outcome.tricks[view.seat] == predicted else -12 - 3.0 * abs(outcome.tricks[view.seat] - predicted)
        )
    if view.rule("settlement") == "chips":
        return _prize(view)
    return _points(view)


def _points(view: View) -> Worth:
    """Return the worth where most points win: the lead over the best other side, because boards compare points; a tute is worth all points."""
    camps = view.camps()
    ours = next(camp for camp in camps if view.seat in camp)
    others = [camp for camp in camps if camp is not ours]

    def worth(outcome: Outcome) -> float:
        if outcome.tute >= 0:
            return TUTE if outcome.tute in ours else -TUTE
        points = outcome.points
        return sum([points[seat] for seat in ours]) - max([sum([points[s] for s in camp]) for camp in others])

    return worth


def _to_target(view: View) -> Worth:
    """Return the worth where a game is played to a target: the chance of winning it, plus a little for points, which break ties between boards."""
    carried = view.totals
    target = view.rule("target")

    def worth(outcome: Outcome) -> float:
        if outcome.tute >= 0:
            return 120.0 if view.same_side(outcome.tute, view.seat) else -120.0
        totals = [carried[n] + sum(outcome.points[s] for s in side) for n, side in enumerate(view.sides)]
        ours = totals.pop(view.side)
        if outcome.estimated and outcome.decided < 0:
            return min(100.0, max(-100.0, ours - max(totals)))
        return target_worth(ours, max(totals), target, outcome.decided, view.side)

    return worth


def target_worth(ours: float, theirs: float, target: int, decided: int, side: int) -> float:
    """Return the worth of a game, -120 to 120: won, lost, or the chances that a lead gives in the next deal. `decided`: side that claimed, or -1."""
    difference = ours - theirs
    if decided >= 0:
        sure = 100.0 if decided == side else -100.0
    elif ours >= target or theirs >= target:
        sure = 100.0 if difference > 0 else -100.0
    else:
        sure = 100.0 * math.tanh(difference / NEXT_DEAL / 2) * 0.9
    return sure + POINT * difference


def _prize(view: View) -> Worth:
    """Return the worth in arrastrado: the winner takes a prize from each, double with 101 points, and every song is paid at once."""
    prize, double = 100.0, 200.0

    def worth(outcome: Outcome) -> float:
        points = outcome.points
        top = max(range(view.seats), key=points.__getitem__)
        if outcome.tute >= 0:
            top, gain = outcome.tute, double
        else:
            gain = double if points[top] >= 101 else prize
        return (gain if top == view.seat else -gain / 2) + 0.3 * points[view.seat]

    return worth


def _pair(view: View) -> Worth:
    """Return the worth in codillo: the pair needs more points than the others; its members may differ from deal to deal."""
    best_single = view.rule("result") == "soloist_side_best_single"

    def worth(outcome: Outcome) -> float:
        pair = outcome.side[view.soloist if view.soloist is not None else view.seat]
        ours = [points for points, side in zip(outcome.points, outcome.side, strict=True) if side == pair]
        others = [points for points, side in zip(outcome.points, outcome.side, strict=True) if side != pair]
        ahead = max(ours) - max(others) if best_single else sum(ours) - sum(others)
        if outcome.tute >= 0:
            ahead = TUTE if outcome.side[outcome.tute] == pair else -TUTE
        won = (100.0 if ahead > 0 else -100.0) + 0.3 * ahead
        return won if outcome.side[view.seat] == pair else -won

    return worth


def _capote(view: View, announced: int) -> Worth:
    """Return the worth of an announced capote: the seat that announced it must win every remaining trick, or the other side wins the game."""
    others = [seat for seat in range(view.seats) if seat != announced]
    before = sum(view.tricks[seat] for seat in others)
    sign = 1 if announced == view.seat else -1

    def worth(outcome: Outcome) -> float:
        lost = sum(outcome.tricks[seat] for seat in others) - before
        return sign * (100.0 if not lost else -float(lost))

    return worth


def losers(view: View, outcome: Outcome) -> list[int]:
    """Return the losers where the middle loses (rules book, cabrero R1 to R4 and gana_pierde_3)."""
    seats = [seat for seat in range(view.seats) if seat not in view.out]
    if outcome.tute >= 0:
        return [seat for seat in seats if seat != outcome.tute]
    result = view.rule("result")
    takers = seats
    if result == "middle_loses":
        takers = [seat for seat in seats if outcome.tricks[seat]]
        if len(takers) == 1:
            return takers if outcome.sang[takers[0]] else [seat for seat in seats if seat != takers[0]]
    elif result == "cabron_loses":
        bad = [seat for seat in seats if not outcome.tricks[seat]] or [s for s in seats if outcome.points[s] > 100]
        if bad:
            return bad
    points = [outcome.points[seat] for seat in takers]
    high, low = max(points), min(points)
    middle = [seat for seat in takers if low < outcome.points[seat] < high]
    if middle:
        return middle
    if len(takers) == 2 and high != low:
        return [seat for seat in takers if outcome.points[seat] == low]
    level = [seat for seat in takers if points.count(outcome.points[seat]) > 1]
    if result == "middle_of_three_loses" and len(level) == 2 and outcome.points[level[0]] == low:
        return [seat for seat in takers if seat not in level]
    return level


def _losers(view: View) -> Worth:
    def worth(outcome: Outcome) -> float:
        lost = losers(view, outcome)
        others = sum(seat != view.seat for seat in lost) / max(1, view.seats - len(view.out) - 1)
        return 100 * (others - (view.seat in lost)) + _distance(view, outcome)

    return worth


def _distance(view: View, outcome: Outcome) -> float:
    """Return the worth of the distance in points to the neighbouring seats, which depends less on luck than the result of a deal."""
    own = outcome.points[view.seat]
    others = [outcome.points[seat] for seat in range(view.seats) if seat != view.seat and seat not in view.out]
    above = [points - own for points in others if points >= own]
    below = [own - points for points in others if points < own]
    if above and below:
        return -NEAR * min(1.0, min(*above, *below) / FAR)
    return NEAR * min(1.0, min(above or below) / FAR)


def _most_loses(view: View) -> Worth:
    """Return the worth in gana-pierde for four or five: the seat with most points loses, unless it has 101 or more."""

    def worth(outcome: Outcome) -> float:
        points = outcome.points
        top = max(range(view.seats), key=points.__getitem__)
        if points[top] >= 101:
            return 100.0 if top == view.seat else -100.0
        ahead = points[view.seat] - max(points[seat] for seat in range(view.seats) if seat != view.seat)
        return (-100.0 if top == view.seat else 100.0 / (view.seats - 1)) - NEAR * max(-1.0, min(1.0, ahead / FAR))

    return worth


def _bid(view: View, soloist: int) -> Worth:
    """Return the worth in subastado and remate: the bid made or not, and a little for points."""
    bid = int((view.contract or "bid 60").split()[-1])
    sign = 1 if soloist == view.seat else -1

    def worth(outcome: Outcome) -> float:
        got = outcome.points[soloist]
        return sign * ((100.0 if got >= bid or outcome.tute == soloist else -100.0) + 0.3 * got)

    return worth


def _commitments(view: View) -> Worth:
    """Return the worth in bato: every trick earns a quarter of the pot; a seat that fails pays the pot into the next one, which all share."""
    owed = [view.rule("tricks_soloist" if seat == view.soloist else "tricks_joiner") for seat in range(view.seats)]
    seats = [seat for seat in range(view.seats) if seat not in view.out]
    earns = view.rule("settlement") == "chips"
    cost = 100.0 * (1 - 1 / view.seats)

    def worth(outcome: Outcome) -> float:
        tricks = outcome.tricks
        failed = [seat for seat in seats if tricks[seat] < owed[seat]]
        return (25.0 * tricks[view.seat] if earns else 0.0) - (cost if view.seat in failed else 0.0)

    return worth
