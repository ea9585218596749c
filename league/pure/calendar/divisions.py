"""Seasons in divisions: who plays where next, from where the last season ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from league.pure.refusal import Refusal


def next_divisions(
    last: Sequence[Sequence[int]],
    there: Collection[int],
    newcomers: Sequence[int],
    *,
    size: int,
    moves: int,
    least: int = 2,
) -> list[list[int]]:
    """The divisions of the next season, best first.

    `last` are the divisions as they ended, each from first to last; `there` those who still take part; `newcomers` start at the bottom.
    1. At each border the `moves` last of the upper division and the `moves` first of the lower one change places.
    2. Who has left leaves a gap that the next in line fills; so everybody below moves up rather than a division shrinking.
    3. Every division has `size` entries, the last one the rest; a rest of fewer than `least` is joined to the division above.
    ValueError for a size below 2 or below `least`, or for more moves than half a division.
    """
    if size < max(2, least):
        raise Refusal("a division has {fewest} entries or more, not {size}", fewest=max(2, least), size=size)
    if not 0 <= moves <= size // 2:
        raise Refusal(
            "in a division of {size} entries at most {most} can move up or down, not {moves}",
            size=size,
            most=size // 2,
            moves=moves,
        )
    moved = [list(division) for division in last]
    for upper, lower in zip(range(len(last)), range(1, len(last)), strict=False):
        count = min(moves, len(last[upper]) // 2, len(last[lower]) // 2)
        if not count:
            continue
        down, up = last[upper][-count:], last[lower][:count]
        moved[upper] = [one for one in moved[upper] if one not in down] + list(up)
        moved[lower] = list(down) + [one for one in moved[lower] if one not in up]
    line = [one for division in moved for one in division if one in there]
    line += [one for one in newcomers if one not in line]
    cut = [line[i : i + size] for i in range(0, len(line), size)]
    if len(cut) > 1 and len(cut[-1]) < least:
        cut[-2:] = [cut[-2] + cut[-1]]
    return cut
