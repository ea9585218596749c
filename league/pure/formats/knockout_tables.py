"""Knockout by tables: at tables of more than two the best of each table go on, until one table is left, the final.

Each round seats as many tables as are needed: of each its weakest go out, `going_out` of them, and no more than that leave a full final. Who
finds no place at a table rests; those are the top seeds. Tables are filled as a snake by seed. At the line between those who go on and the others
a table that is level plays extra boards, all such tables of a round together; then the score decides, then the better seed.
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
    """A table of one round: who sits there, how many of them go on, and the boards so far."""

    entries: list[int]  # by seed
    on: int
    boards: list[Scores] = field(default_factory=list)  # scores in the order of `entries`

    def points(self, place: int) -> int:
        """Half points on boards."""
        return sum(1 + (b[place] > other) - (b[place] < other) for b in self.boards for other in b) - len(self.boards)

    def line(self) -> list[int]:
        """Places of `entries` from first to last: board points, then score, then seed."""
        score = [sum(board[place] for board in self.boards) for place in range(len(self.entries))]
        return sorted(range(len(self.entries)), key=lambda place: (-self.points(place), -score[place], place))

    @property
    def level(self) -> bool:
        """Whether board points do not part the last who goes on from the first who does not."""
        line = self.line()
        return self.points(line[self.on - 1]) == self.points(line[self.on])


def play(field: Field, sheet: Sheet) -> Outcome:
    """Round after round; the next one is seated when the last one is over."""
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
    """Boards of all tables, then extra boards of those that are level, up to the cap; whether all are decided."""
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
    """How many of a table go out, where the final leaves room."""
    on = field.number("advance") or field.seats // 2
    if on >= field.seats:
        raise Refusal(
            "advance is at most {most} at tables of {seats}, not {given}",
            most=field.seats - 1,
            seats=field.seats,
            given=on,
        )
    return field.seats - on


def _plan(field: Field, alive: int) -> list[list[int]]:
    """Of each round before the final, how many go on from each of its tables."""
    out = _going_out(field)
    found = []
    while alive > field.seats:
        gone = min(alive - field.seats, alive // field.seats * out)
        count = -(-gone // out)
        found.append([field.seats - gone // count - (place < gone % count) for place in range(count)])
        alive -= gone
    return found


def _filled(alive: Sequence[int], seats: int, on: Sequence[int]) -> list[Company]:
    """The tables of a round: the top seeds rest, the others sit as a snake, so that every table has seeds of all heights."""
    playing = alive[len(alive) - seats * len(on) :]
    return [
        Company([playing[place] for place in group], on[i])
        for i, group in enumerate(movements.snake(range(len(playing)), len(on)))
    ]


def size(field: Field) -> Size:
    """The tables of all rounds, and the final; each up to `cap` extra boards longer, in pieces of `extra`."""
    tables = 1 + sum(map(len, _plan(field, field.entries)))
    cap = field.number("cap")
    pieces = -(-cap // field.number("extra"))
    return Size((tables, tables * (1 + pieces)), (tables * field.boards, tables * (field.boards + cap)))
