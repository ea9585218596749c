"""The field (everything that a format knows besides results), and the sheet on which it writes the tables.

Every format names tables by one rule: the name lists the entries, whatever their seats, and the boards under a name are numbered consecutively. So
a name and a board number identify a deal, the same bots play it once, and further boards can be added without changing the earlier deals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from league.pure.pairing.neighbours import Neighbours

# Revision of the schedules. 1: tables of individual seats and mixed pairs sit as their design names them, without balance of neighbours; 2: ratings
# that decide something (who advances, whether enough is played) have a prior on every bot and no even boards; 3: the draws for an early stop of
# a round robin depend on the processor.
REVISION = 4
Value: TypeAlias = int | float | bool | str
Scores: TypeAlias = Sequence[int]  # Scores of one board, by place at the table.
Slot: TypeAlias = tuple[str, int]  # Name of a table, and number of its first board.
# Results of the finished matches, with scores by ascending entry; a void match has no boards.
Results: TypeAlias = Mapping[Slot, Sequence[Scores]]
Levels: TypeAlias = list[list[int]]  # Entries from first to last; those in one list share a place.


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match that should exist. `round` counts from 1; `label` describes a table of a bracket, such as "final"."""

    round: int
    name: str
    entries: tuple[int, ...]
    first: int  # Number of the first board.
    boards: int
    label: str = ""

    @property
    def slot(self) -> Slot:
        """Return the natural key of a match."""
        return self.name, self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Everything that a format may use besides results. Entries are numbers from 0."""

    entries: int
    boards: int  # Boards of one match.
    seats: int = 2  # Entries at a table: two sides, or individual seats.
    mixed: bool = False  # Four entries at a table, 0 and 2 against 1 and 3.
    seeds: tuple[int, ...] = ()  # Entries from strongest to weakest before the start; empty: by number.
    withdrawn: frozenset[int] = frozenset()  # Entries that get no new tables of a ladder.
    since: Mapping[int, int] = field(default_factory=dict)  # First round of each entry that came late.
    lot: str = ""  # Seed of all random draws.
    values: Mapping[str, Value] = field(default_factory=dict)  # The value of every parameter of the format.
    revision: int = REVISION  # Schedule revision of the tournament.

    @property
    def table(self) -> int:
        """Return the entries at a table."""
        return 4 if self.mixed else self.seats

    @property
    def individual(self) -> bool:
        """Return True if tables have more than two entries, so that neighbours matter."""
        return self.mixed or self.seats > 2

    @property
    def order(self) -> tuple[int, ...]:
        """Return the entries by seed, the top seed first."""
        return self.seeds or tuple(range(self.entries))

    def present(self, number: int) -> int:
        """Return the number of entries that had joined by a round."""
        return self.entries - sum(first > number for first in self.since.values())

    def number(self, name: str) -> int:
        """Return the value of a whole-number parameter."""
        return int(self.values[name])

    def real(self, name: str) -> float:
        """Return the value of a numeric parameter."""
        return float(self.values[name])

    def flag(self, name: str) -> bool:
        """Return the value of a boolean parameter."""
        return bool(self.values[name])


@dataclass(slots=True)
class Sheet:
    """The sheet on which a format writes its tables and reads their results.

    `drawn` are the existing tables in the order of their creation. Formats whose tables never change (`Format.stands`) need them, even if a result
    behind a draw has been voided.
    """

    results: Results = field(default_factory=dict)
    drawn: Sequence[Pairing] = ()
    neighbours: Neighbours | None = None  # None: tables sit as the format names them.
    pairings: list[Pairing] = field(default_factory=list)
    # Played boards: the entries at the table, and the scores.
    boards: list[tuple[tuple[int, ...], Scores]] = field(default_factory=list)
    waiting: int = 0  # Tables without a result.
    _used: Counter[str] = field(default_factory=Counter)

    @classmethod
    def for_field(cls, field: Field, results: Results | None = None, drawn: Sequence[Pairing] = ()) -> Sheet:
        """Create an empty sheet for a field."""
        level = field.individual and field.revision > 1
        return cls(results or {}, drawn, Neighbours(field.mixed) if level else None)

    def seat(self, round: int, entries: Iterable[int], boards: int, label: str = "") -> Sequence[Scores] | None:
        """Write a table. If it is finished, return the scores of its boards in the order of `entries`; else None.

        This method chooses the seats. Raise ValueError if `entries` is empty or has an entry twice.
        """
        line = tuple(entries)
        if len(line) < 2 or len(set(line)) < len(line) or boards < 1:
            raise ValueError(f"a table needs two or more different entries and a board, not {line} and {boards}")
        seated = self.neighbours.seat(line) if self.neighbours else line
        return self._write(Pairing(round, table_name(line), seated, 0, boards, label), line)

    def stand(self, table: Pairing) -> Sequence[Scores] | None:
        """Write an existing table without changing its seats; return its boards like `seat`."""
        if self.neighbours:
            self.neighbours.note(table.entries)
        return self._write(table, table.entries)

    def _write(self, table: Pairing, line: tuple[int, ...]) -> Sequence[Scores] | None:
        first = 1 + self._used[table.name]
        if table.first != first:
            table = replace(table, first=first)
        self._used[table.name] += table.boards
        self.pairings.append(table)
        played = self.results.get(table.slot)
        if played is None:
            self.waiting += 1
            return None
        ascending = sorted(line)
        boards = played
        if ascending != list(line):
            places = [ascending.index(entry) for entry in line]
            boards = [tuple(scores[place] for place in places) for scores in played]
        self.boards += [(line, scores) for scores in boards]
        return boards

    def partnerships(self) -> Counter[tuple[int, int]]:
        """Count the tables that each pair (smaller number first) plays as partners in mixed pairs."""
        return Counter(pair for table in self.pairings for pair in partners(table.entries))

    def shared_tables(self) -> Counter[tuple[int, int]]:
        """Count the tables that each pair (smaller number first) shares."""
        met: Counter[tuple[int, int]] = Counter()
        for table in self.pairings:
            line = sorted(table.entries)
            met.update((a, b) for i, a in enumerate(line) for b in line[i + 1 :])
        return met


def partners(table: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two partnerships of a table of mixed pairs, smaller number first."""
    a, c, b, d = table
    return (min(a, b), max(a, b)), (min(c, d), max(c, d))


def table_name(entries: Iterable[int]) -> str:
    """Return the name of a table, the same for any order of its entries: "0-3"."""
    return "-".join(map(str, sorted(entries)))
