"""Tables of puzzles: those from the league's own matches, the search for them, answers, ratings, and each player's own mistakes."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.models.judgements import Judgement
from league.models.matches import Match
from league.models.people import Player
from league.models.tables import Table


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


class Glicko(models.Model):
    """A Glicko-2 rating (league.pure.rating.glicko) after some answers."""

    rating = models.FloatField(default=1500.0)
    deviation = models.FloatField(default=350.0)
    volatility = models.FloatField(default=0.06)
    answers = models.PositiveIntegerField(default=0)  # First answers so far.

    class Meta:
        abstract = True


class PuzzleRating(Glicko):
    """The rating of a puzzle, which players' first answers move."""

    puzzle = models.CharField(primary_key=True, max_length=12)  # The id of engine.puzzles.Puzzle.

    def __str__(self) -> str:
        return f"puzzle {self.puzzle}: {self.rating:.0f}"


class Solver(Glicko):
    """A player who solves puzzles: the rating, and the days in a row on which an answer counted."""

    player = models.OneToOneField(Player, primary_key=True, on_delete=models.CASCADE, related_name="solver")
    zone = models.CharField(max_length=60, default="UTC")  # The time zone in which the player last answered.
    day = models.DateField(null=True)  # The last day with an answer that counted, in this zone.
    streak = models.PositiveIntegerField(default=0)  # Days in a row up to `day`.
    longest = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"player {self.player_id}: {self.rating:.0f}"


class MistakeSearch(models.Model):
    """The search of a player's own decisions for mistakes: at a table, or of their bots in an analysed match. It is done once."""

    # The constraints have indexes that begin with this column.
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="mistake_searches", db_index=False)
    table = models.ForeignKey(Table, null=True, on_delete=models.CASCADE, related_name="mistake_searches")
    judgement = models.ForeignKey(Judgement, null=True, on_delete=models.CASCADE, related_name="mistake_searches")
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)
    # The puzzles of each deal that is searched, as lines of a puzzle file, by board, sitting and deal. It is empty once the search has finished.
    judged = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player", "table"], name="mistake_search_table"),
            models.UniqueConstraint(fields=["player", "judgement"], name="mistake_search_judgement"),
            models.CheckConstraint(
                condition=Q(table=None, judgement__isnull=False) | Q(table__isnull=False, judgement=None),
                name="mistake_search_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"mistakes of player {self.player_id}"


class Mistake(models.Model):
    """A position in which the player, or a bot of theirs, gave points away, as a puzzle that only this player sees."""

    # The unique constraint has an index.
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="mistakes", db_index=False)
    search = models.ForeignKey(MistakeSearch, on_delete=models.CASCADE, related_name="mistakes")
    puzzle = models.CharField(max_length=12)  # The id of engine.puzzles.Puzzle.
    line = models.TextField()  # A line of a puzzle file.
    created = models.DateTimeField()
    answers = models.PositiveIntegerField(default=0)
    box = models.PositiveSmallIntegerField(default=0)  # Right answers in a row.
    due = models.DateField(null=True)  # The next day on which it is asked; null: learnt.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "puzzle"], name="mistake_once")]

    def __str__(self) -> str:
        return f"mistake {self.puzzle} of player {self.player_id}"
