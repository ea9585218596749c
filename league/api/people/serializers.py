"""Players, yourself and your tokens."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from league.api.http.serializers import StrictSerializer


class PlayerOut(serializers.Serializer[Any]):
    """A person."""

    name = serializers.SlugField()
    created = serializers.DateTimeField()
    bots = serializers.IntegerField(source="bot_count", help_text="How many bots the player has.")


class MeOut(serializers.Serializer[Any]):
    """The player who asks."""

    name = serializers.SlugField()
    staff = serializers.BooleanField(source="user.is_staff")
    created = serializers.DateTimeField()


class TokenOut(serializers.Serializer[Any]):
    """A key of yours; the key itself is not kept."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of ours, not the attribute of Field
    prefix = serializers.CharField(help_text="First letters of the key after tute_.")
    created = serializers.DateTimeField()
    last_used = serializers.DateTimeField(allow_null=True)
    revoked = serializers.DateTimeField(allow_null=True)


class TokenNew(StrictSerializer):
    """A new key."""

    label = serializers.CharField(  # type: ignore[assignment]  # a field of ours, not the attribute of Field
        max_length=60, help_text="What it is for, such as: laptop."
    )


class TokenMade(TokenOut):
    """The new key, shown this once."""

    key = serializers.CharField()
