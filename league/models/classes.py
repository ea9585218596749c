"""Tables of classes: members, assignments, and the versions that students hand in."""

from __future__ import annotations

from django.db import models

from league.enums import ClassRole, HandInVerdict, PassRule
from league.models.bots import BotVersion
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words


class SchoolClass(models.Model):
    """A class: teachers, students and assignments. Nobody else learns that it exists (league.domain.classes)."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=60)
    link = models.CharField(max_length=40, blank=True)  # The last part of the join link; empty: there is no link.
    closes = models.DateTimeField(null=True)  # Nobody joins after this time; null: no such time.
    places = models.PositiveSmallIntegerField()  # The most students.
    # The people who may join, each as [name, student number]; empty: everybody who has the link.
    roster = models.JSONField(default=list)
    created = models.DateTimeField()
    archived = models.DateTimeField(null=True)  # From this time on nothing changes any more.
    event = models.ForeignKey(
        "league.Event", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )  # The latest tournament.

    def __str__(self) -> str:
        return self.name


class ClassMember(models.Model):
    """A teacher or student of a class."""

    # The constraint class_member_once has an index.
    school_class = models.ForeignKey(SchoolClass, on_delete=models.CASCADE, related_name="members", db_index=False)
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="classes")
    role = models.CharField(max_length=10, choices=ClassRole)
    name = models.CharField(max_length=80)  # The name that the teachers see; others see that of the account.
    number = models.CharField(max_length=40, blank=True)  # The student number of the roster.
    # True if the student lets the teachers set a new password (league.domain.classes.helping).
    helped = models.BooleanField(default=False)
    joined = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["school_class", "player"], name="class_member_once"),
            only_words("class_member", "role", ClassRole),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.player_id} of class {self.school_class_id}"


class Assignment(models.Model):
    """An assignment: a bot has to reach the pass mark at a table, in boards that are fixed beforehand."""

    # The constraint assignment_once has an index.
    school_class = models.ForeignKey(SchoolClass, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    number = models.PositiveSmallIntegerField()  # From 1, in its class.
    title = models.CharField(max_length=80)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+")
    rival = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="+")  # Plays all other seats.
    rule = models.CharField(max_length=10, choices=PassRule)
    opens = models.DateTimeField()
    due = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField()  # The most measurements of a student.
    marks = models.PositiveSmallIntegerField()  # For a bot that passes.
    clean_marks = models.PositiveSmallIntegerField()  # For a bot that plays without a fault, but does not pass.
    place_marks = (
        models.PositiveSmallIntegerField()
    )  # Extra points for the best bot that passes; the next ones get fewer.
    late_percent = models.PositiveSmallIntegerField()  # Share of the marks for a bot handed in after `due`; 0: refused.
    is_extra = models.BooleanField()  # True if its marks come on top of the total.
    secret = models.BinaryField(max_length=32)  # The deals of all attempts are derived from it.
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["school_class", "number"], name="assignment_once"),
            only_words("assignment", "rule", PassRule),
        ]

    def __str__(self) -> str:
        return f"assignment {self.number} of class {self.school_class_id}"


class HandIn(models.Model):
    """A version that a student has handed in, and its measurement (league.domain.classes.measuring)."""

    # The constraint hand_in_once has an index.
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="hand_ins", db_index=False)
    member = models.ForeignKey(ClassMember, on_delete=models.CASCADE, related_name="hand_ins")
    attempt = models.PositiveSmallIntegerField()  # From 1.
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    created = models.DateTimeField()
    is_late = models.BooleanField()
    matches = models.PositiveSmallIntegerField(default=0)  # Matches so far, the running one included.
    counted = models.PositiveSmallIntegerField(default=0)  # Those whose boards are in the columns below.
    won = models.PositiveIntegerField(default=0)
    drawn = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    points = models.FloatField(default=0.0)  # Sum of the leads over the rivals' mean, and of their squares.
    squares = models.FloatField(default=0.0)
    llr = models.FloatField(default=0.0)  # Log-likelihood ratio of "better" over "not better".
    verdict = models.CharField(max_length=10, choices=HandInVerdict, blank=True)  # Empty while it is measured.
    why = models.TextField(blank=True)  # The fault, for the student and the teachers.
    decided = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "member", "attempt"], name="hand_in_once"),
            only_words("hand_in", "verdict", HandInVerdict, or_empty=True),
        ]
        indexes = [
            # Small: the hand-ins that are being measured.
            models.Index(fields=["matches", "id"], condition=models.Q(verdict=""), name="hand_in_open")
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} of member {self.member_id} at assignment {self.assignment_id}"

    @property
    def boards(self) -> int:
        """Return the number of counted boards."""
        return self.won + self.drawn + self.lost
