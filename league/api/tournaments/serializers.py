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
from league.domain.tournaments import formats, tournaments
from league.enums import DEFAULT_FORMAT, Ending, MatchStatus, Seeding, TournamentStatus, format_choices
from league.models import Tournament

MOST_ID = 2**31 - 1


class EndingField(serializers.ChoiceField):
    """The ending of a tournament, or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=Ending.choices, allow_null=True, **kwargs)

    def to_representation(self, value: Any) -> Any:
        """Return null for the empty text of the table."""
        return super().to_representation(value) or None


class TournamentOut(Out):
    """Entries that meet by a schedule, on deals committed to before the first card."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    pool = PoolRef()
    format = serializers.ChoiceField(choices=format_choices())
    parameters = ObjectField(help_text="Parameters of the format that differ from the defaults in /formats.")
    seeding = serializers.ChoiceField(choices=Seeding.choices)
    boards = serializers.IntegerField(help_text="Number of boards in each match.")
    sealed = serializers.BooleanField(
        help_text="Only bots that can be sealed enter, and all its matches are played sealed."
    )
    schedule = serializers.IntegerField(help_text="Revision of the schedules by which it was made (docs/fairness.md).")
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    entries = serializers.IntegerField(source="entry_count")
    matches = serializers.IntegerField(source="match_count", help_text="Matches that are or were in the queue.")
    matches_planned = serializers.IntegerField(
        source="planned_matches",
        help_text="The largest number of matches, known at the start; the queue takes them as it has room. 0: not started, or without an end.",
    )
    matches_finished = serializers.IntegerField(source="finished_count")
    secret_sha256 = serializers.CharField(help_text="Published before the first deal.")
    secret = serializers.SerializerMethodField(
        help_text="Hexadecimal; every deal follows from it. Null until the tournament has finished."
    )
    created = serializers.DateTimeField()
    started = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)
    paused = serializers.DateTimeField(
        allow_null=True, help_text="The time when its owner paused it: no match of it starts."
    )
    stopped = serializers.DateTimeField(
        allow_null=True, help_text="The time when an operator paused it: no match of it starts."
    )
    embargo = serializers.DateTimeField(allow_null=True, help_text="The time until which its replays are hidden.")
    ending = EndingField(help_text="What ended it, if not simply its last match.")
    facts = ObjectField(help_text="The numbers behind the ending.")

    def get_secret(self, tournament: Tournament) -> str | None:
        """Return the secret once all its deals have been played."""
        return tournaments.published_secret(tournament)


class GameChoice(StrictSerializer):
    """A game and the format in which it is played."""

    game = serializers.CharField(max_length=30)
    players = serializers.IntegerField(
        required=False, min_value=1, max_value=20, help_text="Seats; the usual number of the game if left out."
    )
    options = OptionsField(required=False, help_text="By the names in /games/{key}.")
    boards = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=settings.MAX_BOARDS,
        help_text="Number of boards in each match; if left out, a number that suits the game.",
    )
    format = serializers.ChoiceField(choices=format_choices(), required=False, default=DEFAULT_FORMAT)
    parameters = ObjectField(required=False, help_text="Parameters of the format, by their names in /formats.")

    def validate_parameters(self, value: Any) -> dict[str, Any]:
        """An object."""
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
        """Game, seats and options must fit together: the engine says what does not."""
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
    """A tournament of a game."""

    name = serializers.CharField(max_length=80)
    sealed = serializers.BooleanField(
        required=False,
        default=False,
        help_text="No clock of the host reaches its bots; who cannot be sealed cannot enter.",
    )
    seeding = serializers.ChoiceField(
        choices=Seeding.choices,
        required=False,
        default=Seeding.RATING.value,
        help_text="The order that brackets and byes follow.",
    )
    bots = serializers.ListField(
        child=serializers.SlugField(max_length=40),
        required=False,
        max_length=settings.MAX_ENTRIES,
        help_text="To enter at once; owners who want to be asked are asked.",
    )
    start = serializers.BooleanField(
        required=False, default=False, help_text="Start it at once; refused where somebody is to be asked first."
    )


class ForecastNew(FormatChoice):
    """A tournament that might be."""

    entries = serializers.IntegerField(min_value=1, max_value=settings.MAX_ENTRIES)


