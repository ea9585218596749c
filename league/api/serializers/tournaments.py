"""Tournaments, entries, standings."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

import engine
from league.api.serializers.common import ObjectField, PoolRef, StrictSerializer, VersionRef
from league.domain import pools, tournaments
from league.domain.errors import Refused
from league.enums import TournamentFormat, TournamentStatus
from league.models import Tournament

MOST_ID = 2**31 - 1
MOST_OPTIONS = 100


class TournamentOut(serializers.Serializer[Any]):
    """Entries that meet by a schedule, on deals committed to before the first card."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    pool = PoolRef()
    format = serializers.ChoiceField(choices=TournamentFormat.choices)
    boards = serializers.IntegerField(help_text="Of each match.")
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    entries = serializers.IntegerField(source="entry_count")
    matches = serializers.IntegerField(source="match_count")
    matches_finished = serializers.IntegerField(source="finished_count")
    secret_sha256 = serializers.CharField(help_text="Published before the first deal.")
    secret = serializers.SerializerMethodField(
        help_text="Hexadecimal; every deal follows from it. Null until it is over."
    )
    created = serializers.DateTimeField()
    started = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)

    def get_secret(self, tournament: Tournament) -> str | None:
        """The secret when all its deals have been played."""
        return tournaments.published_secret(tournament)


class TournamentNew(StrictSerializer):
    """A round robin of a game."""

    name = serializers.CharField(max_length=80)
    game = serializers.CharField(max_length=30)
    players = serializers.IntegerField(
        required=False, min_value=1, max_value=20, help_text="Seats; the game's usual number unless said."
    )
    options = ObjectField(required=False, help_text="By the names in /games/{key}.")
    boards = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=settings.MAX_BOARDS,
        help_text="Of each match; suits the game unless said.",
    )
    bots = serializers.ListField(
        child=serializers.SlugField(max_length=40),
        required=False,
        max_length=settings.MAX_ENTRIES,
        help_text="To enter at once.",
    )
    start = serializers.BooleanField(required=False, default=False, help_text="Start it at once.")

    def validate_options(self, value: Any) -> dict[str, Any]:
        """An object whose names can be options."""
        if not isinstance(value, dict):
            raise serializers.ValidationError("must be an object of options by name")
        wrong = [name for name in value if name in ("key", "players") or len(name) > MOST_OPTIONS]
        if wrong:
            raise serializers.ValidationError(
                f"{wrong[0][:MOST_OPTIONS]!r} is not an option; the number of seats is the field players"
            )
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Game, seats and options must fit together: the engine says what does not."""
        if attrs["game"] not in engine.games():
            there = ", ".join(engine.games())
            raise serializers.ValidationError({"game": [f"there is no game {attrs['game']!r}; the games are {there}"]})
        try:
            pools.load(attrs["game"], attrs.get("players"), attrs.get("options"))
        except Refused as error:
            raise serializers.ValidationError({"options": [str(error)]}) from None
        return attrs


class EntryOut(serializers.Serializer[Any]):
    """One version in one tournament, frozen when it starts."""

    number = serializers.IntegerField(help_text="From 0; what crosstables and schedules speak of.")
    version = VersionRef()


class EntryNew(StrictSerializer):
    """A bot (its newest accepted version) or one version of it by id."""

    bot = serializers.SlugField(required=False, max_length=40)
    version = serializers.IntegerField(required=False, min_value=1, max_value=MOST_ID)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of both."""
        if len(attrs) != 1:
            raise serializers.ValidationError("name either a bot or a version")
        return attrs


class CancelNew(StrictSerializer):
    """Why a tournament ends early."""

    why = serializers.CharField(required=False, max_length=200, default="cancelled by its owner")


class StandingOut(serializers.Serializer[Any]):
    """One line of the standings."""

    place = serializers.IntegerField(source="result.place")
    shared = serializers.BooleanField(source="result.shared")
    entry = serializers.IntegerField(source="result.entry")
    version = VersionRef(source="entry.version")
    points = serializers.FloatField(
        source="result.points", help_text="Board points: 1 per opponent beaten on a board, 1/2 per tie."
    )
    boards = serializers.IntegerField(source="result.boards")
    wins = serializers.IntegerField(source="result.wins")
    draws = serializers.IntegerField(source="result.draws")
    losses = serializers.IntegerField(source="result.losses")
    direct = serializers.FloatField(
        source="result.direct", allow_null=True, help_text="Points among those level on points."
    )
    sonneborn_berger = serializers.FloatField(source="result.sonneborn_berger")
    score_per_board = serializers.FloatField(
        source="result.score_per_board", allow_null=True, help_text="In the unit of the game."
    )
    tied_with_next = serializers.BooleanField(
        source="result.tied_with_next",
        help_text="The boards do not show which of this and the next row is stronger (5% to 95%).",
    )
    faults = serializers.IntegerField(help_text="Matches in which it made a fault.")


class CellOut(serializers.Serializer[Any]):
    """What one entry did against another."""

    entry = serializers.IntegerField()
    opponent = serializers.IntegerField()
    boards = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    points = serializers.FloatField()
    matches = serializers.ListField(child=serializers.CharField())


class StandingsOut(serializers.Serializer[Any]):
    """The table of a tournament and who beat whom, from its finished boards."""

    tournament = serializers.SlugField()
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    matches = serializers.SerializerMethodField(help_text="How many matches have each status.")
    rows = StandingOut(many=True)
    crosstable = CellOut(many=True)

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_matches(self, found: dict[str, Any]) -> dict[str, int]:
        """Counts by status."""
        return dict(found["matches"])
