"""Tables of ratings: the fit of now, the sums it follows from, its history."""

from __future__ import annotations

from django.db import models

from league.models.bots import Bot, BotVersion
from league.models.matches import Match
from league.models.pools import Pool


class Rating(models.Model):
    """The present fit of one version in one pool. A pure function of the finished boards, but for `estimated`; rewritten after every match."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="ratings")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="ratings")
    elo = models.FloatField()
    margin = models.FloatField()  # half of the 95% interval, Elo
    boards = models.PositiveIntegerField()
    opponents = models.PositiveIntegerField()
    score = models.FloatField()  # share of board points, 0 to 1
    points_per_board = models.FloatField()
    faults = models.PositiveIntegerField()
    rank_best = models.PositiveIntegerField()
    rank_worst = models.PositiveIntegerField()
    los_next = models.FloatField(null=True)  # likelihood of superiority over the next row
    # Expected share of the board points against every listed rival, 0 to 1
    field_score = models.FloatField(default=0.5)
    field_sd = models.FloatField(default=0.5)  # its standard deviation
    provisional = models.BooleanField()
    # Stands for its bot on the leaderboard: the newest settled version, else the newest
    listed = models.BooleanField(default=True)
    # Found from its own boards alone, all others held: its pool has been counted since the last fit of all (large pools only)
    estimated = models.BooleanField(default=False, db_default=False)
    # When the last match of it that counts was over; null where nobody has looked yet (league.domain.ratings.idle)
    played = models.DateTimeField(null=True)
    idle = models.BooleanField(default=False, db_default=False)  # long ago (league.domain.ratings.idle)
    updated = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "version"], name="rating_once")]
        indexes = [
            models.Index(fields=["pool", "-elo"], name="rating_table"),
            models.Index(
                fields=["pool", "-elo", "version", "provisional"],
                condition=models.Q(listed=True),
                name="rating_listed",
            ),
            models.Index(
                fields=["pool", "-elo", "version"],
                condition=models.Q(listed=True, idle=False),
                name="rating_active",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.elo:.0f} ± {self.margin:.0f} of version {self.version_id} in pool {self.pool_id}"


class PoolSums(models.Model):
    """That the sums of a pool are kept, of how many matches. They are changed in the transaction that counts a match, so each counts once."""

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, related_name="sums")
    data = (
        models.BinaryField()
    )  # of releases before the sums were rows: zlib of league.pure.rating.tallies.Tallies.dump(); else empty
    matches = models.PositiveIntegerField()  # counted
    stamp = models.PositiveBigIntegerField(
        db_default=0
    )  # drawn with every change: who remembers the sums sees by it whether they hold
    updated = models.DateTimeField()
    # The stamps of those sums that the strengths of all, and that intervals, ranks and superiority follow from; `stamp` where nothing
    # is owed. Beside each the moment up to which every result is in it, but for those that do not count yet
    fitted = models.PositiveBigIntegerField(default=0, db_default=0)
    fitted_until = models.DateTimeField(null=True)
    ranked = models.PositiveBigIntegerField(default=0, db_default=0)
    ranked_until = models.DateTimeField(null=True)
    # The process that counts and fits a large pool, since it remembers the sums; after `keeper_until` another may
    keeper = models.CharField(max_length=100, blank=True, default="", db_default="")
    keeper_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"sums of {self.matches} matches of pool {self.pool_id}"


class BotSums(models.Model):
    """What one version did on the counted boards of a pool (`league.pure.rating.tallies`)."""

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
    """How often the counted boards of a pool came out in one way: two sides that met, or one ranking of a table of seats."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=200)  # "sides 1 12 57", or "tables 3" with three versions and the rank of each
    wins = models.BigIntegerField()  # of the first side; of a table: how often
    draws = models.BigIntegerField(default=0)
    losses = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "key"], name="board_sums_once")]

    def __str__(self) -> str:
        return f"{self.key}: {self.wins} {self.draws} {self.losses} in pool {self.pool_id}"


class RatingPoint(models.Model):
    """The fit of a version right after one of its matches: the history that charts draw."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="points")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="points")
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="rating_points")
    elo = models.FloatField()
    margin = models.FloatField()
    change = models.FloatField()  # difference of two fits, Elo
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "version"], name="rating_point_once")]
        indexes = [models.Index(fields=["version", "at"], name="rating_history")]

    def __str__(self) -> str:
        return f"{self.elo:.0f} of version {self.version_id} after match {self.match_id}"


class TableOfDay(models.Model):
    """That the leaderboard of a pool was kept as it stood at the end of a day (UTC); where it had changed since the one before."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="days", db_index=False)  # day_once
    day = models.DateField()
    ranked = models.PositiveBigIntegerField()  # as in PoolSums
    since = models.DateField(null=True)  # the day with which it was compared for what has risen
    taken = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "day"], name="day_once")]

    def __str__(self) -> str:
        return f"pool {self.pool_id} at the end of {self.day}"


class PlaceOfDay(models.Model):
    """Where a bot stood in the leaderboard of a day."""

    table = models.ForeignKey(TableOfDay, on_delete=models.CASCADE, related_name="places", db_index=False)  # place_once
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="+")
    place = models.PositiveIntegerField()
    elo = models.FloatField()
    provisional = models.BooleanField()
    rise = models.FloatField(null=True)  # Elo since the day `since` of its table, of the few that rose the most

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "bot"], name="place_once")]
        indexes = [models.Index(fields=["table", "-rise"], condition=models.Q(rise__isnull=False), name="place_risen")]

    def __str__(self) -> str:
        return f"bot {self.bot_id}: {self.place}"
