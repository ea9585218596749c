"""Tables of the standing ladders: their bots and the draws. The results are in the matches."""

from __future__ import annotations

from django.db import models

from league.enums import BossLeague, VersionTestVerdict
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
    # The BossLeague of the bot, when it rose there, and since when it waits for a test against the boss (league.domain.ladders.bosses).
    league = models.PositiveSmallIntegerField(default=BossLeague.WOOD, db_default=BossLeague.WOOD)
    risen = models.DateTimeField(null=True)
    contends = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["game", "bot"], name="rung_once")]
        indexes = [
            models.Index(fields=["placed", "due"], name="rung_due"),
            models.Index(
                fields=["league", "contends"], condition=models.Q(contends__isnull=False), name="rung_contends"
            ),
            models.Index(fields=["game", "-league", "id"], name="rung_league"),
        ]

    def __str__(self) -> str:
        return f"bot {self.bot_id} on the ladder of {self.game}"


class SequentialTest(models.Model):
    """A test of two versions: both play the same boards until a sequential test decides; `verdict` is empty until then."""

    RIVAL = ""  # The column of the version that `version` is compared with.

    game = models.CharField(max_length=30)
    version: models.ForeignKey[BotVersion, BotVersion]
    version_id: int
    # Results of the version over the boards that count.
    won = models.PositiveIntegerField(default=0)
    drawn = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    llr = models.FloatField(default=0.0)  # Log-likelihood ratio (engine.sprt).
    matches = models.PositiveIntegerField(default=0)  # Matches queued so far; the last one may be unfinished.
    verdict = models.CharField(max_length=20, choices=VersionTestVerdict, blank=True)
    begun = models.DateTimeField()
    decided = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def rival(self) -> BotVersion:
        """Return the version that this one is compared with."""
        rival: BotVersion = getattr(self, self.RIVAL)
        return rival


class VersionTest(SequentialTest):
    """A version test: is a version better than the one it replaced?"""

    RIVAL = "before"

    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="version_tests")
    before = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")

    class Meta:
        db_table = "league_succession"
        constraints = [
            models.UniqueConstraint(fields=["game", "version"], name="succession_once"),
            only_words("succession", "verdict", VersionTestVerdict, or_empty=True),
        ]
        indexes = [models.Index(fields=["id"], condition=models.Q(verdict=""), name="succession_open")]

    def __str__(self) -> str:
        return f"version {self.version_id} against {self.before_id} in {self.game}"


class Boss(models.Model):
    """The boss of one league of a game in one season: the version that a bot has to beat to rise. It is replaced only if its bot may not play."""

    game = models.CharField(max_length=30)
    season = models.PositiveIntegerField()  # Its number (league.pure.bosses.season_of).
    league = models.PositiveSmallIntegerField()  # A BossLeague.
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="bosses")
    # The house bot that takes over if the boss may not play, and the one that bots of the boss's owner have to beat; null: none.
    house = models.ForeignKey(BotVersion, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    stand_in = models.ForeignKey(BotVersion, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    secret = models.BinaryField(max_length=32)  # The boards of all its tests are derived from it.
    # The lead in Elo that a bot needs over `house`, because that bot is the boss of the league below, too.
    margin = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["season", "game", "league"], name="boss_once")]

    def __str__(self) -> str:
        return f"boss of league {self.league} of {self.game}, season {self.season}"


class BossTest(SequentialTest):
    """A test of a version against the boss of its league, or the house bot that stands in for the boss: if it is won, the bot rises."""

    RIVAL = "opponent"

    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="boss_tests")
    boss = models.ForeignKey(Boss, on_delete=models.CASCADE, related_name="tests")
    opponent = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    # 1 for the first test of the owner's bots against this boss, then 2, ...
    attempt = models.PositiveSmallIntegerField()
    margin = models.PositiveSmallIntegerField(default=0, db_default=0)  # The lead in Elo that the version needs.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["boss", "version", "opponent"], name="boss_test_once"),
            only_words("boss_test", "verdict", VersionTestVerdict, or_empty=True),
        ]
        indexes = [models.Index(fields=["id"], condition=models.Q(verdict=""), name="boss_test_open")]

    def __str__(self) -> str:
        return f"version {self.version_id} against boss {self.boss_id} in {self.game}"


class LadderDraw(models.Model):
    """The number of ladder tables drawn so far, version tests included. A draw locks the only row, so two schedulers never draw at the same time."""

    drawn = models.PositiveBigIntegerField(default=0)

    class Meta:
        db_table = "league_lots"

    def __str__(self) -> str:
        return f"{self.drawn} tables drawn"
