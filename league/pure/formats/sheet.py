"""The field that a format plays with, and the sheet on which it writes who meets whom.

One law names the tables of every format: the name says who sits there, whoever sits first, and the boards of a name are numbered on.
So the name and a board number make a deal that is played once by the same bots, and adding boards extends a tournament, never
reshuffles it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from league.pure.pairing.neighbours import Neighbours

# Of the schedules. 1: tables of individual seats and mixed pairs sit as their design names them, without balance of neighbours; 2: ratings that
# decide something (who goes on, whether enough is played) have a prior on every bot, without even boards; 3: what is drawn for an early stop of a
# round robin is another on another processor
REVISION = 4
Value: TypeAlias = int | float | bool | str
Scores: TypeAlias = Sequence[int]  # of one board, by place at the table
Slot: TypeAlias = tuple[str, int]  # name of a table, number of its first board
# Of the matches that are over, scores by ascending entry; one that was struck out has no boards
Results: TypeAlias = Mapping[Slot, Sequence[Scores]]
Levels: TypeAlias = list[list[int]]  # entries from first to last; those in one list share a place


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match that ought to exist. `round` counts from 1; `label` says what a table of a bracket is, such as "final"."""

    round: int
    name: str
    entries: tuple[int, ...]
    first: int  # number of its first board
    boards: int
    label: str = ""

    @property
    def slot(self) -> Slot:
        """What makes it this match and no other."""
        return self.name, self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """All that a format may look at besides results. Entries are numbers from 0."""

    entries: int
    boards: int  # of one match
    seats: int = 2  # entries at a table: two sides, or individual seats
    mixed: bool = False  # four entries at a table, 0 and 2 against 1 and 3
    seeds: tuple[int, ...] = ()  # entries from the strongest to the weakest, as known before; empty: by number
    withdrawn: frozenset[int] = frozenset()  # are seated at no new table of a ladder
    lot: str = ""  # draws of lots follow from it
    values: Mapping[str, Value] = field(default_factory=dict)  # of every parameter of the format
    revision: int = REVISION  # by which its tournament was made, and is made again

    @property
    def table(self) -> int:
        """Entries at a table."""
        return 4 if self.mixed else self.seats

    @property
    def individual(self) -> bool:
        """Whether tables are of more than two entries, so that it matters who sits beside whom."""
        return self.mixed or self.seats > 2

    @property
    def order(self) -> tuple[int, ...]:
        """Entries by seed, the top seed first."""
        return self.seeds or tuple(range(self.entries))

    def number(self, name: str) -> int:
        """The value of a whole-number parameter."""
        return int(self.values[name])

    def real(self, name: str) -> float:
        """The value of a parameter that is a number."""
        return float(self.values[name])

    def flag(self, name: str) -> bool:
        """The value of a yes-or-no parameter."""
        return bool(self.values[name])


@dataclass(slots=True)
class Sheet:
    """Where a format writes its tables, and reads what was played at them.

    `drawn` are the tables that exist already, in the order in which they were made. They are told to formats in which they stand as they
    were drawn (`Format.stands`), whatever has become of the results that they followed from.
    """

    results: Results = field(default_factory=dict)
    drawn: Sequence[Pairing] = ()
    neighbours: Neighbours | None = None  # None: tables sit as the format names them
    pairings: list[Pairing] = field(default_factory=list)
    boards: list[tuple[tuple[int, ...], Scores]] = field(default_factory=list)  # played: who sat, their scores
    waiting: int = 0  # tables without a result
    _used: Counter[str] = field(default_factory=Counter)

    @classmethod
    def for_field(cls, field: Field, results: Results | None = None, drawn: Sequence[Pairing] = ()) -> Sheet:
        """An empty sheet for a field."""
        level = field.individual and field.revision > 1
        return cls(results or {}, drawn, Neighbours(field.mixed) if level else None)

    def seat(self, round: int, entries: Iterable[int], boards: int, label: str = "") -> Sequence[Scores] | None:
        """Write a table; its boards, scores in the order of `entries`, if it is over, else None.

        Who sits beside whom is decided here. ValueError where nobody, or somebody twice, would sit.
        """
        given = tuple(entries)
        if len(given) < 2 or len(set(given)) < len(given) or boards < 1:
            raise ValueError(f"a table needs two or more different entries and a board, not {given} and {boards}")
        seated = self.neighbours.seat(given) if self.neighbours else given
        return self._write(Pairing(round, table_name(given), seated, 0, boards, label), given)

    def stand(self, table: Pairing) -> Sequence[Scores] | None:
        """Write a table that exists already, as it sits; its boards as those of `seat`."""
        if self.neighbours:
            self.neighbours.note(table.entries)
        return self._write(table, table.entries)

    def _write(self, table: Pairing, given: tuple[int, ...]) -> Sequence[Scores] | None:
        first = 1 + self._used[table.name]
        if table.first != first:
            table = replace(table, first=first)
        self._used[table.name] += table.boards
        self.pairings.append(table)
        played = self.results.get(table.slot)
        if played is None:
            self.waiting += 1
            return None
        line = sorted(given)
        boards = played
        if line != list(given):
            places = [line.index(entry) for entry in given]
            boards = [tuple(scores[place] for place in places) for scores in played]
        self.boards += [(given, scores) for scores in boards]
        return boards

    def partnerships(self) -> Counter[tuple[int, int]]:
        """How many tables each pair (smaller number first) plays as partners so far, of mixed pairs."""
        return Counter(pair for table in self.pairings for pair in partners(table.entries))

    def shared_tables(self) -> Counter[tuple[int, int]]:
        """How many tables each pair (smaller number first) shares so far."""
        met: Counter[tuple[int, int]] = Counter()
        for table in self.pairings:
            line = sorted(table.entries)
            met.update((a, b) for i, a in enumerate(line) for b in line[i + 1 :])
        return met


def partners(table: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Who plays with whom at a table of mixed pairs, smaller number first."""
    a, c, b, d = table
    return (min(a, b), max(a, b)), (min(c, d), max(c, d))


def table_name(entries: Iterable[int]) -> str:
    """The same for the same entries in any order: "0-3"."""
    return "-".join(map(str, sorted(entries)))
