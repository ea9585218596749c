"""Tournaments, entries, standings."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

import engine
from league.api.http.output import Out
from league.api.http.problems import message
from league.api.http.serializers import (
    MessageField,
    ObjectField,
    OptionsField,
    PoolRef,
    ScalarField,
    StrictSerializer,
    VersionRef,
)
from league.domain.core.errors import Refused, shown
from league.domain.ratings import pools
from league.domain.tournaments import formats, rule, tournaments
from league.enums import DEFAULT_FORMAT, Counting, Ending, MatchStatus, Seeding, TournamentStatus, format_choices
from league.models import Tournament

MOST_ID = 2**31 - 1
COUNTING = (
    "Whether results count for the ratings: league (they do), player (not, because its owner chose who plays, how much and when), hidden (not, "
    "because results were hidden)."
)


class EndingField(serializers.ChoiceField):
    """The ending of a tournament, or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=Ending.choices, allow_null=True, **kwargs)

    def to_representation(self, value: Any) -> Any:
        """Return null for the empty text in the database."""
        return super().to_representation(value) or None


class TournamentOut(Out):
    """A tournament: entries that meet by a schedule. The hash of the secret behind all deals is published before the first card."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    pool = PoolRef()
    format = serializers.ChoiceField(choices=format_choices())
    parameters = ObjectField(help_text="Parameters of the format with other values than the defaults in /formats.")
    seeding = serializers.ChoiceField(choices=Seeding.choices)
    boards = serializers.IntegerField(help_text="Number of boards in each match.")
    sealed = serializers.BooleanField(
        help_text="True if only bots that can be sealed may enter, and all matches are played sealed."
    )
    counting = serializers.SerializerMethodField(help_text=COUNTING)
    schedule = serializers.IntegerField(
        help_text="Revision of the schedules with which the tournament was created (docs/fairness.md)."
    )
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    entries = serializers.IntegerField(source="entry_count")
    matches = serializers.IntegerField(
        source="match_count",
        help_text="Number of matches in the queue or beyond it (running, finished, void, cancelled).",
    )
    matches_planned = serializers.IntegerField(
        source="planned_matches",
        help_text="The largest number of matches, known at the start; they are queued little by little. 0: not started, or without an end.",
    )
    matches_finished = serializers.IntegerField(source="finished_count")
    secret_sha256 = serializers.CharField(help_text="Published before the first deal.")
    secret = serializers.SerializerMethodField(
        help_text="In hexadecimal; every deal is derived from it. Null until the tournament has finished."
    )
    created = serializers.DateTimeField()
    started = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)
    paused = serializers.DateTimeField(
        allow_null=True,
        help_text="When the owner paused the tournament; until it is resumed, none of its matches starts.",
    )
    stopped = serializers.DateTimeField(
        allow_null=True,
        help_text="When an operator paused the tournament; until it is resumed, none of its matches starts.",
    )
    embargo = serializers.DateTimeField(allow_null=True, help_text="Until this time the replays are hidden.")
    ending = EndingField(help_text="Why the tournament ended, unless it simply played its last match.")
    facts = ObjectField(help_text="The numbers behind the ending.")

    @extend_schema_field(serializers.ChoiceField(choices=Counting.choices))
    def get_counting(self, tournament: Tournament) -> str:
        """Return the rule that applies."""
        return rule.counting(tournament).value

    def get_secret(self, tournament: Tournament) -> str | None:
        """Return the secret once all its deals have been played."""
        return tournaments.published_secret(tournament)


class GameChoice(StrictSerializer):
    """A game and the format in which it is played."""

    game = serializers.CharField(max_length=30)
    players = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=20,
        help_text="Number of seats; if left out, the usual number of the game.",
    )
    options = OptionsField(required=False, help_text="Options by the names in /games/{key}.")
    boards = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=settings.MAX_BOARDS,
        help_text="Number of boards in each match; if left out, a number that suits the game.",
    )
    format = serializers.ChoiceField(choices=format_choices(), required=False, default=DEFAULT_FORMAT)
    parameters = ObjectField(required=False, help_text="Parameters of the format, by their names in /formats.")

    def validate_parameters(self, value: Any) -> dict[str, Any]:
        """Return the parameters, or raise ValidationError."""
        if not isinstance(value, dict):
            raise serializers.ValidationError(message("must be an object that maps parameter names to values"))
        return value


class FormatChoice(GameChoice):
    """A game at a table, and the format in which it is played."""

    mixed = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Teams of two different bots, whose partners change by a whist movement.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check with the engine that game, seats and options fit together."""
        if attrs["game"] not in engine.games():
            games = ", ".join(engine.games())
            text = message("there is no game {game!r}; choose one of {games}", game=attrs["game"], games=games)
            raise serializers.ValidationError({"game": [text]})
        try:
            game = pools.load(attrs["game"], attrs.get("players"), attrs.get("options"))
        except Refused as error:
            raise serializers.ValidationError({"options": [shown(error)]}) from None
        try:
            formats.choose_parameters(attrs["format"], attrs.get("parameters"))
        except Refused as error:
            raise serializers.ValidationError({"parameters": [shown(error)]}) from None
        try:
            formats.check_game(attrs["format"], game, mixed=attrs["mixed"])
        except Refused as error:
            raise serializers.ValidationError({"format": [shown(error)]}) from None
        return attrs


