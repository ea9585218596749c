"""The conversation with a volunteer's program."""

from __future__ import annotations

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer
from league.domain.volunteers.work import MOST_WORKING

MOST_SITTINGS = 2000


class VolunteerTaskIn(StrictSerializer):
    """A task that was given to the program."""

    task = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    token = serializers.IntegerField(min_value=1, max_value=2**31 - 1, help_text="The number that came with the task.")


class VolunteerRunningIn(VolunteerTaskIn):
    """A task on which the program is working."""

    progress = serializers.IntegerField(min_value=0, max_value=100, default=0, help_text="In percent.")


class VolunteerResultIn(VolunteerTaskIn):
    """The result of a task."""

    sittings = serializers.ListField(
        child=serializers.ListField(child=serializers.ListField(min_length=7, max_length=7)),
        max_length=MOST_SITTINGS,
        help_text="For each record the judged decisions, each as a list: step, loss, best actions, worth before, worth after, error, line.",
    )


class VolunteerTurn(StrictSerializer):
    """The state of a volunteer's program."""

    engine = serializers.CharField(max_length=64, help_text="The fingerprint of the program that judges.")
    wants = serializers.BooleanField(default=False, help_text="True to get a further task.")
    running = serializers.ListField(child=VolunteerRunningIn(), default=list, max_length=MOST_WORKING)
    dropped = serializers.ListField(child=VolunteerTaskIn(), default=list, max_length=MOST_WORKING)
    result = VolunteerResultIn(required=False)


class VolunteerTaskOut(Out):
    """A task: records to judge."""

    task = serializers.IntegerField()
    token = serializers.IntegerField(help_text="Send it with every report about this task.")
    fair = serializers.IntegerField(allow_null=True, help_text="Deals for each decision; null: judge with open cards.")
    nodes = serializers.IntegerField(help_text="The most nodes of each search.")
    cpu_s = serializers.IntegerField(
        help_text="The most seconds of processor time; give the task back if it needs more."
    )
    records = serializers.ListField(child=serializers.DictField(), help_text="Replays without events.")


class VolunteerOut(Out):
    """The answer to a volunteer's program: what to do next."""

    task = VolunteerTaskOut(allow_null=True)
    lost = serializers.ListField(
        child=serializers.IntegerField(), help_text="Tasks of `running` that the program no longer has."
    )
    accepted = serializers.BooleanField(help_text="False if the result of this request came too late.")
    beat_s = serializers.FloatField(help_text="Ask again within this time while you have a task.")
    topic = serializers.CharField(help_text="The topic of /live that changes when there may be a new task.")
