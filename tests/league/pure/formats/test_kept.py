"""A started tournament goes on as it started: names, tables, boards and ranking of every format stay what they were.

`python -m tests.league.pure.formats.test_kept` rewrites `kept.json` after an intended change. Running tournaments are
then paired by other rules halfway: such a change needs a revision of its own (`REVISION` in `league.pure.formats.sheet`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from league.pure.formats import FORMATS, Field, check_field
from league.pure.refusal import Refusal
from tests.support.formats import by_chance, field, level, look, paired
from tests.support.parts import mostly_slow

KEPT = Path(__file__).with_name("kept.json")
VALUES: dict[str, list[dict[str, Any]]] = {  # Values of parameters
    "duel": [{"cap": 40}, {"cap": 60, "elo0": 0.0, "elo1": 200.0, "alpha": 0.2}],
    "gauntlet": [{}, {"challengers": 2}, {"cycles": 3}],
    "successive_halving": [{}, {"budget": 40}, {"budget": 120}],
    "round_robin": [{}, {"cycles": 2}, {"cycles": 5}, {"sure": 0.9}],
    "single_elimination": [{}, {"bronze": False}, {"advance": 2}, {"extra": 3, "cap": 2}],
    "double_elimination": [{}, {"extra": 3, "cap": 2}],
    "swiss": [{}, {"rounds": 3}, {"rounds": 9}],
}
SIZES = (2, 4, 5, 6, 7, 8, 11, 13)


def cases(key: str) -> Iterator[tuple[str, Field]]:
    """Fields of every size and kind of table that a format takes, every other one with seeds of its own."""
    form = FORMATS[key]
    for n in SIZES:
        for seats, mixed in ((2, False), (3, False), (4, False), (4, True)):
            for number, values in enumerate(VALUES.get(key, [{}])):
                for revision in revisions(key, seats, n):
                    if n < max(seats, form.fewest) or n > (form.most or n) or (number and n > 7):
                        continue
                    seeds = tuple(sorted(range(n), key=lambda entry: (7 * entry + 3) % n)) if n % 2 and n % 7 else ()
                    boards = 1 + (n + seats) % 3
                    some = {"seats": seats, "mixed": mixed, "revision": revision, "seeds": seeds, "lot": f"lot {n}"}
                    played = field(key, n, boards=boards, **some, **values)
                    if taken(key, played):
                        yield f"{n} at {seats}{' mixed' * mixed}, values {number}, revision {revision}", played


def revisions(key: str, seats: int, n: int) -> tuple[int, ...]:
    """Return the revisions whose schedules differ for such a field."""
    rated = key in ("round_robin", "successive_halving") and n in (5, 7)
    return ((1, 2) if seats > 2 else (2,)) + ((3,) if rated else ()) + ((4,) if rated and key == "round_robin" else ())


def taken(key: str, played: Field) -> bool:
    """Return True if the format takes such a field."""
    try:
        check_field(FORMATS[key], played)
        look(key, played, {})
    except Refusal:
        return False
    return True


def played_out(key: str, played: Field) -> str:
    """A check sum of all that came of it, with results by chance, and with all drawn."""
    digest = hashlib.sha256()
    winner = by_chance(1, {entry: -0.3 * entry for entry in range(played.entries)})
    for scores in (paired(winner) if played.mixed else winner, level):
        results: dict[Any, Any] = {}
        while True:
            verdict, sheet = look(key, played, results)
            for table in sheet.pairings:
                if table.slot not in results:
                    boards = [scores(table, board) for board in range(table.first, table.first + table.boards)]
                    by_entry = [
                        [score for _, score in sorted(zip(table.entries, board, strict=True))] for board in boards
                    ]
                    # now and then a match is struck out
                    results[table.slot] = [] if len(results) % 11 == 10 else by_entry
                    digest.update(repr(table).encode())
            ranking = verdict.rank()
            digest.update(
                repr((ranking.levels, {entry: rounded(breaks) for entry, breaks in ranking.breaks.items()})).encode()
            )
            if verdict.over:
                break
    return digest.hexdigest()[:8]


def rounded(numbers: Mapping[str, float]) -> dict[str, float]:
    """Round computed floats to the digits that all machines share."""
    return {name: round(value, 2) + 0.0 for name, value in numbers.items()}


# the ladder draws by ratings in floating point, whose last digits belong to a machine; the arena needs its existing tables
KEYS = sorted(set(FORMATS) - {"ladder", "arena"})


def kept() -> dict[str, dict[str, str]]:
    return json.loads(KEPT.read_text())


@pytest.mark.parametrize("key", mostly_slow(sorted(kept()), "single_elimination".__eq__))
def test_a_tournament_that_was_begun_goes_on_as_it_began(key: str) -> None:
    now = {name: played_out(key, played) for name, played in cases(key)}

    assert now == kept()[key]


if __name__ == "__main__":
    checksums = {key: {name: played_out(key, played) for name, played in cases(key)} for key in KEYS}
    KEPT.write_text(json.dumps(checksums, indent=1) + "\n")