class Span(serializers.ListField):
    """Fewest and most."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.IntegerField(), min_length=2, max_length=2, **kwargs)


class ForecastOut(Out):
    """A forecast: fewest and most matches, boards and sittings, and their time."""

    matches = Span()
    boards = Span()
    sittings = Span()
    seconds = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)
    match_most_s = serializers.FloatField(
        help_text="Seconds that the bots of one match may take together, whatever they do."
    )
    sitting_s = serializers.FloatField(source="pace.sitting_s", help_text="Seconds of one sitting.")
    measured = serializers.BooleanField(
        source="pace.measured", help_text="Whether it was measured on recent matches of the game; else a usual value."
    )
    workers = serializers.IntegerField(source="pace.workers", help_text="Workers that share the work.")


class ParameterOut(Out):
    """A parameter of a format."""

    name = serializers.CharField()
    text = serializers.CharField(help_text="What it does.")
    kind = serializers.ChoiceField(choices=["boolean", "integer", "number"])
    default = ScalarField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class FormatOut(Out):
    """A format: how the matches of a tournament follow from its entries."""

    key = serializers.ChoiceField(choices=format_choices())
    title = serializers.CharField()
    text = serializers.CharField(source="sentence")
    seats = serializers.BooleanField(help_text="Takes tables of three to six seats; every format takes two sides.")
    mixes = serializers.BooleanField(help_text="Takes mixed pairs: teams of two different bots that change.")
    parameters = ParameterOut(many=True)


class ExtendNew(StrictSerializer):
    """More of what there is."""

    parameters = ObjectField(help_text="New values of cycles, budget or cap, larger than the present ones.")

    def validate_parameters(self, value: Any) -> dict[str, Any]:
        """An object that is not empty."""
        if not isinstance(value, dict) or not value:
            raise serializers.ValidationError(
                message("must be an object that maps at least one parameter name to a value")
            )
        return value


class RoundMatch(Out):
    """A match of a round."""

    id = serializers.CharField()
    table = serializers.CharField(help_text="Numbers of the entries.")
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
    """A round: matches in which no entry sits twice (but for the extra boards of a level match)."""

    number = serializers.IntegerField()
    resting = serializers.ListField(child=serializers.IntegerField(), help_text="Entries without a match.")
    matches = RoundMatch(many=True)


class PairingOut(Out):
    """A meeting of a bracket."""

    part = serializers.ChoiceField(choices=["winners", "losers", "final", "bronze"])
    round = serializers.IntegerField(help_text="Within the part.")
    place = serializers.IntegerField(help_text="Within the round, from 0.")
    first = serializers.IntegerField(allow_null=True, help_text="An entry; null: nobody, a bye.")
    second = serializers.IntegerField(allow_null=True)
    winner = serializers.IntegerField(allow_null=True)
    by = serializers.ChoiceField(
        choices=["boards", "extra", "points", "seed", "bye"], allow_null=True, help_text="What decided it."
    )
    matches = serializers.ListField(child=serializers.CharField())


class BracketOut(Out):
    """The pairings that are known, in the order in which they are played. Empty for formats without a bracket."""

    tournament = serializers.SlugField()
    pairings = PairingOut(many=True)


class EntryOut(Out):
    """One version in one tournament, frozen when it starts."""

    number = serializers.IntegerField(help_text="From 0; crosstables and schedules name an entry by it.")
    version = VersionRef()
    seed = serializers.IntegerField(allow_null=True, help_text="From 1; null before the start.")
    place = serializers.IntegerField(allow_null=True, help_text="From 1; null before the end.")
    withdrawn = serializers.DateTimeField(
        allow_null=True,
        help_text="When it was withdrawn from the running tournament: no new match in a ladder, no further stage in an event.",
    )


class EntryNew(StrictSerializer):
    """A bot (the version that it sends) or one version of it by id."""

    bot = serializers.SlugField(required=False, max_length=40)
    version = serializers.IntegerField(required=False, min_value=1, max_value=MOST_ID)
    message = MessageField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of both."""
        if ("bot" in attrs) == ("version" in attrs):
            raise serializers.ValidationError(message("set either bot or version"))
        return attrs


class EmbargoNew(StrictSerializer):
    """The time until which replays are hidden."""

    until = serializers.DateTimeField(
        allow_null=True, help_text="With a time zone. Null: replays are shown as soon as their matches have finished."
    )


class CancelNew(StrictSerializer):
    """Why a tournament ends early."""

    why = serializers.CharField(required=False, max_length=200, default="cancelled by its owner")


class StandingOut(Out):
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
        source="result.direct", allow_null=True, help_text="Points against the entries with equal points."
    )
    sonneborn_berger = serializers.FloatField(source="result.sonneborn_berger")
    score_per_board = serializers.FloatField(
        source="result.score_per_board", allow_null=True, help_text="In the unit of the game."
    )
    tie_breaks = serializers.DictField(
        child=serializers.FloatField(),
        source="breaks",
        help_text="The tie-breaks of the format, in their order.",
    )
    tied_with_next = serializers.BooleanField(
        source="result.tied_with_next",
        help_text="The boards do not show which of this and the next row is stronger (5% to 95%).",
    )
    faults = serializers.IntegerField(help_text="Matches in which it made a fault.")


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
    """The table of a tournament and who beat whom, from its finished boards."""

    tournament = serializers.SlugField()
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    matches = serializers.SerializerMethodField(help_text="How many matches have each status.")
    entries = serializers.IntegerField(help_text="All of them; the rows are those of a page.")
    next = serializers.URLField(allow_null=True, help_text="The page of the next rows; null: there are none.")
    previous = serializers.URLField(allow_null=True)
    rows = StandingOut(many=True)
    crosstable = CellOut(
        many=True,
        help_text="What the entries of these rows did against each other, or `against` those of another page.",
    )

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_matches(self, standings: dict[str, Any]) -> dict[str, int]:
        """Counts by status."""
        return dict(standings["matches"])
