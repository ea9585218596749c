"""Tables that people share: the lobby, the waiting room with its settings, challenges by name."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.problems import message
from league.api.http.serializers import OptionsField, PoolRef, StrictSerializer
from league.domain.core import clock
from league.domain.tables import clocks, phrases, seating
from league.domain.tables.levels import Level
from league.domain.tables.people import TableView
from league.enums import TableWatching
from league.models import TablePerson

CLOCKS = ", ".join(f"{seconds} + {increment_s}" for seconds, increment_s in clocks.CLOCKS)
LOBBY = "True: the table stands in the lobby, where every player may sit down; false: only who has its id finds it."
MAX_SEAT = 20


class SeatedOut(Out):
    """A person at a shared table."""

    seat = serializers.IntegerField(source="number")
    player = serializers.SlugField(source="player.name", default=None, allow_null=True, help_text="Null: a guest.")
    ready = serializers.BooleanField(help_text="True if they are ready to start.")
    away = serializers.BooleanField(help_text="True if a bot plays in their place.")
    phrase = serializers.SerializerMethodField(help_text="What they have just said; empty: nothing.")

    def get_phrase(self, person: TablePerson) -> str:
        """Return the word of the phrase while it is shown."""
        return person.phrase if phrases.spoken(person, clock.present()) else ""


class SharedOut(Out):
    """Settings and people of a table that people share."""

    gathering = serializers.BooleanField(
        source="row.gathering", help_text="True while people take their seats, before the first card."
    )
    host = serializers.SlugField(
        source="row.player.name",
        default=None,
        allow_null=True,
        help_text="The player who may change it; null: a guest.",
    )
    listed = serializers.BooleanField(source="row.listed", help_text="True if it stands in the lobby.")
    level = serializers.CharField(source="row.level", help_text="The level of the bots.")
    clock_s = serializers.IntegerField(source="row.clock_s", help_text="Seconds; 0: no clock.")
    increment_s = serializers.IntegerField(
        source="row.increment_s",
        help_text="0: the seconds are for each answer; else for a hand, and each answer adds these.",
    )
    watching = serializers.ChoiceField(source="row.watching", choices=TableWatching.choices)
    deals = serializers.CharField(
        source="row.deals", help_text="The first table with these cards, if others may play them; else empty."
    )
    next_table = serializers.CharField(source="row.rematch", help_text="Where its people go on; empty: nowhere yet.")
    people = serializers.SerializerMethodField(help_text="The people, by seat.")

    @extend_schema_field(SeatedOut(many=True))
    def get_people(self, view: TableView) -> Any:
        """Return the people by seat."""
        return SeatedOut(list(view.people.values()), many=True).data


class LobbyTableOut(Out):
    """A table that waits for people."""

    id = serializers.CharField(source="row.public_id")
    pool = PoolRef(source="row.pool")
    people = serializers.ListField(
        source="names",
        child=serializers.CharField(allow_blank=True),
        help_text="Who sits there; an empty name is a guest.",
    )
    free = serializers.IntegerField(help_text="Number of free seats. Bots take those that nobody takes.")
    boards = serializers.IntegerField(source="row.boards")
    level = serializers.CharField(source="row.level", help_text="The level of the bots.")
    clock_s = serializers.IntegerField(source="row.clock_s")
    increment_s = serializers.IntegerField(source="row.increment_s")
    watching = serializers.ChoiceField(source="row.watching", choices=TableWatching.choices)
    created = serializers.DateTimeField(source="row.created")


class SharedChange(StrictSerializer):
    """A change of a shared table by its host, before the first card. Fields that are left out do not change."""

    game = serializers.CharField(
        required=False, max_length=30, help_text="Another game begins with its usual players and options."
    )
    players = serializers.IntegerField(required=False, min_value=1, max_value=MAX_SEAT)
    options = OptionsField(required=False, help_text="Options by the names in /games/{key}.")
    level = serializers.ChoiceField(required=False, choices=Level.choices, help_text="The level of the bots.")
    boards = serializers.IntegerField(required=False, min_value=1, max_value=seating.MOST_BOARDS)
    clock_s = serializers.IntegerField(
        required=False, min_value=0, max_value=3600, help_text=f"Seconds and increment are one of: {CLOCKS}."
    )
    increment_s = serializers.IntegerField(required=False, min_value=0, max_value=60)
    listed = serializers.BooleanField(required=False, help_text=LOBBY)
    watching = serializers.ChoiceField(
        required=False, choices=TableWatching.choices, help_text="Who may watch, and when they see hands."
    )
    same_deals = serializers.BooleanField(
        required=False, help_text="True: other tables may play the same cards within a day. Until then nobody watches."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change without fields."""
        if not attrs:
            raise serializers.ValidationError(message("name at least one of: {names}", names=", ".join(self.fields)))
        return attrs


class SharedNew(SharedChange):
    """A new table for people."""

    game = serializers.CharField(max_length=30)


class SeatNew(StrictSerializer):
    """A seat at a shared table."""

    seat = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_SEAT, help_text="From 0; if left out, the first free one."
    )


class SeatOfOther(StrictSerializer):
    """The seat of another person."""

    seat = serializers.IntegerField(min_value=0, max_value=MAX_SEAT)


class PhraseNew(StrictSerializer):
    """A phrase to say."""

    phrase = serializers.ChoiceField(choices=phrases.Phrase.choices)


class SeatChange(StrictSerializer):
    """A change of your own seat."""

    ready = serializers.BooleanField(required=False, help_text="Before the first card: true if you are ready to start.")
    away = serializers.BooleanField(
        required=False, help_text="Only false: take the seat back from the bot that plays in your place."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse anything but one of the two."""
        if len(attrs) != 1 or attrs.get("away"):
            raise serializers.ValidationError(message("send ready alone, or away alone as false"))
        return attrs


class TableChallengeNew(StrictSerializer):
    """A challenge to sit down at your table."""

    player = serializers.CharField(max_length=40, help_text="Name of the player.")


class TableChallengeOut(Out):
    """An open challenge to sit down at a table."""

    table = serializers.CharField(source="table.public_id")
    game = serializers.CharField(source="table.pool.game")
    challenger = serializers.SlugField(source="challenger.name")
    player = serializers.SlugField(source="player.name")
    created = serializers.DateTimeField()


class ChallengesChange(StrictSerializer):
    """Your choice about challenges by name."""

    takes = serializers.BooleanField(help_text="False: nobody can challenge you, and open challenges are declined.")


class ChallengesChosen(Out):
    """Your choice about challenges by name."""

    takes = serializers.BooleanField(source="challengeable")