class TournamentNew(FormatChoice):
    """A tournament to create."""

    name = serializers.CharField(max_length=80)
    sealed = serializers.BooleanField(
        required=False,
        default=False,
        help_text="True: the bots cannot read any clock of the host, and bots that cannot be sealed may not enter.",
    )
    seeding = serializers.ChoiceField(
        choices=Seeding.choices,
        required=False,
        default=Seeding.RATING.value,
        help_text="How seeds are ordered; they decide first opponents and byes.",
    )
    bots = serializers.ListField(
        child=serializers.SlugField(max_length=40),
        required=False,
        max_length=settings.MAX_ENTRIES,
        help_text="Bots to enter at once; owners who want to be asked get a request.",
    )
    start = serializers.BooleanField(
        required=False, default=False, help_text="True: start at once. Refused if an owner has to be asked first."
    )


class ForecastNew(FormatChoice):
    """A tournament to forecast, which need not exist."""

    entries = serializers.IntegerField(min_value=1, max_value=settings.MAX_ENTRIES)


class Span(serializers.ListField):
    """The fewest and the most."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.IntegerField(), min_length=2, max_length=2, **kwargs)


class ForecastOut(Out):
    """A forecast: fewest and most matches, boards and sittings, and the duration."""

    matches = Span()
    boards = Span()
    sittings = Span()
    seconds = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)
    match_most_s = serializers.FloatField(help_text="The most seconds that the bots of one match may use together.")
    sitting_s = serializers.FloatField(source="pace.sitting_s", help_text="Seconds of one sitting.")
    measured = serializers.BooleanField(
        source="pace.measured",
        help_text="True if `sitting_s` was measured on recent matches of the game; false: a default.",
    )
    workers = serializers.IntegerField(source="pace.workers", help_text="Number of workers.")


class ParameterOut(Out):
    """A parameter of a format."""

    name = serializers.CharField()
    text = serializers.CharField(help_text="The effect of the parameter.")
    kind = serializers.ChoiceField(choices=["boolean", "integer", "number"])
    default = ScalarField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class FormatOut(Out):
    """A format: how the matches of a tournament follow from its entries."""

    key = serializers.ChoiceField(choices=format_choices())
    title = serializers.CharField()
    text = serializers.CharField(source="sentence")
    seats = serializers.BooleanField(
        help_text="True if the format takes tables of three to six seats. Every format takes two sides."
    )
    mixes = serializers.BooleanField(
        help_text="True if the format takes mixed pairs: teams of two different bots, whose partners change."
    )
    parameters = ParameterOut(many=True)


class ExtendNew(StrictSerializer):
    """Larger values of parameters."""

    parameters = ObjectField(help_text="New values of cycles, budget or cap, larger than the current ones.")

    def validate_parameters(self, value: Any) -> dict[str, Any]:
        """Return the parameters, or raise ValidationError if there are none."""
        if not isinstance(value, dict) or not value:
            raise serializers.ValidationError(
                message("must be an object that maps at least one parameter name to a value")
            )
        return value


class RoundMatch(Out):
    """A match of a round."""

    id = serializers.CharField()
    table = serializers.CharField(help_text="Numbers of the entries at the table.")
    first_board = serializers.IntegerField()
    boards = serializers.IntegerField()
    status = serializers.ChoiceField(choices=MatchStatus.choices)
    entries = serializers.ListField(child=serializers.IntegerField())
    points = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text="Board points of each entry; null until the match has finished.",
    )


class RoundOut(Out):
    """A round: matches in which no entry sits twice (except in the extra boards of a drawn match)."""

    number = serializers.IntegerField()
    resting = serializers.ListField(child=serializers.IntegerField(), help_text="Entries without a match.")
    matches = RoundMatch(many=True)


class PairingOut(Out):
    """A pairing of a bracket."""

    part = serializers.ChoiceField(choices=["winners", "losers", "final", "bronze"])
    round = serializers.IntegerField(help_text="Round within the part, from 1.")
    place = serializers.IntegerField(help_text="Place within the round, from 0.")
    first = serializers.IntegerField(allow_null=True, help_text="Number of an entry; null: nobody (a bye).")
    second = serializers.IntegerField(allow_null=True)
    winner = serializers.IntegerField(allow_null=True)
    by = serializers.ChoiceField(
        choices=["boards", "extra", "points", "seed", "bye"], allow_null=True, help_text="The reason for the result."
    )
    matches = serializers.ListField(child=serializers.CharField())


class BracketOut(Out):
    """The pairings that are known, in the order of play. Empty for formats without a bracket."""

    tournament = serializers.SlugField()
    pairings = PairingOut(many=True)


class EntryOut(Out):
    """A version in a tournament, fixed when the tournament starts."""

    number = serializers.IntegerField(help_text="Number of the entry, from 0, as in crosstables and schedules.")
    version = VersionRef()
    seed = serializers.IntegerField(allow_null=True, help_text="Rank at the start, from 1; null before the start.")
    place = serializers.IntegerField(allow_null=True, help_text="Final place, from 1; null before the end.")
    withdrawn = serializers.DateTimeField(
        allow_null=True,
        help_text="When the bot was withdrawn from the running tournament: it gets no new match in a ladder, and no further stage in an event.",
    )


class EntryNew(StrictSerializer):
    """A bot (which sends a version) or one of its versions, by id."""

    bot = serializers.SlugField(required=False, max_length=40)
    version = serializers.IntegerField(required=False, min_value=1, max_value=MOST_ID)
    message = MessageField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either bot or version."""
        if ("bot" in attrs) == ("version" in attrs):
            raise serializers.ValidationError(message("set either bot or version"))
        return attrs


