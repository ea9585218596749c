"""Double elimination: an entry that loses twice is out.

The winners' bracket is a single elimination. Its losers move to the losers' bracket, where rounds of survivors against newcomers alternate with
rounds among survivors. Newcomers come in reversed order every other time, so that two entries meet again as late as possible. The winners of both
brackets meet in the final; if the one from the losers' bracket wins, both have lost once, and a second final decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from league.pure.formats.base import BracketPairing, Format, Outcome, Ranking, Size
from league.pure.formats.knockout import PARAMETERS, PARTED, Bracket, levels, seeded
from league.pure.formats.sheet import Field, Sheet
from league.pure.formats.single_elimination import pairings_size
from league.pure.refusal import translatable


@dataclass(frozen=True, slots=True)
class BracketSlot:
    """A slot of a bracket round: not known yet, an entry, or nobody."""

    is_known: bool
    entry: int | None = None


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play both brackets as far as the results allow."""
    run = _Run(Bracket(field, sheet))
    line = [BracketSlot(True, entry) for entry in seeded(field.order)]
    line, fallen = run.round("winners", 1, line, 1)
    lower = fallen
    # The round of each bracket, and the tournament's round; both brackets play at the same time.
    number, below, at = (
        1,
        0,
        1,
    )
    while len(line) > 1:
        number, below, at = number + 1, below + 2, at + 2
        lower, _ = run.round("losers", below - 1, lower, at - 1, out=True)
        line, fallen = run.round("winners", number, line, at - 1)
        mixed = [slot for pair in zip(lower, _crossed(fallen, number), strict=True) for slot in pair]
        lower, _ = run.round("losers", below, mixed, at, out=True)
    ends = _final(run, line[0], lower[0], at + 1)
    gone = {entry for group in run.out for entry in group}
    alive = [entry for entry in range(field.entries) if entry not in gone]
    is_over = not sheet.waiting and ends
    return Outcome(is_over, lambda: Ranking(levels(field.order, run.out, alive)), bracket=tuple(run.bracket.pairings))


class _Run:
    def __init__(self, bracket: Bracket) -> None:
        self.bracket = bracket
        self.out: list[list[int]] = []

    def round(
        self, part: str, number: int, line: list[BracketSlot], at: int, *, out: bool = False
    ) -> tuple[list[BracketSlot], list[BracketSlot]]:
        """Play one round of a bracket and return winners and losers; with `out` the losers are eliminated."""
        won: list[BracketSlot] = []
        lost: list[BracketSlot] = []
        for place in range(len(line) // 2):
            a, b = line[2 * place : 2 * place + 2]
            if not (a.is_known and b.is_known):
                won.append(BracketSlot(False))
                lost.append(BracketSlot(False))
                continue
            met = self.bracket.meet(part, number, place, a.entry, b.entry, at)
            played = a.entry is not None and b.entry is not None
            won.append(BracketSlot(not played or met.winner is not None, met.winner))
            lost.append(BracketSlot(not played or met.winner is not None, met.loser))
        if out:
            self.out.append([slot.entry for slot in lost if slot.entry is not None])
        return won, lost


def _crossed(line: list[BracketSlot], number: int) -> list[BracketSlot]:
    return line[::-1] if number % 2 == 0 else line


def _final(run: _Run, upper: BracketSlot, lower: BracketSlot, at: int) -> bool:
    """Play the final, and a second one if necessary; return True if everything is decided."""
    if not (upper.is_known and lower.is_known):
        return False
    first = run.bracket.meet("final", 1, 0, upper.entry, lower.entry, at)
    last: BracketPairing = first
    if first.loser is not None and first.winner == lower.entry:
        last = run.bracket.meet("final", 2, 0, upper.entry, lower.entry, at + 1)
    if last.loser is not None:
        run.out.append([last.loser])
    return last.winner is not None


def size(field: Field) -> Size:
    """Return 2 n - 2 matches, or 2 n - 1 with a second final."""
    return pairings_size(field, 2 * field.entries - 2, 2 * field.entries - 1)


FORMAT = Format(
    key="double_elimination",
    place=4,
    title=translatable("double elimination"),
    sentence=translatable("A bot that loses twice is out: a bracket that forgives one unlucky match."),
    bracket=True,
    eliminates=True,
    play=play,
    size=size,
    parameters=PARAMETERS,
    eager=True,
    fewest=3,
    unseated=translatable(
        "a double elimination cannot be played at tables of {seats}, because its second bracket takes one loser per match; choose one of {others}"
    ),
    unmixed=PARTED,
)
