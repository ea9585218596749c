"""Requests to enter other players' bots, and blocks."""

from __future__ import annotations

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer
from league.domain.bots import consent
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import RequestStatus
from league.models import EntryRequest, Player


class RequestOut(Out):
    """A request to enter another player's bot."""

    id = serializers.IntegerField()
    bot = serializers.SlugField(source="bot.slug")
    version = serializers.IntegerField(
        source="version.number",
        default=None,
        allow_null=True,
        help_text="Number of the version; null: the version that the bot sends when it enters.",
    )
    owner = serializers.SlugField(source="bot.owner.name", help_text="The owner of the bot, who answers.")
    asker = serializers.SlugField(source="asker.name", help_text="The player who asked.")
    kind = serializers.SerializerMethodField(help_text="The kind of occasion: tournament, event or circuit.")
    slug = serializers.SlugField(source="occasion.slug", help_text="Slug of the tournament, event or circuit.")
    status = serializers.ChoiceField(choices=RequestStatus.choices)
    message = serializers.SerializerMethodField(help_text="For the asking player and the owner; null for all others.")
    created = serializers.DateTimeField()
    answered = serializers.DateTimeField(allow_null=True)

    def get_kind(self, request: EntryRequest) -> str:
        """Return the kind of occasion, as in addresses."""
        return consent.kind(request.occasion)

    def get_message(self, request: EntryRequest) -> str | None:
        """Return the message to the owner of the bot; only for the owner and the asking player."""
        viewer: Player | None = self.context.get("viewer")
        is_asker = viewer is not None and viewer.pk == request.asker_id
        return request.message if is_asker or ownership.may(viewer, request.bot, BotAct.MANAGE) else None


class BlockOut(Out):
    """A player who can neither enter nor challenge your bots, nor ask for them."""

    player = serializers.SlugField(source="blocked.name")
    created = serializers.DateTimeField()


class BlockNew(StrictSerializer):
    """A player to block."""

    player = serializers.SlugField(max_length=40)
