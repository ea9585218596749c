"""Puzzles, answers, and the ratings of the players who answer."""

from __future__ import annotations

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.problems import message
from league.api.http.serializers import ObjectField, StrictSerializer
from league.domain.puzzles import answers


class PuzzleOut(Out):
    """A position in which one choice is clearly the best, as its seat sees it."""

    id = serializers.CharField()
    game = serializers.CharField()
    players = serializers.IntegerField()
    options = ObjectField()
    seat = serializers.IntegerField()
    events = serializers.ListField(
        child=ObjectField(), help_text="Everything that the seat has seen since the sitting began, as in the protocol."
    )
    hand = serializers.ListField(child=serializers.CharField())
    legal = serializers.ListField(child=serializers.CharField())
    unit = serializers.CharField(help_text="The unit of losses.")
    rating = serializers.FloatField(allow_null=True, help_text="Null: nobody has answered yet.")


class PuzzleAnswerNew(StrictSerializer):
    """An answer to a puzzle."""

    do = serializers.CharField(
        max_length=400, help_text=f'One of `legal`, or "{answers.SOLUTION}" to see the solution, which counts as wrong.'
    )
    zone = serializers.CharField(
        max_length=60,
        required=False,
        default="",
        allow_blank=True,
        help_text="Time zone by which your days in a row are counted, such as Europe/Madrid; if left out, the last one.",
    )

    def validate_zone(self, value: str) -> str:
        """Refuse a zone that does not exist."""
        if value and not answers.is_zone(value):
            raise serializers.ValidationError(message("is not a time zone; use a name such as Europe/Madrid"))
        return value


class PuzzleStandingOut(Out):
    """Your puzzle rating and days in a row. The rating is in no list and opens nothing."""

    rating = serializers.FloatField()
    deviation = serializers.FloatField()
    provisional = serializers.BooleanField(source="is_provisional", help_text="True while the deviation is large.")
    answers = serializers.IntegerField(help_text="First answers so far.")
    streak = serializers.IntegerField(help_text="Days in a row with an answer that counted, up to today or yesterday.")
    longest = serializers.IntegerField()
    done_today = serializers.BooleanField()
    zone = serializers.CharField(help_text="Time zone in which you last answered.")
    midnight = serializers.DateTimeField(help_text="When your day ends.")


class PuzzleVerdictOut(Out):
    """The judgement of an answer, and the solution."""

    solved = serializers.BooleanField()
    first = serializers.BooleanField(help_text="True if this answer counts: your first one.")
    best = serializers.ListField(child=serializers.CharField())
    lost = ObjectField(help_text="What each choice gives away on average, by choice.")
    themes = serializers.ListField(child=serializers.CharField())
    change = serializers.FloatField(allow_null=True, help_text="Of your rating; null if the answer does not count.")
    puzzle_rating = serializers.FloatField(allow_null=True)
    standing = PuzzleStandingOut()
