"""Tunings of a bot's parameters."""

from __future__ import annotations

from rest_framework import serializers

from engine import spsa
from engine.packages.manifest import parameters_toml
from league.api.http.output import Out
from league.api.http.serializers import ObjectField, StrictSerializer, VersionRef
from league.domain.tunings import asking, steps
from league.enums import VersionTestVerdict
from league.models import Tuning


class TuningIn(StrictSerializer):
    """A tuning of the newest accepted version of a bot."""

    game = serializers.CharField(max_length=30)
    boards = serializers.IntegerField(
        min_value=asking.LEAST, max_value=asking.MOST, default=asking.USUAL, help_text="Boards of the search."
    )
    opponent = serializers.CharField(
        max_length=60,
        default="",
        allow_blank=True,
        help_text="A bot whose source you may read, such as greedy or rufo/3; empty: the version itself.",
    )


class TuningOut(Out):
    """A search for better parameters, and the test of its result against the start."""

    id = serializers.IntegerField()
    version = VersionRef()
    game = serializers.CharField()
    opponent = VersionRef(allow_null=True, help_text="null: the version itself.")
    boards = serializers.IntegerField(help_text="Boards of the search.")
    played = serializers.IntegerField(help_text="How many of them are counted.")
    values = serializers.SerializerMethodField(help_text="The current value of each parameter.")
    won = serializers.IntegerField(help_text="Boards of the test that the result won.")
    drawn = serializers.IntegerField()
    lost = serializers.IntegerField()
    verdict = serializers.ChoiceField(
        choices=VersionTestVerdict.choices, allow_blank=True, help_text="Verdict of the test; empty until it decides."
    )
    why = serializers.CharField(help_text="Why it ended before its end; empty otherwise.")
    begun = serializers.DateTimeField()
    tested = serializers.DateTimeField(allow_null=True, help_text="When the test began.")
    decided = serializers.DateTimeField(allow_null=True, help_text="When it ended; null while it runs.")

    def get_values(self, row: Tuning) -> dict[str, float]:
        """Return the values as a bot would get them."""
        return spsa.final_values(steps.parameters_of(row), row.values)


class TuningDetail(TuningOut):
    """A tuning with its parameters and its course."""

    parameters = serializers.ListField(
        child=ObjectField(), help_text="What bot.toml declares: name, start, least, most, step."
    )
    course = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="Boards so far, and the value of each parameter then.",
    )
    toml = serializers.SerializerMethodField(help_text="The text for bot.toml with the current values.")

    def get_toml(self, row: Tuning) -> str:
        """Return the table of parameters."""
        return parameters_toml(steps.parameters_of(row), self.get_values(row))
