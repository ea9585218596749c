"""What a finished deal decides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Verdict:
    """How a deal ended.

    `winner` is a side or None; `losers` are seats; `why` is a word for the record (points, tute, claim, capote, ...); `decided` says that
    a game which may take several deals is over with this one; `marks` are the loss marks of each loser; `points` are those of the deal by
    side where the count has just worked them out, else None.
    """

    winner: int | None = None
    losers: tuple[int, ...] = ()
    why: str = "points"
    decided: bool = True
    marks: int = 1
    points: list[int] | None = None
