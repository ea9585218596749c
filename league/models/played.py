"""Tables of totals over the matches that bots have played, for their pages (league.domain.bots.totals)."""

from __future__ import annotations

from django.db import models

from league.models.bots import Bot, BotVersion
from league.models.matches import Match
from league.models.pools import Pool


class PlayedSum(models.Model):
    """The results and the style (`league.pure.style`) of a version over the rated matches of a pool; without version: of all versions there."""

    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="played_sums")
    # The unique constraint has an index.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    matches = models.PositiveIntegerField(default=0)
    boards = models.PositiveIntegerField(default=0)
    # Boards won, drawn, lost against the others at the table, pair by pair.
    wins = models.PositiveIntegerField(default=0)
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    points = models.BigIntegerField(default=0)  # Sum of its board scores, in the game's score unit.
    faults = models.PositiveIntegerField(default=0)  # Matches in which the version made a fault.

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
    """The results of a bot against another one, summed over the rated matches of a pool and all versions.

    Each pair has two rows, one for each bot.
    """

    # The unique constraint has an index.
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="meetings", db_index=False)
    opponent = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="+")
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+")
    matches = models.PositiveIntegerField(default=0)
    boards = models.PositiveIntegerField(default=0)
    wins = models.PositiveIntegerField(default=0)  # Boards on which the bot scored more than the other.
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    # Sum of the bot's scores less the other's, in the game's score unit.
    difference = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bot", "pool", "opponent"], name="meeting_sum_once")]

    def __str__(self) -> str:
        return f"bot {self.bot_id} against bot {self.opponent_id}: {self.boards} boards"


class MatchStyle(models.Model):
    """The style counts that a match added to its bots' totals, stored so that they can be subtracted after the replay was removed."""

    match = models.OneToOneField(Match, primary_key=True, on_delete=models.CASCADE, related_name="style")
    counts = models.JSONField()  # For each party, the fields of league.pure.style.Style in order.

    def __str__(self) -> str:
        return f"style of match {self.match_id}"


class MatchChoices(models.Model):
    """The opening choices (`engine.choices`) of a match that are counted in ChoiceSum, stored so that they can be subtracted without the replay."""

    match = models.OneToOneField(Match, primary_key=True, on_delete=models.CASCADE, related_name="choices")
    # For each party the rating band, and a list of kind, hand, choice, number and worth (league.domain.bots.choices).
    counts = models.JSONField()

    def __str__(self) -> str:
        return f"choices of match {self.match_id}"


class ChoiceSum(models.Model):
    """The number of times that bots of a rating band made a choice in a pool with a type of hand, and what it brought, over public rated matches.

    The sums of squares are for intervals over matches, since the boards of a match depend on each other. For each match, `n` is the number of these
    choices, `w` their worth, and `a` the number of all choices with that kind, hand and band.
    """

    # The unique constraint has an index.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=12)  # One of engine.choices.KINDS.
    hand = models.CharField(max_length=20)  # A type of engine.choices.hand_type; "": every hand.
    band = models.PositiveSmallIntegerField()  # A number of league.domain.bots.choices.BANDS; 0: every bot.
    choice = models.CharField(max_length=20)  # "": every choice.
    matches = models.IntegerField()  # May be negative in a statement that subtracts.
    number = models.BigIntegerField()  # Sum of n.
    worth = models.BigIntegerField()  # Sum of w, in the game's score unit times the number of other sides.
    worth_worth = models.BigIntegerField()  # Sum of w * w.
    worth_number = models.BigIntegerField()  # Sum of w * n.
    number_number = models.BigIntegerField()  # Sum of n * n.
    number_all = models.BigIntegerField()  # Sum of n * a.
    bots = models.BigIntegerField()  # A bit for each bot that made the choice (league.domain.bots.choices.BITS).

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "kind", "hand", "band", "choice"], name="choice_sum_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.hand} {self.choice}: {self.number} in pool {self.pool_id}"
