"""Tables of studies: what the rules of a variant do, measured over many boards of house bots, and the parts that workers do."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.models.people import Player


class Study(models.Model):
    """A study (league.domain.studies) of a variant, or of the usual rules of a game. There is one for equal rules, bots and engine."""

    key = models.CharField(max_length=24, unique=True)  # engine.studying.key_of
    game = models.CharField(max_length=30)
    revision = models.PositiveIntegerField()  # Of the rules.
    players = models.PositiveSmallIntegerField()
    options = models.JSONField()
    inputs = models.JSONField()  # engine.studying.inputs_of
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="variants")
    # Who started it last; null after the account was closed.
    player = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="studies")
    boards = models.PositiveIntegerField()
    played = models.PositiveIntegerField(default=0)  # How many of them are counted.
    spent_s = models.FloatField(default=0.0)  # Time of the workers.
    cpu_s = models.FloatField(default=0.0)  # Processor time of the bots.
    report = models.JSONField(null=True)  # engine.lab.report.build; of fewer boards while it runs.
    begun = models.DateTimeField()
    decided = models.DateTimeField(null=True)
    why = models.TextField(blank=True, default="")  # Why it ended before its end.

    class Meta:
        indexes = [
            models.Index(fields=["game", "-begun"], name="study_of_game"),
            models.Index(fields=["id"], condition=Q(decided=None), name="study_running"),
        ]

    def __str__(self) -> str:
        return f"study {self.key} of {self.game}"


class StudyPart(models.Model):
    """Some boards of a study; or, without boards, the report of those that are counted."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="parts")
    first = models.PositiveIntegerField()  # The number of the first board; 0: the report.
    data = models.BinaryField(null=True)  # The result, packed by domain.studies.parts.pack.
    digest = models.CharField(max_length=64, blank=True, default="")  # SHA-256 of `data`.
    seconds = models.FloatField(default=0.0)
    cpu_s = models.FloatField(default=0.0)
    why = models.TextField(blank=True, default="")  # Why the study has to end.
    finished = models.DateTimeField(null=True)
    counted = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "first"], name="study_part_once")]
        indexes = [
            models.Index(fields=["finished"], condition=Q(finished__isnull=False, counted=False), name="study_part_new")
        ]

    def __str__(self) -> str:
        return f"part {self.first} of study {self.study_id}"
