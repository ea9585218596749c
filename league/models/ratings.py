"""Tables of ratings: the current fit, the totals behind it, and its history."""

from __future__ import annotations

from django.db import models

from league.models.bots import Bot, BotVersion
from league.models.matches import Match
from league.models.pools import Pool


class Rating(models.Model):
    """The current rating of one version in one pool. It depends only on the finished boards, unless `estimated` is true.

    Rewritten after every match.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="ratings")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="ratings")
    elo = models.FloatField()
    margin = models.FloatField()  # Half of the 95% interval, in Elo.
    # Elo less two and a half margins: the order of the table (league.pure.rating.leaderboard.certain_elo).
    certain = models.FloatField(default=0.0, db_default=0.0)
    boards = models.PositiveIntegerField()
    opponents = models.PositiveIntegerField()
    score = models.FloatField()  # Share of the board points, 0 to 1.
    points_per_board = models.FloatField()
    faults = models.PositiveIntegerField()
    rank_best = models.PositiveIntegerField()
    rank_worst = models.PositiveIntegerField()
    los_next = models.FloatField(null=True)  # Likelihood that the version is stronger than the next row.
    # Expected share of the board points against all listed rivals, 0 to 1.
    field_score = models.FloatField(default=0.5)
    field_sd = models.FloatField(default=0.5)  # Standard deviation of `field_score`.
    provisional = models.BooleanField()
    # True if the version represents its bot on the leaderboard: the one with the highest certain Elo.
    listed = models.BooleanField(default=True)
    # True if the strength comes from the version's own boards with all others fixed: matches were counted since the last refit (large pools only).
    estimated = models.BooleanField(default=False, db_default=False)
    # When the last match that counts finished; null: not yet looked up (league.domain.ratings.idle).
    played = models.DateTimeField(null=True)
    # True if the last match was long ago (league.domain.ratings.idle).
    idle = models.BooleanField(default=False, db_default=False)
    # CPU seconds of its slowest decision in all counted matches; null: not measured.
    slowest_s = models.FloatField(null=True)
    updated = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "version"], name="rating_once")]
        indexes = [
            models.Index(fields=["pool", "-certain"], name="rating_by_certain"),
            models.Index(
                fields=["pool", "-certain", "version", "provisional"],
                condition=models.Q(listed=True),
                name="rating_listed_certain",
            ),
            models.Index(
                fields=["pool", "-certain", "version"],
                condition=models.Q(listed=True, idle=False),
                name="rating_active_certain",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.elo:.0f} ± {self.margin:.0f} of version {self.version_id} in pool {self.pool_id}"


class PoolSums(models.Model):
    """The state of a pool's totals. They change in the transaction that counts a match, so each match counts exactly once."""

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, related_name="sums")
    # Totals from releases that did not yet store them as rows: zlib of league.pure.rating.tallies.Tallies.dump(); else empty.
    data = models.BinaryField()
    matches = models.PositiveIntegerField()  # Matches counted.
    # A random number, new with every change, by which a process sees whether its cached totals are current.
    stamp = models.PositiveBigIntegerField(db_default=0)
    updated = models.DateTimeField()
    # The stamps of the totals from which all strengths were fitted, and from which intervals, ranks and superiority were; equal to `stamp` if
    # nothing is due. Beside each the time up to which those totals include every result.
    fitted = models.PositiveBigIntegerField(default=0, db_default=0)
    fitted_until = models.DateTimeField(null=True)
    ranked = models.PositiveBigIntegerField(default=0, db_default=0)
    ranked_until = models.DateTimeField(null=True)
    # The process that counts and fits a large pool, because it has the totals in memory; another one may take over after `keeper_until`.
    keeper = models.CharField(max_length=100, blank=True, default="", db_default="")
    keeper_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"sums of {self.matches} matches of pool {self.pool_id}"


class BotSums(models.Model):
    """The totals of one version over the counted boards of a pool (`league.pure.rating.tallies.BotTally`)."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    boards = models.BigIntegerField()
    points = models.BigIntegerField()
    half_points = models.BigIntegerField()
    meetings = models.BigIntegerField()
    faults = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "version"], name="bot_sums_once")]

    def __str__(self) -> str:
        return f"{self.boards} boards of version {self.version_id} in pool {self.pool_id}"


class BoardSums(models.Model):
    """The number of counted boards of a pool with one pairing of two sides, by result, or with one ranking of the seats of a table."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=200)  # "sides 1 12 57", or "tables 3" with three versions and the rank of each.
    wins = models.BigIntegerField()  # Boards that the first side won; for a ranking: all boards.
    draws = models.BigIntegerField(default=0)
    losses = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "key"], name="board_sums_once")]

    def __str__(self) -> str:
        return f"{self.key}: {self.wins} {self.draws} {self.losses} in pool {self.pool_id}"


class RatingPoint(models.Model):
    """The rating of a version right after one of its matches, for the charts of its history."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="points")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="points")
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="rating_points")
    elo = models.FloatField()
    margin = models.FloatField()
    change = models.FloatField()  # Difference of the fits before and after the match, in Elo.
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "version"], name="rating_point_once")]
        indexes = [models.Index(fields=["version", "at"], name="rating_history")]

    def __str__(self) -> str:
        return f"{self.elo:.0f} of version {self.version_id} after match {self.match_id}"


class TableOfDay(models.Model):
    """A daily leaderboard: the table of a pool at the end of a day (UTC), stored if it has changed since the day before."""

    # The constraint day_once has an index.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField()
    ranked = models.PositiveBigIntegerField()  # `PoolSums.ranked` at that time.
    since = models.DateField(null=True)  # The day with which the ratings are compared to find the bots that rose most.
    taken = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "day"], name="day_once")]

    def __str__(self) -> str:
        return f"pool {self.pool_id} at the end of {self.day}"


class PlaceOfDay(models.Model):
    """The place of a bot in a daily leaderboard."""

    # The constraint place_once has an index.
    table = models.ForeignKey(TableOfDay, on_delete=models.CASCADE, related_name="places", db_index=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="+")
    place = models.PositiveIntegerField()
    elo = models.FloatField()
    provisional = models.BooleanField()
    # Rise in Elo since the day `since` of the table; only for the few bots that rose most.
    rise = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "bot"], name="place_once")]
        indexes = [models.Index(fields=["table", "-rise"], condition=models.Q(rise__isnull=False), name="place_risen")]

    def __str__(self) -> str:
        return f"bot {self.bot_id}: {self.place}"
