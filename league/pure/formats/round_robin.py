"""Round robin: every entry meets every other once per cycle. Double round robin: two cycles, the second with reversed seats.

With `sure`, cycles are added one by one until an entry is the best with that probability. `cycles` is then the cap: if it is reached, all entries
that cannot be distinguished from the best are co-champions.
"""

from __future__ import annotations

from league.pure.formats.base import Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.ranks import fitted, rank_by_points
from league.pure.formats.sheet import Field, Sheet
from league.pure.pairing import movements
from league.pure.rating import stopping
from league.pure.refusal import translatable

LEVEL_DRAWS = 4  # Schedule revision since which all machines draw the same numbers for an early stop.


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play all cycles at once, or one after the other until `sure` is reached."""
    rounds = movements.movement(field.entries, field.seats, mixed=field.mixed)
    cycles, sure = field.number("cycles"), field.real("sure")

    def rank() -> Ranking:
        return rank_by_points(field, sheet)

    for cycle in range(cycles):
        for number, tables in enumerate(rounds, 1 + cycle * len(rounds)):
            for table in tables:
                sheet.seat(number, reversed(table) if cycle % 2 else table, field.boards)
        if not sure:
            continue
        if sheet.waiting:
            return Outcome(False, rank)
        chances = stopping.chances_of_best(fitted(field, sheet), field.lot, level=field.revision >= LEVEL_DRAWS)
        best = max(chances.values(), default=0.0)
        if best >= sure:
            return Outcome(True, rank, "settled", {"chance_of_best": best, "cycles": cycle + 1})
    if sure and not sheet.waiting:
        return _capped(field, sheet, rank())
    return Outcome(not sheet.waiting, rank)


def _capped(field: Field, sheet: Sheet, ranking: Ranking) -> Outcome:
    """Return the outcome at the cap: all entries that cannot be distinguished from the best share the first place."""
    champions = set(stopping.co_champions(fitted(field, sheet))) if sheet.boards else set(range(field.entries))
    line = [entry for level in ranking.levels for entry in level]
    rest = [[entry for entry in level if entry not in champions] for level in ranking.levels]
    levels = [[entry for entry in line if entry in champions], *[level for level in rest if level]]
    why = "co_champions" if len(champions) > 1 else "cap"
    return Outcome(True, lambda: Ranking(levels, ranking.breaks), why, {"champions": len(champions)})


def size(field: Field) -> Size:
    """Return cycles times n (n - 1) / 2 matches at tables of two; C(n, seats), a cyclic or a whist movement at others."""
    tables = movements.movement_size(field.entries, field.seats, mixed=field.mixed)
    least = tables * (1 if field.real("sure") else field.number("cycles"))
    most = tables * field.number("cycles")
    return Size((least, most), (least * field.boards, most * field.boards))


FORMAT = Format(
    key="round_robin",
    place=1,
    title=translatable("round robin"),
    sentence=translatable(
        "In each cycle every entry meets every other once. The fairest result for a small field. All tables follow from the entries at the start, so "
        "nobody enters later."
    ),
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="cycles",
            can_grow=True,
            default=1,
            low=1,
            high=200,
            help=translatable(
                "How often each pair meets. Two cycles make a double round robin. With an early stop this is the maximum."
            ),
        ),
        Parameter(
            name="sure",
            default=0.0,
            low=0,
            high=0.999,
            help=translatable(
                "Stop after the cycle in which one entry is the best with this probability, such as 0.95. 0: play all cycles."
            ),
        ),
    ),
    follows=lambda field: bool(field.real("sure")),
)
