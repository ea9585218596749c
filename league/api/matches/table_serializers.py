"""Tables at which people sit."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.serializers import FaultField, ObjectField, OptionsField, PoolRef, StrictSerializer
from league.api.matches.room_serializers import SharedOut
from league.api.matches.serializers import ReplayOut
from league.domain.tables import seating
from league.domain.tables.people import TableView
from league.enums import TableStatus


class TableNew(StrictSerializer):
    """A new table: the game, the opponent, the partner."""

    game = serializers.CharField(max_length=30)
    against = serializers.SlugField(max_length=40, help_text="Slug of a house bot, or of one of your own.")
    partner = serializers.CharField(
        max_length=40,
        required=False,
        default="",
        allow_blank=True,
        help_text="The bot that plays as your partner, in games with partners; empty: the same as `against`.",
    )
    players = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=20,
        help_text="Number of seats; if left out, the usual number of the game.",
    )
    options = OptionsField(required=False, help_text="Options by the names in /games/{key}.")
    boards = serializers.IntegerField(min_value=1, max_value=seating.MOST_BOARDS, required=False, default=1)
    advice = serializers.BooleanField(
        required=False,
        default=False,
        help_text="True: you can ask for advice, and the table does not count in your rating.",
    )


class AdviceNew(StrictSerializer):
    """A request for advice on one decision."""

    turn = serializers.IntegerField(min_value=0, max_value=2**31 - 1, help_text="Number of your current decision.")


class ChoiceNew(StrictSerializer):
    """An action of the person at the table."""

    turn = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        help_text="Number of the decision that you answer, so that no answer counts twice.",
    )
    do = serializers.CharField(max_length=400, help_text="One of `legal`.")


class TableOut(serializers.Serializer[Any]):
    """A table with everything that the viewer's seat may know; while it is played, nothing else leaves the server."""

    id = serializers.CharField(source="row.public_id")
    status = serializers.ChoiceField(
        source="row.status",
        choices=TableStatus.choices,
        help_text="waiting: the bots move when a worker is free; held: a worker runs the bots; resting: it is your turn.",
    )
    reason = serializers.CharField(source="row.reason", help_text="Why the table waits or has ended; empty otherwise.")
    pool = PoolRef(source="row.pool")
    players = serializers.SerializerMethodField(help_text="The name at each seat: the person or a bot.")
    shared = serializers.SerializerMethodField(
        help_text="Settings and people of a table that people share; null: one person sits with bots."
    )
    seat = serializers.IntegerField(help_text="Your seat; if you have none, that of the first person.")
    boards = serializers.IntegerField(source="row.boards")
    board = serializers.IntegerField(
        source="row.board", help_text="Number of the current board, or of the last one; from 1."
    )
    turn = serializers.IntegerField(
        allow_null=True,
        help_text="Number of your current decision among those of all people here, from 0; null: it is not your turn.",
    )
    legal = serializers.ListField(
        child=serializers.CharField(), help_text='Your choices. After a board, "next" continues with the following one.'
    )
    hand = serializers.ListField(child=serializers.CharField(), help_text="Your cards.")
    events = serializers.ListField(
        source="seen", child=ObjectField(), help_text="The log of the current board, as far as your seat may know it."
    )
    scores = serializers.ListField(
        source="row.scores",
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="Scores by seat, for each finished board.",
    )
    advice = serializers.CharField(
        help_text='The action that the best house bot advises, if you asked for advice; "?" if that bot failed; else empty.'
    )
    fault = FaultField(source="row.fault", help_text="The fault of a bot that ended the table.")
    created = serializers.DateTimeField(source="row.created")
    finished = serializers.DateTimeField(source="row.finished", allow_null=True)
    replays = serializers.SerializerMethodField(
        help_text="A replay with open cards for each board, after the table has finished; empty before."
    )

    @extend_schema_field(SharedOut(allow_null=True))
    def get_shared(self, view: TableView) -> Any:
        """Return settings and people of a shared table."""
        return SharedOut(view).data if view.row.shared else None

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_players(self, view: TableView) -> list[str]:
        """Return the names by seat."""
        return view.names

    @extend_schema_field(ReplayOut(many=True))
    def get_replays(self, view: TableView) -> list[dict[str, Any]]:
        """Return the replays by board."""
        return seating.opened(view.row)
