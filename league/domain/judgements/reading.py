"""The analysis of a match for people: its decisions with their parties, totals by phase, and the costliest decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.analysis import PHASES, Tally
from engine.judging import DecisionVerdict
from league.domain.judgements.bodies import Body, Place
from league.models import Judgement, Sitting
from league.pure.portable import comparable

ALL = "all"
BLUNDER = {
    "points": 20,
    "games": 500,
}  # The loss that makes a decision a blunder, in units of the scores; 1 in other units
CERTAIN = 1.96  # A loss above this many standard errors is certainly no chance


@dataclass(frozen=True, slots=True)
class Placed:
    """A decision with its board, sitting and party."""

    board: int
    sitting: int
    party: int
    verdict: DecisionVerdict

    def mark(self, unit: str) -> str:
        """Return "blunder" or "slip"; "" if nothing was lost, the loss may be chance, or the decision was not analysed."""
        lost, error = self.verdict.lost, self.verdict.error
        if not lost or lost <= CERTAIN * error:
            return ""
        return "blunder" if lost >= BLUNDER.get(unit, 1) else "slip"


def seatings(row: Judgement, board: int | None = None) -> dict[Place, list[int]]:
    """Return the party at each seat, by sitting of the match or of one board. One query."""
    rows = Sitting.objects.filter(board__match=row.match_id)
    if board is not None:
        rows = rows.filter(board__number=board)
    return {
        (number, sitting): seats for number, sitting, seats in rows.values_list("board__number", "number", "seating")
    }


def placed(body: Body, where: dict[Place, list[int]]) -> list[Placed]:
    """Return the decisions of these sittings, in order."""
    return [
        Placed(board, number, seats[verdict.seat], verdict)
        for (board, number), seats in sorted(where.items())
        for verdict in body.sittings.get((board, number), ())
        if verdict.seat < len(seats)
    ]


def tallies(rows: Iterable[Placed], parties: int) -> list[dict[str, Tally]]:
    """Return the totals of each party: over all its decisions ("all"), and by phase."""
    totals = [{phase: Tally() for phase in (ALL, *PHASES)} for _ in range(parties)]
    for decision in rows:
        if decision.party < parties:
            for phase in (ALL, decision.verdict.phase):
                totals[decision.party][phase].add(decision.board, decision.verdict.lost)
    return totals


def costliest(rows: Sequence[Placed], unit: str, most: int = 5) -> list[Placed]:
    """Return the slips and blunders that cost most, the worst first."""
    mistakes = (decision for decision in rows if decision.mark(unit))
    return sorted(mistakes, key=lambda decision: -comparable(decision.verdict.lost or 0.0))[:most]
