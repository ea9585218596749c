"""The puzzles that this league shows: a file of them, as `tute puzzles find` writes it, and those of its own matches (`finding`).

Each file is read once, and again where it has changed.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from engine.puzzles import NotAPuzzleError, Puzzle, read
from league.domain.puzzles import finding

log = logging.getLogger("league.puzzles")


class Shelf:
    """All of them, in the order of the file. by_id, by_game: the same in other orders."""

    def __init__(self, puzzles: list[Puzzle]) -> None:
        self.by_id = {one.id: one for one in puzzles}
        self.by_game: dict[str, list[Puzzle]] = defaultdict(list)
        for one in self.by_id.values():
            self.by_game[one.game].append(one)

    def next_after(self, puzzle: Puzzle, done: frozenset[str] = frozenset()) -> Puzzle | None:
        """The next of the same game that is not `done`, round about; None where all others are."""
        row = self.by_game[puzzle.game]
        here = row.index(puzzle)
        return next((one for one in (*row[here + 1 :], *row[:here]) if one.id not in done), None)


def shelf() -> Shelf:
    """What the file of PUZZLES holds now; empty where there is none. A line that is no puzzle is left out and logged."""
    path = settings.PUZZLES
    if not path:
        return Shelf([])
    own = finding.own_file()
    return _all(_version(Path(path)), _version(own) if own.exists() else None)


_Version = tuple[str, int, int]  # path, time and size of a file


def _version(path: Path) -> _Version | None:
    try:
        seen = path.stat()
    except OSError as error:
        log.error("no puzzles are shown: %s", error)
        return None
    return str(path), seen.st_mtime_ns, seen.st_size


@lru_cache(maxsize=1)
def _all(*files: _Version | None) -> Shelf:
    return Shelf([one for number, file in enumerate(files) if file for one in _read(*file, head=number > 0)])


@lru_cache(maxsize=2)
def _read(path: str, *_version: int, head: bool) -> list[Puzzle]:
    """The puzzles of a file. head: its first line is none."""
    found: list[Puzzle] = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        log.error("no puzzles are shown: %s", error)
        return found
    for number, line in enumerate(lines, 1):
        if line.strip() and not (head and number == 1):
            try:
                found.append(read(line))
            except NotAPuzzleError as error:
                log.error("line %d of %s is left out: %s", number, path, error)
    return found
