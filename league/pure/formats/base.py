"""The common shape of formats: the record, its parameters, and the outcome.

A format is a pure function `play(field, sheet)`. It writes tables on the sheet, round by round, reads the results that the sheet has, and stops
when it needs a result that is missing. Called again with more results it writes the same tables and further ones. So the scheduler calls it and
inserts the missing matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from league.pure.formats.sheet import Field, Levels, Sheet, Slot, Value
from league.pure.refusal import Refusal

MOST_BOARDS = 256  # The most boards of one match.


@dataclass(frozen=True, slots=True)
class BracketPairing:
    """A pairing of a bracket. `decided_by`: boards, extra, points, seed or bye; empty until it is decided."""

    part: str  # "winners", "losers", "final", "bronze"
    round: int  # Round within the part, from 1.
    place: int  # Place within the round, from 0.
    first: int | None  # Number of the first entry; None: nobody (a bye), or not known yet.
    second: int | None
    winner: int | None = None
    decided_by: str = ""
    slots: tuple[Slot, ...] = ()

    @property
    def loser(self) -> int | None:
        """Return the loser, if there is one."""
        if self.winner is None or None in (self.first, self.second):
            return None
        return self.second if self.winner == self.first else self.first


@dataclass(frozen=True, slots=True)
class Ranking:
    """The current order, and the tie-break values behind it, by entry: {"buchholz": 12.5, ...}."""

    levels: Levels
    breaks: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of a tournament according to the results so far. `rank` is computed on request."""

    over: bool
    rank: Callable[[], Ranking]
    why: str = ""  # Why the tournament ended, unless it simply played its last table: "settled", "co_champions", ...
    facts: Mapping[str, float] = field(default_factory=dict)  # The numbers behind `why`.
    bracket: tuple[BracketPairing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that the owner may choose: a number, a boolean or a word, as the type of its default says.

    help: its effect, in one English sentence. can_grow: it can be raised while the tournament runs.
    """

    name: str
    default: Value
    help: str
    can_grow: bool = False
    low: float = 0
    high: float = 1
    words: tuple[str, ...] = ()

    def read(self, value: object) -> Value:
        """Return `value` as a value of this parameter. Raise ValueError with the allowed values."""
        if isinstance(self.default, bool):
            if isinstance(value, bool):
                return value
            raise Refusal("{name} must be true or false, not {value!r}", name=self.name, value=value)
        if isinstance(self.default, str):
            if isinstance(value, str) and value in self.words:
                return value
            raise Refusal(
                "{name} must be one of {words}, not {value!r}", name=self.name, words=", ".join(self.words), value=value
            )
        whole = isinstance(value, int) and not isinstance(value, bool)
        right = whole or (isinstance(value, float) and isinstance(self.default, float))
        if not right or not isinstance(value, int | float) or not self.low <= value <= self.high:
            bounds = {"name": self.name, "low": self.low, "high": self.high, "value": value}
            if isinstance(self.default, int):
                raise Refusal("{name} must be a whole number from {low:g} to {high:g}, not {value!r}", **bounds)
            raise Refusal("{name} must be a number from {low:g} to {high:g}, not {value!r}", **bounds)
        return float(value) if isinstance(self.default, float) else value


@dataclass(frozen=True, slots=True)
class Size:
    """The fewest and most matches and boards; equal if the number does not depend on results."""

    matches: tuple[int, int]
    boards: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: how the matches of a tournament follow from its entries and results.

    key: at most 20 of a-z and _. place: its position in lists of formats. title, sentence: a description in English.
    """

    key: str
    place: int = 100
    title: str
    sentence: str
    play: Callable[[Field, Sheet], Outcome]
    size: Callable[[Field], Size]
    parameters: tuple[Parameter, ...] = ()
    unseated: str = (
        # Message that refuses tables of more than two, with placeholders {seats} and {others}; empty if the format takes them.
        ""
    )
    unmixed: str = ""  # Message that refuses mixed pairs, with the placeholder {others}.
    grows: bool = False  # True if the format takes entries while it runs.
    stands: bool = False  # True if existing tables never change: the format reads them from `Sheet.drawn`.
    bracket: bool = False  # True if the outcome has a bracket.
    eliminates: bool = False  # True if eliminated entries do not count as resting in later rounds.
    rounds: bool = True  # True if the rounds are worth showing, provided that they depend on results.
    late: Callable[[Field], int] = lambda field: (
        0
    )  # Return the last round in which a late entry may begin; 0: none may.
    timed: bool = False  # True if it also ends by the clock, after its parameter `minutes`.
    eager: bool = False  # True if the format may add matches while others are open.
    follows: Callable[[Field], bool] = lambda field: True  # Return True if the tables depend on results.
    # Raise ValueError for a combination of values that are only allowed one by one.
    agree: Callable[[Mapping[str, Value]], None] = lambda values: None
    fewest: int = 2  # The fewest entries, besides those that fill a table.
    most: int | None = None

    def complete(self, chosen: Mapping[str, object]) -> dict[str, Value]:
        """Return `chosen` with the defaults of all other parameters. Raise ValueError with the allowed values."""
        parameters = {parameter.name: parameter for parameter in self.parameters}
        for name in chosen:
            if name not in parameters:
                names = ", ".join(parameters) or "none"
                raise Refusal(
                    "{format} has no parameter {name!r}; its parameters are: {names}",
                    format=self.key,
                    name=name,
                    names=names,
                )
        values = {
            name: parameter.read(chosen[name]) if name in chosen else parameter.default
            for name, parameter in parameters.items()
        }
        self.agree(values)
        return values

    def takes(self, field: Field) -> bool:
        """Return True if the format can be played at such tables."""
        return not (self.unmixed if field.mixed else self.unseated if field.individual else "")

    def check_tables(self, field: Field, others: Iterable[Format]) -> None:
        """Raise Refusal if the format cannot be played at such tables, naming those of `others` that can."""
        if not self.takes(field):
            raise Refusal(
                self.unmixed if field.mixed else self.unseated,
                seats=field.table,
                others=", ".join(form.key for form in others if form.takes(field)),
            )

    def check(self, field: Field) -> None:
        """Raise Refusal if there are too few or too many entries for this format."""
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
    """Split boards into matches that are not too long, as equal as possible."""
    count = -(-boards // MOST_BOARDS)
    return [boards // count + (i < boards % count) for i in range(count)]
