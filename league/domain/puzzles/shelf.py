"""The puzzles that this league shows: a file of them, as `tute puzzles find` writes it, and those of its own matches (`jobs.handlers.puzzles`).

What is there is read once, and again where it has changed.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db.models import Q, QuerySet

from engine.puzzles import NotAPuzzleError, Puzzle, read
from league.domain.core import clock
from league.enums import MatchStatus
from league.models import FoundPuzzle

log = logging.getLogger("league.puzzles")


class Shelf:
    """All of them, in the order of the file. by_id, by_game: the same in other orders; own: the names of those of the league's own matches."""

    def __init__(self, puzzles: list[Puzzle], own: Iterable[str] = ()) -> None:
        self.own = frozenset(own)
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
    """What there is now, those of the league's own matches last; empty where PUZZLES names no file. One query, two where the latter have changed.

    A line of the file that is no puzzle is left out and logged.
    """
    if not settings.PUZZLES:
        return Shelf([])
    return _all(_version(Path(settings.PUZZLES)), tuple(_shown().values_list("puzzle", flat=True)))


def is_empty() -> bool:
    """Whether there is no puzzle. No query where the file has one."""
    if not settings.PUZZLES:
        return True
    file = _version(Path(settings.PUZZLES))
    return not (file and _read(*file)) and not _shown().exists()


def _shown() -> QuerySet[FoundPuzzle]:
    """Those of matches whose cards everybody may see now, and always might since these were over; in the order in which they were found."""
    now = clock.present()
    rows = FoundPuzzle.objects.filter(match__status=MatchStatus.FINISHED, match__tournament__opens=None)
    for path in ("match__embargo", "match__tournament__embargo"):
        rows = rows.filter(Q(**{path: None}) | Q(**{f"{path}__lte": now}))
    return rows.order_by("created", "puzzle")


_Version = tuple[str, int, int]  # path, time and size of a file


def _version(path: Path) -> _Version | None:
    try:
        seen = path.stat()
    except OSError as error:
        log.error("no puzzles are shown: %s", error)
        return None
    return str(path), seen.st_mtime_ns, seen.st_size


@lru_cache(maxsize=1)
def _all(file: _Version | None, own: tuple[str, ...]) -> Shelf:
    return Shelf([*(_read(*file) if file else ()), *_of_rows(own)], own)


def _of_rows(names: tuple[str, ...]) -> list[Puzzle]:
    """Those that the present rules make, in this order."""
    lines = dict(FoundPuzzle.objects.filter(puzzle__in=names).values_list("puzzle", "line")) if names else {}
    found: list[Puzzle] = []
    for name in names:
        # One of an older revision of the rules is none any more
        with suppress(KeyError, NotAPuzzleError):
            found.append(read(lines[name]))
    return found


@lru_cache(maxsize=1)
def _read(path: str, *_version: int) -> list[Puzzle]:
    """The puzzles of a file."""
    found: list[Puzzle] = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        log.error("no puzzles are shown: %s", error)
        return found
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(read(line))
            except NotAPuzzleError as error:
                log.error("line %d of %s is left out: %s", number, path, error)
    return found
