"""Players, yourself and your tokens."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer
from league.domain.people import rights, tokens
from league.enums import Right, TokenScope
from league.models import Player


class PlayerOut(Out):
    """A person."""

    name = serializers.SlugField()
    created = serializers.DateTimeField()
    bots = serializers.IntegerField(source="bot_count", help_text="How many bots the player has.")


class MeOut(Out):
    """The player of the caller."""

    name = serializers.SlugField()
    staff = serializers.BooleanField(source="user.is_staff")
    rights = serializers.SerializerMethodField(help_text="What you may do as an operator.")
    created = serializers.DateTimeField()

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(Right.choices)))
    def get_rights(self, player: Player) -> list[str]:
        """Return the rights by name."""
        return rights.rights_of(player)


class LimitOut(Out):
    """A limit, and how much of it you have used."""

    name = serializers.CharField(
        help_text="boards, tournaments, bots, validations, uploads, bytes, requests, challenges, tries."
    )
    used = serializers.IntegerField()
    limit = serializers.IntegerField(source="most", allow_null=True, help_text="Null: none.")
    default = serializers.IntegerField(help_text="The limit of everyone for whom no operator has set another.")
    again = serializers.DateTimeField(
        allow_null=True, help_text="When there is room for one more, where nothing but time makes it."
    )


class TokenOut(Out):
    """A token of yours; the key itself is not stored."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of ours, not the attribute of Field
    prefix = serializers.CharField(help_text="First letters of the key after tute_.")
    created = serializers.DateTimeField()
    last_used = serializers.DateTimeField(allow_null=True)
    revoked = serializers.DateTimeField(allow_null=True)
    scope = serializers.ChoiceField(
        TokenScope.choices, help_text="read, submit or manage; each may do what those before it may."
    )
    expires = serializers.DateTimeField(allow_null=True, help_text="When it ends; null: never.")


class TokenNew(StrictSerializer):
    """A new token."""

    label = serializers.CharField(  # type: ignore[assignment]  # a field of ours, not the attribute of Field
        max_length=60, help_text="What it is for, such as: laptop."
    )
    scope = serializers.ChoiceField(TokenScope.choices, default=TokenScope.MANAGE, help_text="What it may do.")
    days = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=tokens.MOST_DAYS,
        help_text="How long it is valid; null: for ever.",
    )


class TokenMade(TokenOut):
    """The new token with its key, shown this once."""

    key = serializers.CharField()
