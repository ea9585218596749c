"""The common parts of single and double elimination: seeds, byes, and the decision of a drawn match."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log2

from league.pure.formats.base import BracketPairing, Parameter
from league.pure.formats.sheet import Field, Levels, Scores, Sheet, Slot
from league.pure.refusal import translatable

PARAMETERS = (
    Parameter(
        name="extra",
        default=2,
        low=1,
        high=64,
        help=translatable("Boards added at a time while a match is level."),
    ),
    Parameter(
        name="cap",
        default=8,
        low=0,
        high=256,
        can_grow=True,
        help=translatable("Most extra boards. After them the score decides, then the better seed."),
    ),
)
PARTED = translatable(
    "mixed pairs cannot play an elimination, because partners win and lose together; choose one of {others}"
)


def seeded(order: Sequence[int]) -> list[int | None]:
    """Return the first round's line: seeds 1 and 2 can meet only in the final, 1 to 4 only in the last two rounds, and so on.

    With 2^m places, place x of a line of half the size becomes x and 2^(m) + 1 - x. Missing seeds are byes (None), so the top seeds get them; no
    two byes meet.
    """
    size = 2 ** ceil(log2(max(2, len(order))))
    line = [0]
    while len(line) < size:
        line = [x for place in line for x in (place, 2 * len(line) - 1 - place)]
    return [order[place] if place < len(order) else None for place in line]


@dataclass(slots=True)
class Bracket:
    """A bracket that plays pairings on a sheet and records them."""

    field: Field
    sheet: Sheet
    pairings: list[BracketPairing] = dataclasses.field(default_factory=list)

    def meet(self, part: str, round: int, place: int, first: int | None, second: int | None, at: int) -> BracketPairing:
        """Play one pairing in round `at` of the tournament, as far as there are results. An entry of None means nobody."""
        if first is None or second is None:
            winner = first if second is None else second
            pairing = BracketPairing(part, round, place, first, second, winner, "bye" if winner is not None else "")
        else:
            pairing = self._play(part, round, place, (first, second), at)
        self.pairings.append(pairing)
        return pairing

    def _play(self, part: str, round: int, place: int, pair: tuple[int, int], at: int) -> BracketPairing:
        """Play the boards. If they are drawn, play extra boards up to the cap; then the score decides, then the better seed."""
        label = f"{part} {round}"
        boards = self.sheet.seat(at, pair, self.field.boards, label)
        slots: list[Slot] = [self.sheet.pairings[-1].slot]
        if boards is None:
            return BracketPairing(part, round, place, *pair, slots=tuple(slots))
        ahead, points = _lead(boards)
        extra = 0
        while ahead == 0 and extra < self.field.number("cap"):
            more = min(self.field.number("extra"), self.field.number("cap") - extra)
            added = self.sheet.seat(at, pair, more, f"{label} extra")
            slots.append(self.sheet.pairings[-1].slot)
            if added is None:
                return BracketPairing(part, round, place, *pair, slots=tuple(slots))
            extra += more
            lead, gained = _lead(added)
            ahead, points = ahead + lead, points + gained
        decided_by = ("extra" if extra else "boards") if ahead else "points" if points else "seed"
        better = ahead or points or self._seed(pair[1]) - self._seed(pair[0])
        return BracketPairing(part, round, place, *pair, pair[0] if better > 0 else pair[1], decided_by, tuple(slots))

    def _seed(self, entry: int) -> int:
        return self.field.order.index(entry)


def _lead(boards: Sequence[Scores]) -> tuple[int, int]:
    """Return by how many boards, and by what score, the first entry leads."""
    return sum((a > b) - (a < b) for a, b in boards), sum(a - b for a, b in boards)


def levels(order: Sequence[int], out: Iterable[Sequence[int]], alive: Sequence[int]) -> Levels:
    """Return the places: surviving entries, then the eliminated ones from last to first. Entries eliminated together share a place."""
    seed = {entry: place for place, entry in enumerate(order)}
    groups = [list(alive), *(list(group) for group in reversed(list(out)))]
    return [sorted(group, key=seed.__getitem__) for group in groups if group]
