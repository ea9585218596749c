"""Tables of puzzles: those from the league's own matches, the search for them, and players' answers."""

from __future__ import annotations

from django.db import models

from league.models.judgements import Judgement
from league.models.matches import Match
from league.models.people import Player


class PuzzleSearch(models.Model):
    """The search for puzzles in a match with a fair analysis.

    It is done once, by a worker without other work (league.domain.jobs.handlers.puzzles).
    """

    judgement = models.OneToOneField(
        Judgement, primary_key=True, on_delete=models.CASCADE, related_name="puzzle_search"
    )
    done = models.PositiveIntegerField(default=0)  # Sittings searched so far.
    made = models.PositiveSmallIntegerField(default=0)  # Puzzles found.
    finished = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["-judgement"], condition=models.Q(finished__isnull=True), name="puzzle_search_waits")
        ]

    def __str__(self) -> str:
        return f"puzzles of judgement {self.judgement_id}"


class FoundPuzzle(models.Model):
    """A puzzle found in a match of this league."""

    puzzle = models.CharField(primary_key=True, max_length=12)  # The id of engine.puzzles.Puzzle.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="puzzles")
    created = models.DateTimeField(db_index=True)
    line = models.TextField()  # A line of a puzzle file.

    def __str__(self) -> str:
        return f"puzzle {self.puzzle} of match {self.match_id}"


class PuzzleAnswer(models.Model):
    """The first answer of a player to a puzzle; league.domain.puzzles.shelf has the puzzle itself."""

    # The unique constraint has an index.
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="puzzle_answers", db_index=False)
    puzzle = models.CharField(max_length=12)  # The id of engine.puzzles.Puzzle.
    game = models.CharField(max_length=30)
    answer = models.CharField(max_length=80)
    solved = models.BooleanField()
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "puzzle"], name="puzzle_answer_once")]

    def __str__(self) -> str:
        return f"puzzle {self.puzzle}: {self.answer}"
