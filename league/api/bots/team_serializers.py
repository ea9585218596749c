"""Teams, their members and history, and bots that are handed on."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.problems import message
from league.api.http.serializers import StrictSerializer
from league.enums import TeamRole


class MemberOut(Out):
    """A member of a team, or an invited player."""

    player = serializers.SlugField(source="player.name")
    role = serializers.ChoiceField(choices=TeamRole.choices)
    invited = serializers.DateTimeField()
    since = serializers.DateTimeField(allow_null=True, help_text="When they joined; null: not yet.")
    shown = serializers.BooleanField(source="is_public", help_text="True if everybody may read that they are in it.")


class TeamOut(Out):
    """A team: people who share bots."""

    name = serializers.SlugField()
    created = serializers.DateTimeField()
    bots = serializers.ListField(child=serializers.SlugField(), help_text="The bots that you may see.")
    members = MemberOut(many=True, help_text="All, for a member; else those who agree to be shown.")


class MembershipOut(Out):
    """One of your teams, or an invitation."""

    team = serializers.SlugField(source="team.name")
    role = serializers.ChoiceField(choices=TeamRole.choices)
    invited = serializers.DateTimeField()
    since = serializers.DateTimeField(allow_null=True, help_text="When you joined; null: you are invited.")
    shown = serializers.BooleanField(source="is_public")


class TeamName(StrictSerializer):
    """The name of a team."""

    name = serializers.CharField(max_length=40)


class MemberNew(StrictSerializer):
    """An invitation to a team."""

    player = serializers.CharField(max_length=40)
    role = serializers.ChoiceField(choices=TeamRole.choices)


class MemberChange(StrictSerializer):
    """A change of a member: of the role by an owner of the team, all else by the member."""

    role = serializers.ChoiceField(required=False, choices=TeamRole.choices)
    joined = serializers.ChoiceField(required=False, choices=[True], help_text="true: accept the invitation.")
    shown = serializers.BooleanField(required=False, help_text="True: everybody may read that you are in the team.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change without fields, and one by two people."""
        if not attrs or ("role" in attrs and len(attrs) > 1):
            raise serializers.ValidationError(message("name role alone, or joined and shown"))
        return attrs


class TeamBotNew(StrictSerializer):
    """Your bot, for a team."""

    bot = serializers.SlugField(max_length=40)


class TeamLineOut(Out):
    """A line of the history of a team."""

    at = serializers.DateTimeField()
    actor = serializers.CharField(allow_null=True, help_text="Who did it; null: a former player.")
    what = serializers.CharField(help_text="created, invited, joined, declined, role, shown, left, removed, renamed.")
    player = serializers.CharField(allow_null=True, help_text="Whom it concerns, besides `actor`.")
    was = serializers.CharField(allow_null=True, help_text="The role or name before.")
    to = serializers.CharField(allow_null=True, help_text="The role or name after.")


class OfferNew(StrictSerializer):
    """An offer to hand your bot on."""

    player = serializers.CharField(max_length=40)


class OfferOut(Out):
    """A bot that its owner offers to another player."""

    bot = serializers.SlugField(source="bot.slug")
    owner = serializers.SlugField(source="bot.owner.name")
    receiver = serializers.SlugField(source="receiver.name")
    created = serializers.DateTimeField()
