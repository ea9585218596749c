"""Knockout by tables: at tables of more than two the best of each table advance, until one table is left, the final.

Each round seats as many tables as necessary. From each table the `going_out` weakest are eliminated, but enough stay for a full final. If there are
too many entries for the tables, the top seeds rest. Tables are filled in a snake by seed. If the last entry to advance and the first one to go out
have equal board points, the table plays extra boards, together with all other such tables of the round; then the score decides, then the better
seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from league.pure.formats.base import Outcome, Ranking, Size
from league.pure.formats.sheet import Field, Scores, Sheet
from league.pure.pairing import movements
from league.pure.refusal import Refusal


@dataclass(slots=True)
class Company:
    """A table of one round: its entries, how many advance, and the boards so far."""

    entries: list[int]  # Entries in the order of their seeds.
    on: int
    boards: list[Scores] = field(default_factory=list)  # Scores in the order of `entries`.

    def points(self, place: int) -> int:
        """Return half points over all boards."""
        return sum(1 + (b[place] > other) - (b[place] < other) for b in self.boards for other in b) - len(self.boards)

    def line(self) -> list[int]:
        """Return the places of `entries` from first to last: by board points, then score, then seed."""
        score = [sum(board[place] for board in self.boards) for place in range(len(self.entries))]
        return sorted(range(len(self.entries)), key=lambda place: (-self.points(place), -score[place], place))

    @property
    def level(self) -> bool:
        """Return True if the last to advance and the first to go out have equal board points."""
        line = self.line()
        return self.points(line[self.on - 1]) == self.points(line[self.on])


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play round after round. A round is seated when the previous one is finished."""
    alive, out = list(field.order), list[list[int]]()

    def rank(final: Company | None = None) -> Ranking:
        head = [alive] if final is None else [[final.entries[place]] for place in final.line()]
        reached = {entry: number for number, group in enumerate([*out, alive], 1) for entry in group}
        won = {} if final is None else {entry: final.points(place) / 2 for place, entry in enumerate(final.entries)}
        breaks = {entry: {"round": reached[entry], "final": won.get(entry, 0.0)} for entry in field.order}
        return Ranking([*head, *reversed(out)], breaks)

    for number, counts in enumerate(_plan(field, len(alive)), 1):
        tables = _filled(alive, field.seats, counts)
        if not _round(field, sheet, number, tables):
            return Outcome(False, rank)
        gone = {table.entries[place] for table in tables for place in table.line()[table.on :]}
        out.append([entry for entry in alive if entry in gone])
        alive = [entry for entry in alive if entry not in gone]
    final = Company(alive, 1)
    if not _round(field, sheet, len(out) + 1, [final], "final"):
        return Outcome(False, rank)
    return Outcome(True, lambda: rank(final))


def _round(field: Field, sheet: Sheet, number: int, tables: Sequence[Company], label: str = "") -> bool:
    """Play the boards of all tables, then extra boards of undecided tables up to the cap; return True if all are decided."""
    extra, boards, playing = 0, field.boards, list(tables)
    while playing and boards:
        for place, table in enumerate(playing, 1):
            table.boards += sheet.seat(number, table.entries, boards, label or f"table {place}") or ()
        if sheet.waiting:
            return False
        boards = min(field.number("extra"), field.number("cap") - extra)
        extra += boards
        playing = [table for table in playing if table.level]
    return True


def _going_out(field: Field) -> int:
    """Return the number of entries that each table eliminates."""
    on = field.number("advance") or field.seats // 2
    if on >= field.seats:
        raise Refusal(
            "advance is at most {most} at tables of {seats}, not {value}",
            most=field.seats - 1,
            seats=field.seats,
            value=on,
        )
    return field.seats - on


def _plan(field: Field, alive: int) -> list[list[int]]:
    """Return for each round before the final the numbers of entries that advance from its tables."""
    out = _going_out(field)
    rounds = []
    while alive > field.seats:
        gone = min(alive - field.seats, alive // field.seats * out)
        count = -(-gone // out)
        rounds.append([field.seats - gone // count - (place < gone % count) for place in range(count)])
        alive -= gone
    return rounds


def _filled(alive: Sequence[int], seats: int, on: Sequence[int]) -> list[Company]:
    """Return the tables of a round: the top seeds rest, the others sit in a snake, so that every table has high and low seeds."""
    playing = alive[len(alive) - seats * len(on) :]
    return [
        Company([playing[place] for place in group], on[i])
        for i, group in enumerate(movements.snake(range(len(playing)), len(on)))
    ]


def size(field: Field) -> Size:
    """Return the tables of all rounds and the final, each with up to `cap` extra boards in steps of `extra`."""
    tables = 1 + sum(map(len, _plan(field, field.entries)))
    cap = field.number("cap")
    pieces = -(-cap // field.number("extra"))
    return Size((tables, tables * (1 + pieces)), (tables * field.boards, tables * (field.boards + cap)))
