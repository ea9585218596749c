"""The result of a match as plain data: `asdict` of every part can be written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FaultReport:
    """One fault: which party and seat, what happened and where. `step` counts the actions of the sitting before it; -1 is the start of the pass."""

    party: int
    seat: int
    board: int
    sitting: int
    step: int
    kind: str
    detail: str
    request: str = ""  # The last line sent to the bot, shortened.
    answer: str = ""  # The line that the bot wrote, if any, shortened.

    @property
    def at(self) -> tuple[int, int, int]:
        """Board, sitting, step."""
        return (self.board, self.sitting, self.step)


@dataclass(frozen=True)
class SittingResult:
    """One playing of a board. `seating[seat]` is a party, `scores[seat]` its score in the game's unit.

    faults: those that cut it short or, if they happened in an earlier sitting of the pass, prevented it.
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
    """One board in all its sittings. It is incomplete only if the match was stopped; then it does not count."""

    number: int
    complete: bool = False
    # Per party, summed over sittings; each side that the party sits on counts once.
    scores: list[int] = field(default_factory=list)
    sittings: list[SittingResult] = field(default_factory=list)


@dataclass
class PartyReport:
    """The record of one party over the whole match: faults, log, times in seconds."""

    name: str
    faults: list[FaultReport] = field(default_factory=list)
    stderr: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    decisions: int = 0
    max_cpu_s: float = 0.0
    notes: int = 0
    sealed: bool = False  # True if the bot played without access to the host's clocks.

    @property
    def fault(self) -> str | None:
        """Kind of the first fault; None if there is none."""
        return self.faults[0].kind if self.faults else None

    @property
    def fault_detail(self) -> str:
        """Detail of the first fault, for the author."""
        return self.faults[0].detail if self.faults else ""

    @property
    def fault_at(self) -> tuple[int, int, int] | None:
        """Board, sitting, step of the first fault."""
        return self.faults[0].at if self.faults else None


@dataclass
class MatchResult:
    """All boards, a report per party, and the host."""

    match_id: str
    boards: list[BoardResult]
    parties: list[PartyReport]
    host: dict[str, Any]
    seconds: float = 0.0  # Wall-clock time of the whole match.
    decisions: int = 0  # Decisions that bots took. A bot with one legal action is not asked.
    # The part of `seconds` spent on sittings, dealing and recording, but not on starting and ending bots.
    play_s: float = 0.0
