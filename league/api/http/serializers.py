"""Serializers that several responses share, and the strict base of requests."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.problems import message
from league.enums import FaultKind
from league.models.consent import MOST_MESSAGE

MOST_NAME = 100  # The most characters of an option's name


class StrictSerializer(serializers.Serializer[Any]):
    """A request body. An unknown field is an error, because it would have no effect."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the values by field. Raise ValidationError, which names everything that is wrong."""
        errors: dict[str, Any] = {}
        unknown = sorted(set(data) - set(self.fields)) if hasattr(data, "keys") else []
        if unknown:
            names = ", ".join(self.fields)
            text = message("is not a field of this request; it accepts: {there}", there=names)
            errors = {str(name)[:80]: [text] for name in unknown}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            detail: Any = error.detail
            raise serializers.ValidationError({**detail, **errors}) from None
        if errors:
            raise serializers.ValidationError(errors)
        return values


class OptionalWordField(serializers.ChoiceField):
    """A field with one of some words, or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_representation(self, value: Any) -> Any:
        """Return null for the empty text in the database."""
        return super().to_representation(value) or None


class FaultField(OptionalWordField):
    """The kind of a fault, or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=FaultKind.choices, **kwargs)


@extend_schema_field({"type": "object", "additionalProperties": True})
class ObjectField(serializers.JSONField):
    """A JSON object with any content."""


class OptionsField(ObjectField):
    """The options of a game: an object with possible names of options. The engine checks if they fit together."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the options, or raise ValidationError."""
        value = super().to_internal_value(data)
        if not isinstance(value, dict):
            raise serializers.ValidationError(message("must be an object that maps option names to values"))
        wrong = [name for name in value if name in ("key", "players") or len(name) > MOST_NAME]
        if wrong:
            raise serializers.ValidationError(
                message(
                    "{name!r} is not an option; set the number of seats in the field players",
                    name=wrong[0][:MOST_NAME],
                )
            )
        return value


@extend_schema_field({"type": ["object", "null"], "additionalProperties": True})
class OptionalObjectField(serializers.JSONField):
    """A JSON object, or null."""


@extend_schema_field({"type": ["number", "boolean", "string"]})
class ScalarField(serializers.JSONField):
    """A number, a boolean or a text."""


class MessageField(serializers.CharField):
    """The message to the owner of a bot, who has to agree to its entry."""

    def __init__(self, **kwargs: Any) -> None:
        text = "Plain text for the owner of the bot, where they want to be asked."
        super().__init__(
            required=False, default="", allow_blank=True, max_length=MOST_MESSAGE, help_text=text, **kwargs
        )


class TeamField(serializers.SlugField):
    """The name of the team that a bot is in."""

    def __init__(self, **kwargs: Any) -> None:
        text = "Name of the team that shares the bot; null: none."
        super().__init__(allow_null=True, read_only=True, help_text=text, **kwargs)


class VersionRef(Out):
    """A reference to a version: its bot, number and owner."""

    id = serializers.IntegerField()
    bot = serializers.SlugField(source="bot.slug")
    number = serializers.IntegerField()
    owner = serializers.SlugField(source="bot.owner.name")
    team = TeamField(source="bot.team.name")
    house = serializers.BooleanField(source="bot.is_house")


class PoolRef(Out):
    """A reference to a pool: the game, table and options whose results are rated together."""

    id = serializers.IntegerField()
    game = serializers.CharField()
    players = serializers.IntegerField(help_text="Seats at the table.")
    options = ObjectField(help_text="Options with other values than the defaults of the game.")
    team = serializers.CharField(
        help_text='"clones": one bot plays all seats of a side; "mixed": a side has two bots; "single": nobody has a partner.'
    )
    revision = serializers.IntegerField(help_text="Revision of the rules.")
    remote = serializers.BooleanField(
        help_text="True for a pool of remote bots, which no other bots enter but house bots."
    )
