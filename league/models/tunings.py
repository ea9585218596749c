"""Tables of tunings: the search for better parameters of a version, and the pairs of boards that wait or are played."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.enums import VersionTestVerdict
from league.models.bots import BotVersion
from league.models.ladders import SequentialTest
from league.models.people import Player
from league.models.words import only_words


class Tuning(SequentialTest):
    """A tuning (league.domain.tunings), and the test of its result against the start.

    `matches` counts its steps; `verdict` is empty until the test decides.
    """

    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="tunings")
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="tunings")  # Who started it.
    opponent = models.ForeignKey(
        BotVersion, null=True, on_delete=models.CASCADE, related_name="+"
    )  # null: the version itself.
    parameters = models.JSONField()  # As the bot declares them (engine.spsa.BotParameter).
    values = models.JSONField()  # The current value of each.
    course = models.JSONField(default=list)  # Points of the curve: the number of boards, then the values.
    boards = models.PositiveIntegerField()  # Boards of the search.
    played = models.PositiveIntegerField(default=0)  # How many of them are counted.
    spent_s = models.FloatField(default=0.0)  # Time of the workers.
    tested = models.DateTimeField(null=True)  # When the test began.
    why = models.TextField(blank=True, default="")  # Why it ended before its end.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player"], condition=Q(decided=None), name="tuning_one_at_a_time"),
            only_words("tuning", "verdict", VersionTestVerdict, or_empty=True),
        ]

    def __str__(self) -> str:
        return f"tuning of version {self.version_id} in {self.game}"


class TuningStep(models.Model):
    """Some boards of a tuning between two sets of values. It is removed when its result is counted."""

    tuning = models.ForeignKey(Tuning, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()  # 1, 2, ... within the tuning.
    secret = models.BinaryField(max_length=32)  # The cards are derived from it.
    plus = models.JSONField()
    minus = models.JSONField()
    change = models.JSONField()  # By how much a won board moves each value; empty in the test.
    result = models.JSONField(null=True)  # Won, drawn and lost boards, seconds, and why the tuning has to end.
    finished = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tuning", "number"], name="tuning_step_once")]
        indexes = [models.Index(fields=["finished"], condition=Q(finished__isnull=False), name="tuning_step_finished")]

    def __str__(self) -> str:
        return f"step {self.number} of tuning {self.tuning_id}"
