"""The result of a match as plain data: `asdict` of any of it is JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FaultReport:
    """Who was to blame, for what, and where. `step` counts the actions of the sitting before it; -1 is the start of the pass."""

    party: int
    seat: int
    board: int
    sitting: int
    step: int
    kind: str
    detail: str
    request: str = ""  # the line that the bot had been sent, shortened
    answer: str = ""  # the line that it wrote, where it wrote one, shortened

    @property
    def at(self) -> tuple[int, int, int]:
        """Board, sitting, step."""
        return (self.board, self.sitting, self.step)


@dataclass(frozen=True)
class SittingResult:
    """One playing of a board. `seating[seat]` is a party, `scores[seat]` its score in the game's unit.

    `faults` are those that cut it short or, where they came in an earlier sitting of the pass, kept it from being played.
    """

    number: int
    seating: tuple[int, ...]
    scores: list[int]
    faults: tuple[FaultReport, ...]
    replay: dict[str, Any]

    @property
    def fault(self) -> FaultReport | None:
        """The first fault, if any."""
        return self.faults[0] if self.faults else None


@dataclass
class BoardResult:
    """One board in all its sittings. Incomplete only when the match was stopped; such a board is no result."""

    number: int
    complete: bool = False
    # Per party, summed over sittings; each side that the party sits on counts once.
    scores: list[int] = field(default_factory=list)
    sittings: list[SittingResult] = field(default_factory=list)


@dataclass
class PartyReport:
    """What one party did in the whole match: its first fault, its log, its use of time (seconds)."""

    name: str
    faults: list[FaultReport] = field(default_factory=list)
    stderr: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    decisions: int = 0
    max_cpu_s: float = 0.0
    notes: int = 0
    sealed: bool = False  # whether it played off from every clock of the host

    @property
    def fault(self) -> str | None:
        """Kind of the first fault."""
        return self.faults[0].kind if self.faults else None

    @property
    def fault_detail(self) -> str:
        """What the first fault was, for the author."""
        return self.faults[0].detail if self.faults else ""

    @property
    def fault_at(self) -> tuple[int, int, int] | None:
        """Board, sitting, step of the first fault."""
        return self.faults[0].at if self.faults else None


@dataclass
class MatchResult:
    """All boards, a report per party, and where it was played."""

    match_id: str
    boards: list[BoardResult]
    parties: list[PartyReport]
    host: dict[str, Any]
    seconds: float = 0.0  # wall-clock time of the whole match
    decisions: int = 0  # asked of bots; forced ones are not asked
    # Of `seconds`, those of the sittings, with dealing and writing, without starting and ending bots.
    play_s: float = 0.0
