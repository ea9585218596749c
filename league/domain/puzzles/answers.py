"""The answers of players to puzzles. The first answer to a puzzle counts; later ones are judged but not stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from engine.puzzles import Puzzle
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.models import Player, PuzzleAnswer


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """The judgement of an answer. first: True if it counts, False if the player answered before; None for an anonymous client."""

    answer: str
    solved: bool
    lost: float
    first: bool | None


def answer(puzzle: Puzzle, text: str, player: Player | None, *, now: datetime | None = None) -> AnswerVerdict:
    """Judge an answer, and store it if it is the player's first. Raise Refused if the puzzle has no such choice."""
    if text not in puzzle.lost:
        raise Refused("{text!r} is none of the choices here", text=text[:40])
    solved, first = text in puzzle.best, None
    if player is not None:
        columns = {"game": puzzle.game, "answer": text, "solved": solved, "created": clock.now_or(now)}
        _row, first = PuzzleAnswer.objects.get_or_create(player=player, puzzle=puzzle.id, defaults=columns)
    return AnswerVerdict(text, solved, puzzle.lost[text], first)


def tried(player: Player) -> frozenset[str]:
    """Return the puzzles that a player has answered. One query."""
    return frozenset(PuzzleAnswer.objects.filter(player=player).values_list("puzzle", flat=True))


def tally(player: Player) -> dict[str, tuple[int, int]]:
    """Return the numbers of puzzles that a player has answered and solved, by game. One query."""
    rows = PuzzleAnswer.objects.filter(player=player).values("game").order_by("game")
    counted = rows.annotate(tried=Count("pk"), right=Count("pk", filter=Q(solved=True)))
    return {row["game"]: (row["tried"], row["right"]) for row in counted}
