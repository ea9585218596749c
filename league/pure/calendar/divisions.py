"""Divisions: which entry plays in which division of the next season, from the final order of the last season."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from league.pure.refusal import Refusal


def next_divisions(
    last: Sequence[Sequence[int]],
    present: Collection[int],
    newcomers: Sequence[int],
    *,
    size: int,
    moves: int,
    least: int = 2,
) -> list[list[int]]:
    """Return the divisions of the next season, best first.

    `last`: the divisions of the last season, each in its final order; `present`: entries that still take part; `newcomers` start at the bottom.
    1. Between two divisions, the last `moves` of the upper one change places with the first `moves` of the lower one.
    2. If an entry has left, everybody below it moves up, so no division shrinks.
    3. Every division has `size` entries; the last one has the remaining ones. If fewer than `least` remain, they join the division above.
    Raise ValueError for a size below 2 or below `least`, or for more moves than half a division.
    """
    if size < max(2, least):
        raise Refusal("a division needs at least {fewest} entries, not {size}", fewest=max(2, least), size=size)
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
        moved[upper] = [entry for entry in moved[upper] if entry not in down] + list(up)
        moved[lower] = list(down) + [entry for entry in moved[lower] if entry not in up]
    order = [entry for division in moved for entry in division if entry in present]
    order += [entry for entry in newcomers if entry not in order]
    cut = [order[i : i + size] for i in range(0, len(order), size)]
    if len(cut) > 1 and len(cut[-1]) < least:
        cut[-2:] = [cut[-2] + cut[-1]]
    return cut
