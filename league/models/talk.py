"""Tables of talk: comments of players, and reports about them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.enums import ReportOutcome, ReportReason
from league.models.matches import Match
from league.models.people import Player
from league.models.tournaments import Event, Tournament
from league.models.words import only_words

MOST_TEXT = 1000
MOST_REASON = 300


class Comment(models.Model):
    """A comment of a player about a sitting or a step of it, a puzzle, a tournament or an event (league.domain.talk)."""

    author = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="comments", db_index=False)
    match = models.ForeignKey(Match, null=True, on_delete=models.CASCADE, related_name="comments", db_index=False)
    board = models.PositiveIntegerField(null=True)
    sitting = models.PositiveSmallIntegerField(null=True)
    step = models.CharField(max_length=12, blank=True, default="")  # "d1p4" as in addresses; empty: the whole sitting.
    puzzle = models.CharField(max_length=12, blank=True, default="")  # The id of engine.puzzles.Puzzle.
    tournament = models.ForeignKey(Tournament, null=True, on_delete=models.CASCADE, related_name="comments")
    event = models.ForeignKey(Event, null=True, on_delete=models.CASCADE, related_name="comments")
    answers = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    text = models.CharField(max_length=MOST_TEXT, blank=True)  # Plain text; empty after its deletion.
    created = models.DateTimeField()
    deleted = models.DateTimeField(null=True)  # When its author deleted it.
    # When, why and by whom an operator hid it.
    hidden = models.DateTimeField(null=True)
    hidden_for = models.CharField(max_length=MOST_REASON, blank=True, default="")
    hidden_by = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(match__isnull=False, board__isnull=False, sitting__isnull=False, puzzle="")
                & Q(tournament=None, event=None)
                | Q(match=None, board=None, sitting=None, step="")
                & (
                    Q(tournament=None, event=None) & ~Q(puzzle="")
                    | Q(tournament__isnull=False, event=None, puzzle="")
                    | Q(tournament=None, event__isnull=False, puzzle="")
                ),
                name="comment_is_about_one",
            )
        ]
        indexes = [
            models.Index(fields=["author", "created"], name="comment_author"),
            models.Index(
                fields=["match", "board", "sitting", "-id"], condition=Q(match__isnull=False), name="comment_match"
            ),
            models.Index(fields=["puzzle", "-id"], condition=~Q(puzzle=""), name="comment_puzzle"),
        ]

    def __str__(self) -> str:
        return f"comment {self.pk} by player {self.author_id}"


class Report(models.Model):
    """A report of a comment by a player, for the operators. `text` is the comment as it was reported, so that its author cannot remove it."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="reports", db_index=False)
    reporter = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="reports", db_index=False)
    reason = models.CharField(max_length=10, choices=ReportReason)
    text = models.CharField(max_length=MOST_TEXT, blank=True)
    created = models.DateTimeField()
    # When, by whom and how it was decided; null: it waits.
    decided = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=80, blank=True, default="")
    outcome = models.CharField(max_length=10, choices=ReportOutcome, blank=True, default="")

    class Meta:
        constraints = [
            only_words("report", "reason", ReportReason),
            only_words("report", "outcome", ReportOutcome, or_empty=True),
            models.UniqueConstraint(fields=["comment", "reporter"], name="report_once"),
        ]
        indexes = [
            models.Index(fields=["reporter", "created"], name="report_reporter"),
            models.Index(fields=["comment"], condition=Q(decided=None), name="report_open"),
        ]

    def __str__(self) -> str:
        return f"report {self.pk} of comment {self.comment_id}"
