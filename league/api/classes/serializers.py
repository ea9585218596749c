"""Classes, their assignments, what is handed in, and marks."""

from __future__ import annotations

from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import PoolRef, StrictSerializer, VersionRef
from league.enums import ClassRole, HandInVerdict, PassRule

STATE = '"none": nothing is handed in; "running": it is being measured; else the verdict of the version that counts.'


class MyClassOut(Out):
    """One of your classes."""

    slug = serializers.SlugField(source="school_class.slug")
    name = serializers.CharField(source="school_class.name")
    role = serializers.ChoiceField(choices=ClassRole.choices)
    archived = serializers.DateTimeField(source="school_class.archived", allow_null=True)


class MarkOut(Out):
    """A student at an assignment."""

    assignment = serializers.IntegerField(source="task.number")
    state = serializers.CharField(help_text=STATE)
    attempts = serializers.IntegerField(help_text="Number of versions handed in.")
    mark = serializers.FloatField(allow_null=True, help_text="Null while nothing decides it.")
    place = serializers.IntegerField(allow_null=True, help_text="Among those who passed, from 1.")
    version = serializers.IntegerField(
        source="hand_in.version_id", default=None, allow_null=True, help_text="The version that counts."
    )
    late = serializers.BooleanField(source="hand_in.is_late", default=False)


class StudentMarksOut(Out):
    """The marks of a student."""

    player = serializers.SlugField(source="member.player.name")
    name = serializers.CharField(source="member.name", help_text="The name that the teachers see.")
    number = serializers.CharField(source="member.number", help_text="Student number of the roster.")
    total = serializers.FloatField()
    marks = MarkOut(source="states", many=True)


class ClassOut(Out):
    """A class, as a member sees it."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=ClassRole.choices, allow_null=True, help_text="Yours; null: an operator.")
    archived = serializers.DateTimeField(allow_null=True)
    teachers = serializers.ListField(child=serializers.SlugField())
    most = serializers.IntegerField(help_text="The total that a student can reach without extra marks.")
    own = StudentMarksOut(allow_null=True, help_text="Your marks, if you are a student.")


class AssignmentOut(Out):
    """An assignment of a class."""

    number = serializers.IntegerField()
    title = serializers.CharField()
    pool = PoolRef()
    against = serializers.SlugField(source="rival.bot.slug", help_text="The house bot at all other seats.")
    rule = serializers.ChoiceField(choices=PassRule.choices, help_text="The pass mark.")
    opens = serializers.DateTimeField()
    due = serializers.DateTimeField()
    attempts = serializers.IntegerField(help_text="The most attempts of a student.")
    marks = serializers.IntegerField(help_text="For a bot that passes.")
    clean_marks = serializers.IntegerField(help_text="For a bot without a fault that does not pass.")
    place_marks = serializers.IntegerField(help_text="Extra marks for the first place; the next ones get fewer.")
    late_percent = serializers.IntegerField(help_text="Share of the marks for a late bot; 0: it is refused.")
    extra = serializers.BooleanField(source="is_extra", help_text="True if its marks come on top of the total.")


class HandInOut(Out):
    """A version that a student has handed in."""

    player = serializers.SlugField(source="member.player.name")
    attempt = serializers.IntegerField()
    version = VersionRef()
    created = serializers.DateTimeField()
    late = serializers.BooleanField(source="is_late")
    verdict = serializers.ChoiceField(
        choices=HandInVerdict.choices, allow_blank=True, help_text="Empty while it is being measured."
    )
    why = serializers.CharField(help_text="The fault, if there is one.")
    won = serializers.IntegerField(help_text="Number of boards.")
    drawn = serializers.IntegerField()
    lost = serializers.IntegerField()
    decided = serializers.DateTimeField(allow_null=True)


class HandInNew(StrictSerializer):
    """A version to hand in."""

    version = serializers.IntegerField(
        min_value=1, max_value=999_999_999, help_text="Id of a version of one of your bots."
    )
