"""Arena: for a fixed time, free bots are paired again and again, by points, and not with those whom they have met lately.

Score: a match won on board points gives 2 points, a tie 1; at tables of more than two, to beat more of the others than one loses to is a win, as many
a tie. From the third win in a row on, a win gives 4. Points only add up, so nobody gains by leaving, and a match that is lost costs no more than a
match that is not played. Order: points, board points.

Pairing: when a quarter of the bots (at least MANY, more at larger tables) are free, or no match is open, they are sorted by points, equal ones by a
draw, and each meets the next ones in the order whom it has not met in its last matches (LATELY). The draw depends on the secret of the tournament,
which nobody knows before the end. The clock is the league's affair (`league.domain.tournaments.progress`): this module knows only that each bot plays
at most `most` matches, which bounds the cost.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from league.pure.formats.base import Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.sheet import Field, Scores, Sheet
from league.pure.refusal import translatable

WIN, TIE, RUN_WIN = 2, 1, 4
RUN = 2  # Wins in a row after which each further one gives RUN_WIN.
MANY = 4  # Free bots that are paired, or a quarter of all if that is more.
LATELY = 3  # A bot does not meet its opponents of this number of matches again, if there are enough others.


@dataclass(slots=True)
class _Record:
    """The results of an entry: points, half points on boards, wins in a row now and at best, and its opponents in order."""

    points: int = 0
    boards: int = 0
    run: int = 0
    best_run: int = 0
    met: list[int] = field(default_factory=list)

    def note(self, lead: int, boards: int) -> None:
        """Add a match won (lead > 0), tied or lost."""
        self.boards += boards
        self.run = self.run + 1 if lead > 0 else 0
        self.best_run = max(self.best_run, self.run)
        self.points += (RUN_WIN if self.run > RUN else WIN) if lead > 0 else TIE if lead == 0 else 0


def play(field: Field, sheet: Sheet) -> Outcome:
    """Seat the existing tables, then pair the free bots."""
    records: dict[int, _Record] = defaultdict(_Record)
    busy: set[int] = set()
    for table in sheet.drawn:
        boards = sheet.stand(table)
        for entry in table.entries:
            records[entry].met += [other for other in table.entries if other != entry]
        if boards is None:
            busy |= set(table.entries)
        elif boards:  # A void match counts for nobody.
            _note([records[entry] for entry in table.entries], boards)
    rivals = field.table - 1
    most = field.number("most") * rivals
    active = [e for e in range(field.entries) if e not in field.withdrawn and len(records[e].met) < most]
    free = [entry for entry in active if entry not in busy]
    if not busy or len(free) >= max(MANY * rivals, len(active) // 4):
        rng = random.Random(f"arena\n{field.lot}\n{len(sheet.drawn)}")
        lots = {entry: rng.random() for entry in free}
        line = sorted(free, key=lambda entry: (-records[entry].points, lots[entry]))
        lately = max(0, min(LATELY * rivals, (len(active) - 1) // 2))
        groups = _group(line, records, lately, field.table)
        while not groups and not busy and lately:  # Nobody is left to wait for.
            lately -= 1
            groups = _group(line, records, lately, field.table)
        for group in groups:
            sheet.seat(1, group, field.boards)
    return Outcome(not sheet.waiting, lambda: _rank(field, records), "" if sheet.waiting else "budget")


def _note(records: Sequence[_Record], boards: Sequence[Scores]) -> None:
    """Add a match to the records of those at its table, in the order of the scores."""
    for own, record in enumerate(records):
        ahead = [
            sum((score[own] > score[other]) - (score[own] < score[other]) for score in boards)
            for other in range(len(records))
            if other != own
        ]
        lead = sum((margin > 0) - (margin < 0) for margin in ahead)
        record.note(lead, sum(len(boards) + margin for margin in ahead))


def _group(line: Sequence[int], records: dict[int, _Record], lately: int, seats: int) -> list[tuple[int, ...]]:
    """Seat each entry, from the top, with the next ones of whom none has met another lately; who finds too few waits.

    lately: the number of its last opponents that an entry does not meet.
    """
    waiting, tables = list(line), []

    def is_fresh(a: int, b: int) -> bool:
        return not lately or (b not in records[a].met[-lately:] and a not in records[b].met[-lately:])

    while waiting:
        table = [waiting.pop(0)]
        for other in waiting:
            if len(table) < seats and all(is_fresh(entry, other) for entry in table):
                table.append(other)
        if len(table) == seats:
            waiting = [entry for entry in waiting if entry not in table]
            tables.append(tuple(table))
    return tables


def _rank(field: Field, records: dict[int, _Record]) -> Ranking:
    def key(entry: int) -> tuple[int, int]:
        return -records[entry].points, -records[entry].boards

    order = sorted(range(field.entries), key=lambda entry: (key(entry), entry))
    breaks = {
        entry: {"arena": float(records[entry].points), "best_run": float(records[entry].best_run)} for entry in order
    }
    return Ranking([list(level) for _, level in groupby(order, key=key)], breaks)


def size(field: Field) -> Size:
    """Return at most entries x most / seats matches; the clock may end it before the second one."""
    matches = field.entries * field.number("most") // field.table
    return Size((1, matches), (field.boards, matches * field.boards))


FORMAT = Format(
    key="arena",
    place=9,
    title=translatable("arena"),
    sentence=translatable(
        "For a fixed time free bots are paired again and again. A win gives 2 points, a tie 1, and from the third win in a row on a win gives 4."
    ),
    play=play,
    size=size,
    unmixed=translatable("an arena pairs single bots, and mixed pairs are four; choose one of {others}"),
    parameters=(
        Parameter(
            name="minutes",
            default=60,
            low=5,
            high=180,
            help=translatable("How long it goes on. Matches that are being played at the end still count."),
        ),
        Parameter(name="most", default=40, low=2, high=200, help=translatable("The most matches of each bot.")),
    ),
    timed=True,
    stands=True,
    eager=True,
    rounds=False,
)
