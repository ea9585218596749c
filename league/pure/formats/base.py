"""What every format is: its record, its parameters, and the outcome that it comes to.

A format is a pure function `play(field, sheet)`. It seats tables on the sheet from the first round on, looks at the results that the
sheet knows, and stops where it needs one that is not there. Called again with more results it seats the same tables and some more:
so reconciling is to call it and to insert what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from league.pure.formats.sheet import Field, Levels, Sheet, Slot, Value
from league.pure.refusal import Refusal

MOST_BOARDS = 256  # of one match


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
    stands: bool = False  # tables that were drawn stand: it is told them by `Sheet.drawn`
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
