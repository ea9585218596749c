"""Fetches of versions from Git repositories."""

from __future__ import annotations

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer


class FetchIn(StrictSerializer):
    """A tag of a public Git repository."""

    url = serializers.CharField(max_length=300, help_text="Address of the repository: https://host/owner/name")
    tag = serializers.CharField(max_length=100)
    folder = serializers.CharField(
        max_length=120, default="", allow_blank=True, help_text="The folder with bot.toml; empty: the top."
    )


class FetchOut(Out):
    """A version that the league fetches from a Git repository."""

    id = serializers.IntegerField()
    bot = serializers.SlugField(source="bot_name")
    url = serializers.CharField()
    tag = serializers.CharField()
    folder = serializers.CharField()
    commit = serializers.CharField(
        help_text="The commit that the tag named, in hexadecimal; empty until it is fetched."
    )
    version = serializers.IntegerField(
        source="version_id", allow_null=True, help_text="The id of the version; null until it is uploaded."
    )
    why = serializers.CharField(help_text="Why there is no version; empty while it is fetched, and if there is one.")
    created = serializers.DateTimeField()
