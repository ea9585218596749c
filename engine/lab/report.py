"""The report of a variant: what many boards between two bots say of its rules, each number with its 95% interval.

A board is one observation, because its sittings share their cards. Each bot holds every seat of a board equally often, so the numbers of a seat do
not depend on who is stronger.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from engine.intervals import t95, wilson
from engine.portable import add_up

if TYPE_CHECKING:
    from engine.game import Game

FORMAT = "tute-lab/1"
DIGITS = 4  # Decimals of a stored number.
NOT_IN_DIGEST = ("digest", "cpu_s")
# Measures that are sums over sittings: name, what is summed, what it is divided by. None: the number of sittings.
RATIOS: tuple[tuple[str, str, str | None], ...] = (
    ("deals", "deals", None),
    ("tricks", "tricks", None),
    ("decisions", "decisions", None),
    ("choices", "choices", "decisions"),
    ("runaway", "runaway", "half"),
    ("song", "song", "deals"),
    ("songs_decide", "songs_decides", "deals"),
    ("forty", "forty", "deals"),
    ("forty_decides", "forty_decides", "deals"),
    ("tute_decides", "tute_decides", "deals"),
    ("capote_decides", "capote_decides", "deals"),
    ("exchange", "exchange", "deals"),
    ("last_decides", "last_decides", "deals"),
)
COUNTS = ("deals", "tricks", "decisions", "choices")  # All other ratios are shares from 0 to 1.
MEASURES = ("share", "boards_needed", "luck", "drawn", *(name for name, _, _ in RATIOS))

Interval = tuple[float, float, float]  # Value, and the ends of its 95% interval.
Measure = tuple[float, float, float | None]  # The same; None: no upper end.


def build(game: Game, boards: Sequence[Mapping[str, Any]], meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report as plain data, with its digest. boards: as `SeriesResult.boards`, each sitting with its `facts`. Raise ValueError.

    meta: more fields, such as bots and seed. measures: for each measure its value and the ends of its interval, None if the boards say nothing of
    it. seats: the same for the advantage of each side over the table's mean in a sitting, in score units, the side that leads first at index 0.
    """
    if len(boards) < 2:
        raise ValueError("a report needs at least two boards")
    measures: dict[str, Measure | None] = {
        name: _ratio(boards, above, below, share=name not in COUNTS) for name, above, below in RATIOS
    }
    for name in [name for name in measures if not _possible(game, name) and not (measures[name] or (0,))[0]]:
        measures[name] = None
    measures |= _strength(boards) | {"luck": _luck(game, boards)}
    report: dict[str, Any] = {
        "format": FORMAT,
        "game": game.key,
        "revision": game.revision,
        "players": game.players,
        "options": dict(game.options),
        "unit": str(game.score_unit),
        "boards": len(boards),
        **meta,
        "seats": [rounded(_seat(game, boards, distance)) for distance in range(len(game.sides))],
        "measures": {name: rounded(measures[name]) for name in MEASURES},
    }
    return report | {"digest": digest(report)}


