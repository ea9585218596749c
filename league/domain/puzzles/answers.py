"""What players answered. The first answer to a puzzle counts; later ones are told what they are worth, and change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from engine.puzzles import Puzzle
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.models import Player, PuzzleAnswer


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer is worth. first: whether it was the one that counts; None of who is not signed in."""

    answer: str
    solved: bool
    lost: float
    first: bool | None


def answer(puzzle: Puzzle, text: str, by: Player | None, *, now: datetime | None = None) -> Verdict:
    """Judge an answer, and keep it where it is the player's first. Refused where it is no choice of the puzzle."""
    if text not in puzzle.lost:
        raise Refused("{text!r} is none of the choices here", text=text[:40])
    solved, first = text in puzzle.best, None
    if by is not None:
        made = {"game": puzzle.game, "answer": text, "solved": solved, "created": clock.now_or(now)}
        _row, first = PuzzleAnswer.objects.get_or_create(player=by, puzzle=puzzle.id, defaults=made)
    return Verdict(text, solved, puzzle.lost[text], first)


def tried(by: Player) -> frozenset[str]:
    """The puzzles that a player has answered. One query."""
    return frozenset(PuzzleAnswer.objects.filter(player=by).values_list("puzzle", flat=True))


def tally(by: Player) -> dict[str, tuple[int, int]]:
    """By game: how many puzzles a player has answered, and how many of them rightly. One query."""
    rows = PuzzleAnswer.objects.filter(player=by).values("game").order_by("game")
    counted = rows.annotate(tried=Count("pk"), right=Count("pk", filter=Q(solved=True)))
    return {row["game"]: (row["tried"], row["right"]) for row in counted}
