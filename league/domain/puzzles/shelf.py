"""The puzzles of this league: those of a file made by `tute puzzles find`, and those from its own matches (`jobs.handlers.puzzles`).

The puzzles are kept in memory and read again after a change.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db.models import Q, QuerySet

from engine.puzzles import NotAPuzzleError, Puzzle, read
from engine.themes import THEMES, themes
from league.domain.core import clock
from league.enums import MatchStatus
from league.models import FoundPuzzle

log = logging.getLogger("league.puzzles")

FEW = 4  # The most players at the table of a puzzle on the front page, where a larger table does not fit.


class Shelf:
    """All puzzles, by id in the order of the file, and by game. own: the puzzles from the league's own matches, with the day of their discovery."""

    def __init__(self, puzzles: list[Puzzle], own: Mapping[str, date] | None = None) -> None:
        self.own = own or {}
        self.themes: dict[str, tuple[str, ...]] = {}
        for puzzle in puzzles:
            with suppress(AttributeError, LookupError, TypeError, ValueError):  # Its events are none
                self.themes[puzzle.id] = themes(puzzle)
        self.by_id = {puzzle.id: puzzle for puzzle in puzzles if puzzle.id in self.themes}
        self.by_game: dict[str, list[Puzzle]] = defaultdict(list)
        for puzzle in self.by_id.values():
            self.by_game[puzzle.game].append(puzzle)

    def about(self, theme: str = "", game: str = "") -> list[Puzzle]:
        """Return the puzzles with a theme, of a game; "" means any."""
        rows = self.by_game.get(game, []) if game else list(self.by_id.values())
        return [puzzle for puzzle in rows if not theme or theme in self.themes[puzzle.id]]

    def theme_counts(self) -> dict[str, int]:
        """Return the number of puzzles of each theme that has some, in the order of THEMES."""
        counts = Counter(name for names in self.themes.values() for name in names)
        return {name: counts[name] for name in THEMES if counts[name]}

    def next_after(self, puzzle: Puzzle, answered: frozenset[str] = frozenset()) -> Puzzle | None:
        """Return the next puzzle of the same game that is not in `answered`, from the start again after the last; None if all others are."""
        row = self.by_game[puzzle.game]
        here = row.index(puzzle)
        return next((other for other in (*row[here + 1 :], *row[:here]) if other.id not in answered), None)

    def of_day(self, day: date, games: Iterable[str]) -> Puzzle | None:
        """Return the puzzle of a day: from the first of these games with a puzzle about a card to play, at a table for at most FEW players.

        A puzzle that was found on this day does not count yet, so everybody gets the same one until midnight (UTC).
        """
        for game in games:
            rows = self.by_game.get(game, ())
            small = [puzzle for puzzle in rows if _is_small(puzzle) and self.own.get(puzzle.id, date.min) < day]
            if small:
                return small[day.toordinal() % len(small)]
        return None


def _is_small(puzzle: Puzzle) -> bool:
    return puzzle.players <= FEW and all(text.startswith("play ") for text in puzzle.legal)


def shelf() -> Shelf:
    """Return the puzzles that are shown now, the league's own last. One query, two after a change of the own ones.

    PUZZLES names the file, if there is one; a line that is not a puzzle is skipped and logged.
    """
    if not settings.PUZZLES:
        return Shelf([])
    return _all(_version(Path(settings.PUZZLES)), tuple(_shown().values_list("puzzle", "created")))


def is_empty() -> bool:
    """Return True if there is no puzzle. No query if the file has one."""
    if not settings.PUZZLES:
        return True
    file = _version(Path(settings.PUZZLES))
    return not (file and _read(*file)) and not _shown().exists()


def _shown() -> QuerySet[FoundPuzzle]:
    """Return the league's own puzzles, in the order of discovery, from matches whose cards everybody may see and could see from their end on."""
    now = clock.present()
    rows = FoundPuzzle.objects.filter(match__status=MatchStatus.FINISHED, match__tournament__opens=None)
    for path in ("match__embargo", "match__tournament__embargo"):
        rows = rows.filter(Q(**{path: None}) | Q(**{f"{path}__lte": now}))
    return rows.order_by("created", "puzzle")


_Version = tuple[str, int, int]  # Path, time and size of a file


def _version(path: Path) -> _Version | None:
    try:
        facts = path.stat()
    except OSError as error:
        log.error("cannot read the puzzles: %s", error)
        return None
    return str(path), facts.st_mtime_ns, facts.st_size


@lru_cache(maxsize=1)
def _all(file: _Version | None, own: tuple[tuple[str, datetime], ...]) -> Shelf:
    days = {name: created.astimezone(UTC).date() for name, created in own}
    return Shelf([*(_read(*file) if file else ()), *_of_rows(tuple(days))], days)


def _of_rows(names: tuple[str, ...]) -> list[Puzzle]:
    """Return the league's own puzzles with these ids, in this order, without those that the current rules do not allow."""
    lines = dict(FoundPuzzle.objects.filter(puzzle__in=names).values_list("puzzle", "line")) if names else {}
    puzzles: list[Puzzle] = []
    for name in names:
        # A puzzle of an older revision may be impossible by the current rules.
        with suppress(KeyError, NotAPuzzleError):
            puzzles.append(read(lines[name]))
    return puzzles


@lru_cache(maxsize=1)
def _read(path: str, *_version: int) -> list[Puzzle]:
    """Read the puzzles of a file."""
    puzzles: list[Puzzle] = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        log.error("cannot read the puzzles: %s", error)
        return puzzles
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                puzzles.append(read(line))
            except NotAPuzzleError as error:
                log.error("skipping line %d of %s: %s", number, path, error)
    return puzzles