class EmbargoNew(StrictSerializer):
    """The time until which replays are hidden."""

    until = serializers.DateTimeField(
        allow_null=True,
        help_text="A time with a time zone. Null: replays are shown as soon as their matches have finished.",
    )


class CancelNew(StrictSerializer):
    """The reason for which a tournament ends early."""

    why = serializers.CharField(required=False, max_length=200, default="cancelled by its owner")


class StandingOut(Out):
    """A row of the standings."""

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
        source="result.direct", allow_null=True, help_text="Points against the entries with equal points."
    )
    sonneborn_berger = serializers.FloatField(source="result.sonneborn_berger")
    score_per_board = serializers.FloatField(
        source="result.score_per_board", allow_null=True, help_text="Score per board in the unit of the game."
    )
    tie_breaks = serializers.DictField(
        child=serializers.FloatField(),
        source="breaks",
        help_text="The tie-breaks of the format, in the order in which they count.",
    )
    tied_with_next = serializers.BooleanField(
        source="result.tied_with_next",
        help_text="True if the boards do not show whether this row or the next is stronger (5% to 95%).",
    )
    faults = serializers.IntegerField(help_text="Matches in which the bot made a fault.")


class CellOut(Out):
    """The results of one entry against another."""

    entry = serializers.IntegerField()
    opponent = serializers.IntegerField()
    boards = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    points = serializers.FloatField()
    matches = serializers.ListField(child=serializers.CharField())


class StandingsOut(Out):
    """The standings and the crosstable of a tournament, from its finished boards."""

    tournament = serializers.SlugField()
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    matches = serializers.SerializerMethodField(help_text="Number of matches by status.")
    entries = serializers.IntegerField(help_text="Number of entries in the whole table.")
    next = serializers.URLField(allow_null=True, help_text="Address of the next rows; null on the last page.")
    previous = serializers.URLField(allow_null=True)
    rows = StandingOut(many=True)
    crosstable = CellOut(
        many=True,
        help_text="Results of the entries in these rows against each other, or against those of the page `against`.",
    )

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_matches(self, standings: dict[str, Any]) -> dict[str, int]:
        """Return the number of matches by status."""
        return dict(standings["matches"])
