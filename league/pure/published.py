"""Reads the published boards of a pool and rates them: the same fit as the league's, from nothing but what is public.

A file is JSON lines. The first tells the pool: `sides` (which parties play together; null where each is on its own), `anchor` (the id that
stands at 1000; null: none), `score_size` (scores that make one of the game's unit). Each further line is a match: `versions` [[id, name], ...]
by party, `faulty` (ids that made a fault), `boards` (the parties' scores of each board).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from league.pure.ratings import Table, table
from league.pure.tallies import Board, tally

FORMAT = 1


class BadBoards(ValueError):
    """A file that holds no boards of a pool; the message names the line."""


@dataclass(frozen=True, slots=True)
class Rated:
    """A pool as its file tells it, the names of the versions by id, how much was read, and the table that follows."""

    pool: dict[str, Any]
    names: dict[int, str]
    matches: int
    boards: int
    table: Table


def rate(lines: Iterable[str]) -> Rated:
    """The table of published boards. BadBoards with the line that cannot be read."""
    numbered = iter(enumerate(lines, 1))
    pool = _read(*next(numbered, (1, "")))
    if pool.get("format") != FORMAT:
        raise BadBoards(f"line 1: no boards of a pool of format {FORMAT}; they begin with a line that tells the pool")
    sides = pool["sides"] and tuple(tuple(side) for side in pool["sides"])
    names: dict[int, str] = {}
    boards: list[Board] = []
    faults: defaultdict[int, int] = defaultdict(int)
    matches = 0
    for number, line in numbered:
        match = _read(number, line)
        try:
            names.update(dict(match["versions"]))
            boards += [([version for version, _name in match["versions"]], scores) for scores in match["boards"]]
            for version in match["faulty"]:
                faults[version] += 1
        except (KeyError, TypeError, ValueError) as error:
            raise BadBoards(f"line {number}: no match of a pool: {error!r}") from error
        matches += 1
    return Rated(pool, names, matches, len(boards), table(tally(boards, sides, faults), anchor=pool["anchor"]))


def _read(number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise BadBoards(f"line {number}: not JSON ({error})") from error
    if not isinstance(found, dict):
        raise BadBoards(f"line {number}: must be an object, not {line[:40]!r}")
    return found
