"""The rating of a pool from its published boards: the league's own fit, from public data only.

The file has JSON lines. The first one describes the pool: `sides` (which parties play together; null if none do), `anchor` (the id that stands at
1000; null: none), `score_size` (score units per unit of the game), `ratings_revision` (revision of the league's fit; default 1). Each further line
is a match: `versions` [[id, name], ...] by party, `faulty` (ids that made a fault), `boards` (the parties' scores of each board).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from league.pure.rating.leaderboard import Leaderboard, fit_leaderboard
from league.pure.rating.tallies import Board, tally

FORMAT = 1
SHOWN = 60  # Characters of a wrong value that a message quotes.


class BadBoards(ValueError):
    """A file without the boards of a pool; the message names the line."""


@dataclass(frozen=True, slots=True)
class RatedPool:
    """A pool as its file describes it: names of versions by id, tallies, and the resulting leaderboard."""

    pool: dict[str, Any]
    names: dict[int, str]
    matches: int
    boards: int
    table: Leaderboard

    @property
    def revision(self) -> int:
        """Return the revision of the rating model by which the league fitted its own table."""
        return int(self.pool.get("ratings_revision") or 1)


def rate_boards(lines: Iterable[str]) -> RatedPool:
    """Rate published boards. Raise BadBoards if a line cannot be read."""
    numbered = iter(enumerate(lines, 1))
    pool = _read(*next(numbered, (1, "")))
    if pool.get("format") != FORMAT:
        raise BadBoards(
            f"line 1: not boards of a pool in format {FORMAT}; such a file begins with a line about the pool"
        )
    for key, (holds, what) in _POOL.items():
        if not holds(pool.get(key)):
            raise BadBoards(f'line 1: "{key}" must be {what}, not {_shortened(pool.get(key))}')
    sides = pool["sides"] and tuple(tuple(side) for side in pool["sides"])
    names: dict[int, str] = {}
    boards: list[Board] = []
    faults: defaultdict[int, int] = defaultdict(int)
    matches = 0
    for number, line in numbered:
        match = _read(number, line)
        for key, (holds, what) in _MATCH.items():
            if not holds(match.get(key)):
                raise BadBoards(f'line {number}: "{key}" must be {what}, not {_shortened(match.get(key))}')
        versions = [version for version, _name in match["versions"]]
        if any(len(scores) != len(versions) for scores in match["boards"]):
            raise BadBoards(f"line {number}: every board must have a score for each of the {len(versions)} versions")
        if sides and {party for side in sides for party in side} != set(range(len(versions))):
            raise BadBoards(f"line {number}: the sides in line 1 do not fit {len(versions)} parties")
        names.update(dict(match["versions"]))
        boards += [(versions, scores) for scores in match["boards"]]
        for version in match["faulty"]:
            faults[version] += 1
        matches += 1
    return RatedPool(
        pool, names, matches, len(boards), fit_leaderboard(tally(boards, sides, faults), anchor=pool["anchor"])
    )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def _version(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _integer(value[0]) and isinstance(value[1], str)


# Required keys of a line: (test of the value, description of valid values).
_POOL: dict[str, tuple[Callable[[Any], bool], str]] = {
    "game": (lambda value: isinstance(value, str), "the name of a game"),
    "players": (_integer, "a whole number"),
    "sides": (lambda value: value is None or _list_of(_list_of(_integer))(value), "null or lists of parties"),
    "anchor": (lambda value: value is None or _integer(value), "null or the id of a version"),
    "ratings_revision": (lambda value: value is None or _integer(value), "a whole number"),
}
_MATCH: dict[str, tuple[Callable[[Any], bool], str]] = {
    "versions": (lambda value: bool(value) and _list_of(_version)(value), "a list of [id, name]"),
    "boards": (_list_of(_list_of(_number)), "a list of lists of scores"),
    "faulty": (_list_of(_integer), "a list of ids"),
}


def _shortened(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _read(number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_constant)
    except ValueError as error:
        raise BadBoards(f"line {number}: not JSON ({error})") from error
    if not isinstance(record, dict):
        raise BadBoards(f"line {number}: must be an object, not {line[:40]!r}")
    return record
