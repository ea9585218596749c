"""Successive halving: all survivors meet, then the better half stays; every board counts until the end.

Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits (2013); the estimates are Bradley-Terry strengths. At an equal
number of boards the best bot wins about .9 of the events, against .7 to .8 in a round robin, Swiss or bracket (docs/tournaments.md).
"""

from __future__ import annotations

from league.pure.formats.base import MOST_BOARDS, Format, Outcome, Parameter, Ranking, Size, split_boards
from league.pure.formats.ranks import rank_by_strength
from league.pure.formats.sheet import Field, Sheet
from league.pure.pairing import movements
from league.pure.refusal import translatable


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play stages of about equal cost; after each, the weaker half is eliminated, by all boards so far."""
    alive = sorted(field.order)
    out: list[list[int]] = []  # Eliminated in each stage, the last stage first.
    number = 0

    def rank() -> Ranking:
        return rank_by_strength(field, sheet, [alive, *out])

    for stage, boards in enumerate(_boards(field), 1):
        rounds = movements.movement(len(alive), field.seats, mixed=field.mixed)
        for part in split_boards(boards):
            for tables in rounds:
                number += 1
                for table in tables:
                    sheet.seat(number, [alive[i] for i in table], part, f"stage {stage}")
        if sheet.waiting:
            return Outcome(False, rank)
        line = [level[0] for level in rank_by_strength(field, sheet, [alive]).levels]
        keep = _survivor_count(field, len(alive))
        out.insert(0, line[keep:])
        alive = sorted(line[:keep])
    return Outcome(True, rank)


def _survivors(field: Field) -> list[int]:
    """Return the number of entries in each stage."""
    counts, alive = [], field.entries
    while alive > 1:
        counts.append(alive)
        alive = _survivor_count(field, alive)
    return counts


def _survivor_count(field: Field, alive: int) -> int:
    """Return the number of survivors: half, as long as they fill a table; of a single table, one."""
    half = (alive + 1) // 2
    return half if half >= field.table else field.table if alive > field.table else 1


def _tables(field: Field, alive: int) -> int:
    return movements.movement_size(alive, field.seats, mixed=field.mixed)


def _boards(field: Field) -> list[int]:
    """Return the boards of each table by stage: equal shares of the budget, at least one board."""
    counts = _survivors(field)
    budget = field.number("budget") or field.boards * _tables(field, field.entries)
    share = budget / len(counts)
    return [max(1, round(share / _tables(field, count))) for count in counts]


def size(field: Field) -> Size:
    """Return about the budget; by default as many boards as a single round robin."""
    tables = [_tables(field, count) for count in _survivors(field)]
    boards = _boards(field)
    matches = sum(count * len(split_boards(each)) for count, each in zip(tables, boards, strict=True))
    total = sum(count * each for count, each in zip(tables, boards, strict=True))
    return Size((matches, matches), (total, total))


FORMAT = Format(
    key="successive_halving",
    place=6,
    title=translatable("successive halving"),
    sentence=translatable(
        "All survivors meet, then the weaker half goes out. Every board counts to the end. It finds the best bot most often."
    ),
    eliminates=True,
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="budget",
            default=0,
            low=0,
            high=MOST_BOARDS * 10_000,
            help=translatable("Boards in total, in equal shares for the stages. 0: as many as a round robin takes."),
        ),
    ),
)
