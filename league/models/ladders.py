"""Tables of the standing ladders: their bots and the draws. The results are in the matches."""

from __future__ import annotations

from django.db import models

from league.enums import VersionTestVerdict
from league.models.bots import Bot, BotVersion
from league.models.words import only_words


class Rung(models.Model):
    """A bot on the ladder of one game. Its newest version replaces the one before."""

    game = models.CharField(max_length=30)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="rungs")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="rungs")
    entered = models.DateTimeField()  # When this version entered the ladder.
    due = models.DateTimeField()  # The bot rests until then (league.pure.pairing.standing.rest_s).
    # 1 after the bot's first rest; bots with 0 are drawn first.
    placed = models.PositiveSmallIntegerField(default=0)
    tied = models.BooleanField(default=False)  # True if at the last draw matches connected the bot to all others.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["game", "bot"], name="rung_once")]
        indexes = [models.Index(fields=["placed", "due"], name="rung_due")]

    def __str__(self) -> str:
        return f"bot {self.bot_id} on the ladder of {self.game}"


class VersionTest(models.Model):
    """A version test: is a version better than the one it replaced?

    Both play the same boards until a sequential test decides; `verdict` is empty until then.
    """

    game = models.CharField(max_length=30)
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="version_tests")
    before = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    # Results of the new version over the boards that count.
    won = models.PositiveIntegerField(default=0)
    drawn = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    llr = models.FloatField(default=0.0)  # Log-likelihood ratio (engine.sprt).
    matches = models.PositiveIntegerField(default=0)  # Matches queued so far; the last one may be unfinished.
    verdict = models.CharField(max_length=20, choices=VersionTestVerdict, blank=True)
    begun = models.DateTimeField()
    decided = models.DateTimeField(null=True)

    class Meta:
        db_table = "league_succession"
        constraints = [
            models.UniqueConstraint(fields=["game", "version"], name="succession_once"),
            only_words("succession", "verdict", VersionTestVerdict, or_empty=True),
        ]
        indexes = [models.Index(fields=["id"], condition=models.Q(verdict=""), name="succession_open")]

    def __str__(self) -> str:
        return f"version {self.version_id} against {self.before_id} in {self.game}"


class LadderDraw(models.Model):
    """The number of ladder tables drawn so far, version tests included. A draw locks the only row, so two schedulers never draw at the same time."""

    drawn = models.PositiveBigIntegerField(default=0)

    class Meta:
        db_table = "league_lots"

    def __str__(self) -> str:
        return f"{self.drawn} tables drawn"
