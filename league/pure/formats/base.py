"""What all formats share: the field, the sheet they write their pairings on, and the outcome.

A format is a pure function `play(field, sheet)`. It seats tables on the sheet from the first round on, looks at the results that the
sheet knows, and stops where it needs one that is not there. Called again with more results it seats the same tables and some more:
so reconciling is to call it and to insert what is missing.

One law names the tables of every format: the name says who sits there, whoever sits first, and the boards of a name are numbered on.
So the name and a board number make a deal that is played once by the same bots, and adding boards extends a tournament, never
reshuffles it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from league.pure.pairing.neighbours import Neighbours
from league.pure.refusal import Refusal

MOST_BOARDS = 256  # of one match
REVISION = 2  # of the schedules. 1: tables of individual seats and mixed pairs sit as their design names them, without balance of neighbours
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

    `drawn` are the tables that exist already, in the order in which they were made: of use only to a format whose draws depend on when
    they were made (the ladder).
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
        table = replace(table, first=1 + self._used[table.name])
        self._used[table.name] += table.boards
        self.pairings.append(table)
        played = self.results.get(table.slot)
        if played is None:
            self.waiting += 1
            return None
        line = sorted(given)
        places = [line.index(entry) for entry in given]
        boards = [[scores[place] for place in places] for scores in played]
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


@dataclass(frozen=True, slots=True)
class BracketPairing:
    """One meeting of a bracket. `by` says how it was decided: boards, extra, points, seed, bye; empty while it is not."""

    part: str  # "winners", "losers", "final", "bronze"
    round: int  # within the part, from 1
    place: int  # within the round, from 0
    first: int | None  # entry, None: nobody (a bye) or not known yet
    second: int | None
    winner: int | None = None
    by: str = ""
    slots: tuple[Slot, ...] = ()

    @property
    def loser(self) -> int | None:
        """Who lost it, where somebody did."""
        if self.winner is None or None in (self.first, self.second):
            return None
        return self.second if self.winner == self.first else self.first


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order so far, and the values that made it, by entry: {"buchholz": 12.5, ...}."""

    levels: Levels
    breaks: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the results so far come to. `rank` is worked out only when asked for."""

    over: bool
    rank: Callable[[], Ranking]
    why: str = ""  # what ended it, where something other than the last table did: "settled", "co_champions", ...
    facts: Mapping[str, float] = field(default_factory=dict)  # numbers behind `why`
    bracket: tuple[BracketPairing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A number, a yes or no, or a word that a format lets the owner choose. Its default says which of the three.

    help: what it does, in one English sentence. can_grow: a running tournament may get more of it.
    """

    name: str
    default: Value
    help: str
    can_grow: bool = False
    low: float = 0
    high: float = 1
    words: tuple[str, ...] = ()

    def read(self, value: object) -> Value:
        """`value` as this parameter; ValueError that says what is allowed."""
        if isinstance(self.default, bool):
            if isinstance(value, bool):
                return value
            raise Refusal("{name} is true or false, not {value!r}", name=self.name, value=value)
        if isinstance(self.default, str):
            if isinstance(value, str) and value in self.words:
                return value
            raise Refusal(
                "{name} is one of {words}, not {value!r}", name=self.name, words=", ".join(self.words), value=value
            )
        whole = isinstance(value, int) and not isinstance(value, bool)
        right = whole or (isinstance(value, float) and isinstance(self.default, float))
        if not right or not isinstance(value, int | float) or not self.low <= value <= self.high:
            bounds = {"name": self.name, "low": self.low, "high": self.high, "value": value}
            if isinstance(self.default, int):
                raise Refusal("{name} is a whole number from {low:g} to {high:g}, not {value!r}", **bounds)
            raise Refusal("{name} is a number from {low:g} to {high:g}, not {value!r}", **bounds)
        return float(value) if isinstance(self.default, float) else value


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is to play: fewest and most matches and boards. Equal where it does not depend on the results."""

    matches: tuple[int, int]
    boards: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One way in which the matches of a tournament follow from its entries and results.

    key: at most 20 of a-z and _. place: where it stands when formats are offered. title and sentence: what it is, in English.
    """

    key: str
    place: int = 100
    title: str
    sentence: str
    play: Callable[[Field, Sheet], Outcome]
    size: Callable[[Field], Size]
    parameters: tuple[Parameter, ...] = ()
    unseated: str = ""  # refusal of tables of more than two, with the gaps {seats} and {others}; empty: it takes them
    unmixed: str = ""  # refusal of mixed pairs, with the gap {others}
    grows: bool = False  # takes entries while it runs
    bracket: bool = False  # its outcome has one
    eliminates: bool = False  # who has gone out does not rest in later rounds
    rounds: bool = True  # its rounds say something to people, where they follow from results
    eager: bool = False  # may have something to add while matches of it are open
    follows: Callable[[Field], bool] = lambda field: True  # whether its tables depend on results
    # refuses values of parameters that are allowed one by one and not together
    agree: Callable[[Mapping[str, Value]], None] = lambda values: None
    fewest: int = 2  # entries, besides those that fill a table
    most: int | None = None

    def complete(self, given: Mapping[str, object]) -> dict[str, Value]:
        """`given` and the defaults of all other parameters. ValueError that says what is allowed."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                there = ", ".join(known) or "none"
                raise Refusal(
                    "{format} has no parameter {name!r}; its parameters are: {there}",
                    format=self.key,
                    name=name,
                    there=there,
                )
        values = {
            name: parameter.read(given[name]) if name in given else parameter.default
            for name, parameter in known.items()
        }
        self.agree(values)
        return values

    def takes(self, field: Field) -> bool:
        """Whether it can be played at such tables."""
        return not (self.unmixed if field.mixed else self.unseated if field.individual else "")

    def check_tables(self, field: Field, others: Iterable[Format]) -> None:
        """Refusal where it cannot be played at such tables, with those of `others` that can."""
        if not self.takes(field):
            raise Refusal(
                self.unmixed if field.mixed else self.unseated,
                seats=field.table,
                others=", ".join(one.key for one in others if one.takes(field)),
            )

    def check(self, field: Field) -> None:
        """Refusal where there are too few or too many entries for this format."""
        least = max(self.fewest, field.table)
        if field.entries < least:
            raise Refusal(
                "{format} needs {least} entries or more, not {entries}",
                format=self.key,
                least=least,
                entries=field.entries,
            )
        if self.most is not None and field.entries > self.most:
            raise Refusal(
                "{format} takes {most} entries at most, not {entries}",
                format=self.key,
                most=self.most,
                entries=field.entries,
            )


def split_boards(boards: int) -> list[int]:
    """So many boards as matches that are not too long, as equal as can be."""
    count = -(-boards // MOST_BOARDS)
    return [boards // count + (i < boards % count) for i in range(count)]
