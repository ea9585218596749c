"""The conversation with the author's program of a remote bot."""

from __future__ import annotations

from rest_framework import serializers

from engine.runner.protocol import MAX_LINE
from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer

MOST_PLAYED = 64  # The most ids in `playing`


class RemoteAnswerIn(StrictSerializer):
    """The answer of a remote bot to a line."""

    match = serializers.CharField(max_length=12)
    number = serializers.IntegerField(min_value=1, max_value=2**31 - 1, help_text="The number of the line.")
    line = serializers.CharField(
        allow_blank=True, trim_whitespace=False, max_length=MAX_LINE, help_text="The answer, without its newline."
    )


class RemoteTurn(StrictSerializer):
    """The state of the author's program, and perhaps an answer."""

    matches = serializers.IntegerField(
        min_value=0,
        max_value=100,
        default=1,
        help_text="The most matches at a time, within the limit of the league; 0 before your program leaves: then none begins.",
    )
    playing = serializers.ListField(
        child=serializers.CharField(max_length=12),
        default=list,
        max_length=MOST_PLAYED,
        help_text="The matches in which a process of yours goes on. A request in any other match comes with what was said before.",
    )
    answer = RemoteAnswerIn(required=False)


class RemoteRequestOut(Out):
    """A line for the bot, to be answered."""

    match = serializers.CharField()
    number = serializers.IntegerField()
    line = serializers.CharField(help_text="A line of the bot protocol, without its newline.")
    before = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="The earlier lines of the same conversation, each with its answer; empty in matches of `playing`.",
    )


class RemoteOut(Out):
    """The open requests to a remote bot."""

    requests = RemoteRequestOut(many=True)
    matches = serializers.ListField(child=serializers.CharField(), help_text="The bot's matches that are not over.")
    accepted = serializers.BooleanField(
        help_text="False if the answer of this request came too late, or the line already had one."
    )
    topic = serializers.CharField(help_text="The topic of /live that changes with the open requests.")
