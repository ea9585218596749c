"""The verdict: how a finished deal is decided."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Verdict:
    """The result of a deal.

    `winner` is a side or None; `losers` are seats; `why` is a word for the record (points, tute, claim, capote, ...); `decided` is True if this deal
    ends a game that may take several; `marks` are the loss marks of each loser; `points` are the points of the deal by side if they have been counted
    already, else None.
    """

    winner: int | None = None
    losers: tuple[int, ...] = ()
    why: str = "points"
    decided: bool = True
    marks: int = 1
    points: list[int] | None = None
