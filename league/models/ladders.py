"""Tables of the standing ladders: who is on them, and how they are drawn. What was played on them stands in the matches."""

from __future__ import annotations

from django.db import models

from league.enums import SuccessionVerdict
from league.models.bots import Bot, BotVersion
from league.models.words import only_words


class Rung(models.Model):
    """One bot on the ladder of one game. A new version takes the place of the one before."""

    game = models.CharField(max_length=30)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="rungs")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="rungs")
    entered = models.DateTimeField()  # its version
    due = models.DateTimeField()  # it rests until then (league.pure.pairing.standing.rest_s)
    placed = models.PositiveSmallIntegerField(default=0)  # 1 from its first rest on; who is not placed is drawn first
    tied = models.BooleanField(default=False)  # in the chain of meetings, when the draw looked last

    class Meta:
        constraints = [models.UniqueConstraint(fields=["game", "bot"], name="rung_once")]
        indexes = [models.Index(fields=["placed", "due"], name="rung_due")]

    def __str__(self) -> str:
        return f"bot {self.bot_id} on the ladder of {self.game}"


class Succession(models.Model):
    """Whether a version is better than the one whose place it took: a sequential test of the two, board by board. `verdict` "": it goes on."""

    game = models.CharField(max_length=30)
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="successions")
    before = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    # Boards of the new version that count
    won = models.PositiveIntegerField(default=0)
    drawn = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    llr = models.FloatField(default=0.0)  # log-likelihood ratio (engine.sprt)
    matches = models.PositiveIntegerField(default=0)  # that were queued; the last one may not be over
    verdict = models.CharField(max_length=20, choices=SuccessionVerdict, blank=True)
    begun = models.DateTimeField()
    decided = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["game", "version"], name="succession_once"),
            only_words("succession", "verdict", SuccessionVerdict, or_empty=True),
        ]
        indexes = [models.Index(fields=["id"], condition=models.Q(verdict=""), name="succession_open")]

    def __str__(self) -> str:
        return f"version {self.version_id} against {self.before_id} in {self.game}"


class Lots(models.Model):
    """How many tables of ladders were drawn, tests of new versions among them. Who draws holds its one row, so that of two schedulers one draws."""

    drawn = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.drawn} tables drawn"