def digest(report: Mapping[str, Any]) -> str:
    """Return the digest of a report: the same boards on any machine give the same."""
    lasting = {name: value for name, value in report.items() if name not in NOT_IN_DIGEST}
    text = json.dumps(lasting, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _possible(game: Game, name: str) -> bool:
    """Return False if the rules have nothing that the measure counts."""
    rules = game.rules
    if name in ("song", "songs_decide", "forty", "forty_decides"):
        return rules.hand_songs != "none" or rules.table_songs != "none"
    if name in ("tute_decides", "capote_decides", "exchange"):
        return bool(getattr(rules, name.removesuffix("_decides")) != "none")
    return name != "last_decides" or rules.last_trick_bonus > 0


def rounded(measure: Measure | None) -> list[float | None] | None:
    """Return a measure as it is stored."""
    return None if measure is None else [None if value is None else round(value, DIGITS) + 0.0 for value in measure]


def mean_of(values: Sequence[float]) -> Interval:
    """Return the mean of independent values, with Student's interval."""
    return quotient(values, [1.0] * len(values))


def quotient(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Return the ratio of two sums over boards, with its interval by linearisation; `below` has a positive sum."""
    count, sum_below = len(above), add_up(below)
    ratio = add_up(above) / sum_below
    squares = add_up((a - ratio * b) ** 2 for a, b in zip(above, below, strict=True))
    half = t95(count - 1) * math.sqrt(count / (count - 1) * squares) / sum_below
    return ratio, ratio - half, ratio + half


def _ratio(boards: Sequence[Mapping[str, Any]], above: str, below: str | None, *, share: bool) -> Interval | None:
    """Return a ratio of facts. A share that no board varies gets Wilson's interval, because its own would have no width."""
    tops = [float(sum(sitting["facts"][above] for sitting in board["sittings"])) for board in boards]
    bottoms = [
        float(
            len(board["sittings"]) if below is None else sum(sitting["facts"][below] for sitting in board["sittings"])
        )
        for board in boards
    ]
    if not any(bottoms):
        return None
    value, low, high = quotient(tops, bottoms)
    if not share:
        return value, low, high
    if value in (0.0, 1.0):
        return value, *wilson(value, sum(bottom > 0 for bottom in bottoms))
    return value, max(0.0, low), min(1.0, high)


def _seat(game: Game, boards: Sequence[Mapping[str, Any]], distance: int) -> Measure:
    """Return by how much the side at this distance from the first leader beats the mean of the table, a sitting."""

    def lead(sitting: Mapping[str, Any]) -> float:
        by_side = [sitting["scores"][seats[0]] for seats in game.sides]
        side = (game.side[sitting["facts"]["lead"]] + distance) % len(by_side)
        return float(by_side[side] - sum(by_side) / len(by_side)) / game.score_size

    return mean_of([_board_mean(board, lead) for board in boards])


def _board_mean(board: Mapping[str, Any], value: Callable[[Mapping[str, Any]], float]) -> float:
    return add_up(value(sitting) for sitting in board["sittings"]) / len(board["sittings"])


def _strength(boards: Sequence[Mapping[str, Any]]) -> dict[str, Measure]:
    """Return the better bot's share of board comparisons, the share that is drawn, and the boards after which two standard errors tell them apart."""
    shares, draws = [], []
    for board in boards:
        own, *others = board["scores"]
        shares.append(sum((own > score) + (own == score) / 2 for score in others) / len(others))
        draws.append(sum(own == score for score in others) / len(others))
    mean, low, high = mean_of(shares)
    if low == high:
        low, high = wilson(mean, len(shares))
    deviation = (high - low) / 2 / t95(len(shares) - 1) * math.sqrt(len(shares))
    away = sorted(abs(end - 0.5) for end in (low, high))
    needed = [
        (2 * deviation / distance) ** 2 if distance else math.inf for distance in (away[1], abs(mean - 0.5), away[0])
    ]
    worst = None if low <= 0.5 <= high else max(1.0, needed[2])
    value = needed[1] if needed[1] < math.inf else float(len(boards))
    drawn = mean_of(draws)
    low_drawn, high_drawn = wilson(drawn[0], len(draws)) if drawn[0] in (0.0, 1.0) else (max(0.0, drawn[1]), drawn[2])
    return {
        "share": (mean, max(0.0, low), min(1.0, high)),
        "boards_needed": (max(1.0, value), max(1.0, needed[0]), worst),
        "drawn": (drawn[0], low_drawn, high_drawn),
    }


def _luck(game: Game, boards: Sequence[Mapping[str, Any]]) -> Measure | None:
    """Return the correlation of what a side scores in two sittings of a board, whoever sits there: the part that its cards explain.

    A side's own advantage and the strength of who sits there are taken out first: the mean of each side in each sitting.
    """
    sittings, sides = len(boards[0]["sittings"]), len(game.sides)
    if sittings < 2:
        return None
    rows = []
    for board in boards:
        row = []
        for sitting in board["sittings"]:
            scores = [sitting["scores"][seats[0]] / game.score_size for seats in game.sides]
            row.append([score - sum(scores) / sides for score in scores])
        rows.append(row)
    means = [[add_up(row[t][s] for row in rows) / len(rows) for s in range(sides)] for t in range(sittings)]
    shared, single = [], []
    for row in rows:
        centred = [[row[t][s] - means[t][s] for t in range(sittings)] for s in range(sides)]
        squares = sum(value * value for values in centred for value in values)
        products = sum(sum(values) ** 2 for values in centred) - squares
        shared.append(products / (sittings * (sittings - 1)))
        single.append(squares / sittings)
    if not any(single):
        return None
    return quotient(shared, single)
