"""Players, yourself and your tokens."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer
from league.domain.people import rights, tokens
from league.enums import OWN_SCOPES, NoticeKind, Right, TokenScope
from league.models import Player


class PlayerOut(Out):
    """A person."""

    name = serializers.SlugField()
    created = serializers.DateTimeField()
    bots = serializers.IntegerField(source="bot_count", help_text="Number of the player's bots.")


class MeOut(Out):
    """The player of the caller."""

    name = serializers.SlugField()
    staff = serializers.BooleanField(source="user.is_staff")
    rights = serializers.SerializerMethodField(help_text="Your rights as an operator.")
    created = serializers.DateTimeField()

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(Right.choices)))
    def get_rights(self, player: Player) -> list[str]:
        """Return the rights by name."""
        return rights.rights_of(player)


class LimitOut(Out):
    """A limit, and your use of it."""

    name = serializers.CharField(
        help_text="boards, tournaments, bots, validations, uploads, bytes, requests, challenges, tries."
    )
    used = serializers.IntegerField()
    limit = serializers.IntegerField(source="most", allow_null=True, help_text="Null: no limit.")
    default = serializers.IntegerField(help_text="The limit of everybody without an own one.")
    again = serializers.DateTimeField(
        allow_null=True, help_text="When one more will be allowed, if that depends on time alone."
    )


class NoticeOut(Out):
    """A notice to you."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(NoticeKind.choices)
    text = serializers.CharField(help_text="The name of the sentence, such as faulty or overtaken.")
    words = serializers.DictField(help_text="What stands in the sentence, such as bot, version and match.")
    count = serializers.IntegerField(help_text="How often it happened since you last read of it.")
    created = serializers.DateTimeField()
    read = serializers.DateTimeField(allow_null=True, help_text="Null: unread.")


class NoticesToRead(StrictSerializer):
    """The notices to mark as read."""

    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=999_999_999),
        required=False,
        max_length=500,
        help_text="Their ids; without it, all of yours.",
    )


class NoticesRead(Out):
    """The number of notices that are read now."""

    marked = serializers.IntegerField(help_text="Number of notices that were unread before.")


class TokenOut(Out):
    """One of your tokens; the key itself is not stored."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of ours, not the attribute of Field
    prefix = serializers.CharField(help_text="First letters of the key, after tute_.")
    created = serializers.DateTimeField()
    last_used = serializers.DateTimeField(allow_null=True)
    revoked = serializers.DateTimeField(allow_null=True)
    scope = serializers.ChoiceField(
        TokenScope.choices,
        help_text="read, submit or manage; each scope includes those before it. volunteer: only volunteer work.",
    )
    expires = serializers.DateTimeField(allow_null=True, help_text="When the key expires; null: never.")


class TokenNew(StrictSerializer):
    """A new token."""

    label = serializers.CharField(  # type: ignore[assignment]  # a field of ours, not the attribute of Field
        max_length=60, help_text="What the key is for, such as: laptop."
    )
    scope = serializers.ChoiceField(
        [(scope.value, scope.label) for scope in OWN_SCOPES],
        default=TokenScope.MANAGE,
        help_text="What the key may do.",
    )
    days = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=tokens.MOST_DAYS,
        help_text="Days until the key expires; null: never.",
    )


class TokenMade(TokenOut):
    """A new token with its key, which is shown only once."""

    key = serializers.CharField()
