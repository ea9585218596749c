"""Arena: for a fixed time, free bots are paired again and again, by points, and not with those whom they have met lately.

Score: a match won on board points gives 2 points, a tie 1; from the third win in a row on, a win gives 4. Points only add up, so nobody gains by
leaving, and a match that is lost costs no more than a match that is not played. Order: points, board points.

Pairing: when a quarter of the bots (at least MANY) are free, or no match is open, they are sorted by points, equal ones by a draw, and each meets the
next in the order whom it has not met in its last matches (LATELY). The draw depends on the secret of the tournament, which nobody knows before the
end. The clock is the league's affair (`league.domain.tournaments.progress`): this module knows only that each bot plays at most `most` matches,
which bounds the cost.
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
        a, b = table.entries
        records[a].met.append(b)
        records[b].met.append(a)
        if boards is None:
            busy |= {a, b}
        elif boards:  # A void match counts for nobody.
            _note(records[a], records[b], boards)
    most = field.number("most")
    active = [e for e in range(field.entries) if e not in field.withdrawn and len(records[e].met) < most]
    free = [entry for entry in active if entry not in busy]
    if not busy or len(free) >= max(MANY, len(active) // 4):
        rng = random.Random(f"arena\n{field.lot}\n{len(sheet.drawn)}")
        lots = {entry: rng.random() for entry in free}
        line = sorted(free, key=lambda entry: (-records[entry].points, lots[entry]))
        lately = max(0, min(LATELY, (len(active) - 1) // 2))
        pairs = _pair(line, records, lately)
        while not pairs and not busy and lately:  # Nobody is left to wait for.
            lately -= 1
            pairs = _pair(line, records, lately)
        for pair in pairs:
            sheet.seat(1, pair, field.boards)
    return Outcome(not sheet.waiting, lambda: _rank(field, records), "" if sheet.waiting else "budget")


def _note(a: _Record, b: _Record, boards: Sequence[Scores]) -> None:
    ahead = sum((score[0] > score[1]) - (score[0] < score[1]) for score in boards)
    a.note(ahead, len(boards) + ahead)
    b.note(-ahead, len(boards) - ahead)


def _pair(line: Sequence[int], records: dict[int, _Record], lately: int) -> list[tuple[int, int]]:
    """Pair each entry, from the top, with the next one that neither has met in its last `lately` matches; who finds nobody waits."""
    waiting, pairs = list(line), []

    def is_fresh(a: int, b: int) -> bool:
        return not lately or (b not in records[a].met[-lately:] and a not in records[b].met[-lately:])

    while waiting:
        entry = waiting.pop(0)
        other = next((other for other in waiting if is_fresh(entry, other)), None)
        if other is not None:
            waiting.remove(other)
            pairs.append((entry, other))
    return pairs


def _rank(field: Field, records: dict[int, _Record]) -> Ranking:
    def key(entry: int) -> tuple[int, int]:
        return -records[entry].points, -records[entry].boards

    order = sorted(range(field.entries), key=lambda entry: (key(entry), entry))
    breaks = {
        entry: {"arena": float(records[entry].points), "best_run": float(records[entry].best_run)} for entry in order
    }
    return Ranking([list(level) for _, level in groupby(order, key=key)], breaks)


def size(field: Field) -> Size:
    """Return at most entries x most / 2 matches; the clock may end it before the second one."""
    matches = field.entries * field.number("most") // 2
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
    unseated=translatable("an arena needs tables of two, not {seats}; choose one of {others}"),
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
