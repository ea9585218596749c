"""Every game at every table, for the conformance tests. The tables follow from the declarations, so a new game is covered automatically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import pytest

import engine
from engine.game import declared
from engine.rules.options import Choice, Range, word
from engine.rules.parameters import Rules
from engine.rules.resolving import at_table, choices


class Table(NamedTuple):
    """A game, a number of players and options. `str` gives a test id."""

    key: str
    players: int
    options: tuple[tuple[str, Any], ...] = ()

    def load(self) -> engine.Game:
        """Load the game at this table."""
        return engine.load(self.key, players=self.players, **dict(self.options))

    def rules(self) -> Rules:
        """Resolve the rules at this table, which costs a tenth of a game."""
        return at_table(declared(self.key), dict(self.options), self.players)

    def __str__(self) -> str:
        return "-".join([self.key, str(self.players), *(f"{name}={value}" for name, value in self.options)])


def plain() -> list[Table]:
    """Return each game with each number of players, without options."""
    return [Table(key, players) for key in engine.games() for players in declared(key).players]


def values(choice: Choice) -> list[Any]:
    """Return the values of a choice; for a range its ends, the step above the low end and one value in between."""
    if not isinstance(choice, Range):
        return [word(value) for value in choice]
    high = choice.low + 40 * choice.step if choice.high is None else choice.high
    between = choice.low + (high - choice.low) // 2 // choice.step * choice.step
    last = high - (high - choice.low) % choice.step
    return sorted({choice.low, choice.low + choice.step, between, last} & set(range(choice.low, high + 1))) + (
        [None] if choice.none else []
    )


@cache
def covering() -> tuple[Table, ...]:
    """Return, for each game and number of players, tables that together use every value of every option, except defaults.

    A value that is refused alone is combined with each value of each other option. Raise LookupError for a value that no table accepts: such an
    option is a mistake in the declaration.
    """
    return tuple(table for base in plain() for table in _covering(base))


def _covering(base: Table) -> Iterator[Table]:
    options = choices(declared(base.key), base.players)
    defaults = base.load().options_all
    for name, choice in options.items():
        for value in values(choice):
            if value != defaults[name] or type(value) is not type(defaults[name]):
                yield _taking(base, options, name, value)


def _taking(base: Table, options: dict[str, Choice], name: str, value: Any) -> Table:
    alone = base._replace(options=((name, value),))
    if _loads(alone):
        return alone
    for other, choice in options.items():
        for companion in values(choice):
            if other != name:
                both = base._replace(options=((name, value), (other, companion)))
                if _loads(both):
                    return both
    raise LookupError(f"{base}: no table takes {name}={value!r}")


def _loads(table: Table) -> bool:
    try:
        table.rules()
    except engine.OptionError:
        return False
    return True


@cache
def once() -> tuple[Table, ...]:
    """Return one table for every value of every option of every game, except defaults. The tables take the numbers of players in turn."""
    by_value: dict[object, list[Table]] = {}
    for table in covering():
        by_value.setdefault((table.key, *(table.options[0])), []).append(table)
    return tuple(tables[place % len(tables)] for place, tables in enumerate(by_value.values()))


def by_game(tables: Iterable[Table]) -> dict[str, list[Table]]:
    """Group the tables by game: one test each would cost more in pytest than in the engine."""
    groups: dict[str, list[Table]] = {}
    for table in tables:
        groups.setdefault(table.key, []).append(table)
    return groups


def on_games(*tables: Iterable[Table]) -> pytest.MarkDecorator:
    """Run a test for each game with a `group` of its tables; `make slow` takes seven in eight of those with an option."""
    cases = []
    for key, group in by_game(table for some in tables for table in some).items():
        chosen = [table for table in group if table.options]
        quick = {*group} - {table for number, table in enumerate(chosen) if number % 8}
        cases.append(pytest.param(key, [table for table in group if table in quick], id=key))
        if rest := [table for table in group if table not in quick]:
            cases.append(pytest.param(key, rest, id=f"{key}-more", marks=pytest.mark.slow))
    return pytest.mark.parametrize(("key", "group"), cases)


# Options about the worth of a finished deal and the end of a match: they cannot change what is seen or played within one deal.
OF_THE_MATCH = {
    "both_reach", "cotos_to_win", "double_at_101", "double_from", "double_threshold_counts_songs", "double_threshold_with_song", "final_duel",
    "games_per_coto", "match_deals", "match_end", "match_games", "max_losses", "min_card_points", "next_dealer", "payments", "stake",
    "tute_payment", "unit", "win_by",
}  # fmt: skip


def of_a_deal() -> list[Table]:
    """Return every game at every table, and one table for every value of every option that may matter within a deal."""
    return [*plain(), *(table for table in once() if table.options[0][0] not in OF_THE_MATCH)]


@contextmanager
def note_table(table: Table) -> Iterator[None]:
    """Add to an error the table at which it happened."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"at the table {table}")
        raise
