"""The table of answers to puzzles."""

from __future__ import annotations

from django.db import models

from league.models.people import Player


class PuzzleAnswer(models.Model):
    """The first answer of a player to a puzzle. The puzzle itself stands in a file (league.domain.puzzles.shelf)."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="puzzle_answers", db_index=False)  # once
    puzzle = models.CharField(max_length=12)  # engine.puzzles.Puzzle.id
    game = models.CharField(max_length=30)
    answer = models.CharField(max_length=80)
    solved = models.BooleanField()
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "puzzle"], name="puzzle_answer_once")]

    def __str__(self) -> str:
        return f"puzzle {self.puzzle}: {self.answer}"
