"""Tables of sums over what bots have played, for their pages (league.domain.bots.totals)."""

from __future__ import annotations

from django.db import models

from league.models.bots import Bot, BotVersion
from league.models.matches import Match
from league.models.pools import Pool


class PlayedSum(models.Model):
    """What a version did in the rated matches of a pool; without version: all versions there.

    The second part says how it plays (`league.pure.style`).
    """

    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="played_sums")
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)  # in a constraint
    matches = models.PositiveIntegerField(default=0)
    boards = models.PositiveIntegerField(default=0)
    # Boards won, drawn, lost against the others at the table, pair by pair
    wins = models.PositiveIntegerField(default=0)
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    points = models.BigIntegerField(default=0)  # sum of its board scores, in the game's score unit
    faults = models.PositiveIntegerField(default=0)  # matches in which it failed

    places = models.PositiveBigIntegerField(default=0)
    sung = models.PositiveBigIntegerField(default=0)
    capotes = models.PositiveBigIntegerField(default=0)
    leads = models.PositiveBigIntegerField(default=0)
    trump_leads = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "pool"], name="played_sum_once"),
            models.UniqueConstraint(
                fields=["pool"], condition=models.Q(version__isnull=True), name="played_sum_of_pool"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.boards} boards of version {self.version_id} in pool {self.pool_id}"


class MeetingSum(models.Model):
    """What a bot did against another in the rated matches of a pool, whatever their versions. Each pair has two rows, one of each."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="meetings", db_index=False)  # in the constraint
    opponent = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="+")
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+")
    matches = models.PositiveIntegerField(default=0)
    boards = models.PositiveIntegerField(default=0)
    wins = models.PositiveIntegerField(default=0)  # boards on which it scored more
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    difference = models.BigIntegerField(default=0)  # sum of its scores less the other's, in the game's score unit

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bot", "pool", "opponent"], name="meeting_sum_once")]

    def __str__(self) -> str:
        return f"bot {self.bot_id} against bot {self.opponent_id}: {self.boards} boards"


class MatchStyle(models.Model):
    """What a match has added to how its bots play, so that it can be taken out again when its replay has been let go."""

    match = models.OneToOneField(Match, primary_key=True, on_delete=models.CASCADE, related_name="style")
    counts = models.JSONField()  # for each party the fields of league.pure.style.Style, in their order

    def __str__(self) -> str:
        return f"style of match {self.match_id}"
