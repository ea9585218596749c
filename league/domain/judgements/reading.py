"""What a judgement says, for people: its decisions with who took them, sums of a bot by phase, what cost most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.analysis import PHASES, Tally
from engine.judging import Verdict
from league.domain.judgements.bodies import Body, Place
from league.models import Judgement, Sitting
from league.pure.portable import comparable

ALL = "all"
BLUNDER = {"points": 20, "games": 500}  # from there on, in units of the stored scores; of other units from 1 on
CERTAIN = 1.96  # standard errors


@dataclass(frozen=True, slots=True)
class Placed:
    """A decision, where it was taken, and by which party."""

    board: int
    sitting: int
    party: int
    verdict: Verdict

    def mark(self, unit: str) -> str:
        """A "blunder", a "slip", or "" for nothing lost, not judged, or not told apart from nothing."""
        lost, error = self.verdict.lost, self.verdict.error
        if not lost or lost <= CERTAIN * error:
            return ""
        return "blunder" if lost >= BLUNDER.get(unit, 1) else "slip"


def seatings(row: Judgement, board: int | None = None) -> dict[Place, list[int]]:
    """Who sat where in each sitting of the match, or of one board. One query."""
    rows = Sitting.objects.filter(board__match=row.match_id)
    if board is not None:
        rows = rows.filter(board__number=board)
    return {
        (number, sitting): seats for number, sitting, seats in rows.values_list("board__number", "number", "seating")
    }


def placed(body: Body, where: dict[Place, list[int]]) -> list[Placed]:
    """The decisions of these sittings, in order."""
    return [
        Placed(board, number, seats[one.seat], one)
        for (board, number), seats in sorted(where.items())
        for one in body.sittings.get((board, number), ())
        if one.seat < len(seats)
    ]


def tallies(rows: Iterable[Placed], parties: int) -> list[dict[str, Tally]]:
    """By party: of all its decisions ("all") and of each phase."""
    found = [{phase: Tally() for phase in (ALL, *PHASES)} for _ in range(parties)]
    for one in rows:
        if one.party < parties:
            found[one.party][ALL].add(one.board, one.verdict.lost)
            found[one.party][one.verdict.phase].add(one.board, one.verdict.lost)
    return found


def costliest(rows: Sequence[Placed], unit: str, most: int = 5) -> list[Placed]:
    """What cost most, the worst first; slips and blunders alone."""
    return sorted((one for one in rows if one.mark(unit)), key=lambda one: -comparable(one.verdict.lost or 0.0))[:most]
