"""Arenas for people: the hour, your own entry, the standing."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import PoolRef, StrictSerializer
from league.domain.arenas import arenas
from league.domain.core import clock
from league.models import Arena, ArenaEntry


class ArenaOut(Out):
    """An arena: an hour in which people are paired again and again."""

    slug = serializers.SlugField()
    pool = PoolRef()
    state = serializers.SerializerMethodField(help_text="open: before the start; running; over.")
    start = serializers.DateTimeField()
    ends = serializers.DateTimeField(help_text="No table is drawn after this time; those in play still count.")
    clock_s = serializers.IntegerField(help_text="The most seconds for an answer.")
    time_zone = serializers.CharField(help_text="It repeats every week by the clocks of this zone; empty: it does not.")
    finished = serializers.DateTimeField(allow_null=True, help_text="When the last table had counted.")

    @extend_schema_field(serializers.ChoiceField(choices=["open", "running", "over"]))
    def get_state(self, arena: Arena) -> str:
        """Return how far it is."""
        return arenas.state(arena, clock.present())


class OwnEntryOut(Out):
    """Your entry in an arena."""

    waiting = serializers.DateTimeField(allow_null=True, help_text="Since when you wait for a table; null: you do not.")
    rests_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then you are not paired, because you gave a hand up."
    )
    points = serializers.IntegerField()
    games = serializers.IntegerField()
    table = serializers.SerializerMethodField(help_text="The table at which you sit; null: none.")

    @extend_schema_field({"type": ["string", "null"]})
    def get_table(self, entry: ArenaEntry) -> str | None:
        """Return the id of the table."""
        table = arenas.table_of(entry)
        return table.public_id if table is not None else None


class ArenaDetail(ArenaOut):
    """An arena with your own part in it."""

    own = serializers.SerializerMethodField(help_text="Your entry; null: you are not in it, or anonymous.")

    @extend_schema_field(OwnEntryOut(allow_null=True))
    def get_own(self, arena: Arena) -> Any:
        """Return the entry of the viewer."""
        entry = arenas.own_entry(arena, self.context["viewer"])
        return OwnEntryOut(entry).data if entry is not None else None


class ArenaPlaceOut(Out):
    """A row of the standing. Equal points share a place."""

    place = serializers.IntegerField()
    player = serializers.SlugField(source="entry.player.name", allow_null=True, help_text="Null: the row of a bot.")
    bot = serializers.SlugField(source="entry.bot.slug", allow_null=True, help_text="Null: the row of a person.")
    points = serializers.IntegerField(source="entry.points")
    games = serializers.IntegerField(source="entry.games")
    wins = serializers.IntegerField(source="entry.wins")
    ties = serializers.IntegerField(source="entry.ties")


class ArenaBotNew(StrictSerializer):
    """A bot that fills in at the tables of an arena."""

    bot = serializers.SlugField(max_length=40)
    leave = serializers.BooleanField(required=False, default=False, help_text="True: withdraw the bot.")
