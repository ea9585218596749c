"""Studies of the rules."""

from __future__ import annotations

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import ObjectField, OptionsField, StrictSerializer
from league.domain.studies import asking


class StudyNew(StrictSerializer):
    """A study: the rules, the boards, the pair of house bots."""

    game = serializers.CharField(max_length=30)
    players = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=20,
        help_text="Number of seats; if left out, the usual number of the game.",
    )
    options = OptionsField(required=False, help_text="Options by the names in /games/{key}.")
    boards = serializers.IntegerField(min_value=asking.LEAST, max_value=asking.MOST, default=asking.USUAL)
    better = serializers.CharField(
        max_length=40,
        default="",
        allow_blank=True,
        help_text="The stronger house bot of a pair; empty: the strongest pair that plays the game.",
    )


class StudyOut(Out):
    """A study of a variant, or of the usual rules of a game."""

    key = serializers.CharField()
    game = serializers.CharField()
    revision = serializers.IntegerField(help_text="Revision of the rules.")
    players = serializers.IntegerField()
    options = ObjectField(help_text="The options that differ from the usual ones.")
    inputs = ObjectField(help_text="What the boards follow from besides the rules: version of the engine, bots, seed.")
    usual = serializers.CharField(
        source="parent.key",
        allow_null=True,
        default=None,
        help_text="Key of the study of the usual rules; null: it is one.",
    )
    player = serializers.CharField(
        source="player.name",
        allow_null=True,
        default=None,
        help_text="Who started it last; null: the account is closed.",
    )
    boards = serializers.IntegerField()
    played = serializers.IntegerField(help_text="How many of them are counted.")
    spent_s = serializers.FloatField(help_text="Seconds that workers have spent on it, in all attempts.")
    begun = serializers.DateTimeField()
    decided = serializers.DateTimeField(allow_null=True, help_text="When it ended; null while it runs.")
    why = serializers.CharField(help_text="Why it ended before its end; empty otherwise.")


class StudyDetail(StudyOut):
    """A study with its report."""

    report = ObjectField(
        allow_null=True, help_text="The report of `tute lab --json` over the counted boards; null before the first one."
    )
