"""Tables of arenas: an hour in which people are paired again and again, with each other or with bots (league.domain.arenas)."""

from __future__ import annotations

from django.db import models

from league.models.bots import Bot
from league.models.people import Player
from league.models.pools import Pool
from league.models.tables import Table


class Arena(models.Model):
    """An arena for people. It has no status: `start`, `ends` and `finished` say how far it is."""

    slug = models.SlugField(max_length=60, unique=True)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+", db_index=False)
    start = models.DateTimeField()
    ends = models.DateTimeField()  # No table is drawn after this time; those in play still count.
    # The next one of a weekly arena starts at the same time by the clocks of this zone; "": there is no next one.
    time_zone = models.CharField(max_length=60, blank=True, default="")
    clock_s = models.PositiveSmallIntegerField(default=30)  # The most seconds for an answer.
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)  # When its last table had counted.

    class Meta:
        indexes = [
            models.Index(fields=["start"], name="arena_by_start"),
            models.Index(fields=["start"], condition=models.Q(finished=None), name="arena_unfinished"),
        ]

    def __str__(self) -> str:
        return self.slug


class ArenaEntry(models.Model):
    """A person or a bot in an arena, with their points."""

    # The index arena_standing begins with this column.
    arena = models.ForeignKey(Arena, on_delete=models.CASCADE, related_name="entries", db_index=False)
    # The constraints arena_person_once and arena_bot_once have indexes for both.
    player = models.ForeignKey(Player, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    bot = models.ForeignKey(Bot, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    joined = models.DateTimeField()
    waiting = models.DateTimeField(null=True)  # Since when the person waits to be paired; null: they do not.
    rests_until = models.DateTimeField(null=True)  # Until when who gave a hand up is not paired.
    points = models.PositiveIntegerField(default=0)
    games = models.PositiveIntegerField(default=0)
    wins = models.PositiveIntegerField(default=0)
    ties = models.PositiveIntegerField(default=0)
    place = models.PositiveIntegerField(null=True)  # At the end.

    class Meta:
        indexes = [
            models.Index(fields=["arena", "-points"], name="arena_standing"),
            models.Index(fields=["arena"], condition=models.Q(waiting__isnull=False), name="arena_waiting"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["player", "arena"], name="arena_person_once"),
            models.UniqueConstraint(fields=["bot", "arena"], name="arena_bot_once"),
            models.CheckConstraint(
                condition=models.Q(player__isnull=False, bot=None)
                | models.Q(player=None, bot__isnull=False, waiting=None),
                name="arena_entry_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"entry {self.pk} in arena {self.arena_id}"


class ArenaSide(models.Model):
    """A side of a table of an arena, played by one entry."""

    # The constraint arena_side_once has an index.
    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="sides", db_index=False)
    number = models.PositiveSmallIntegerField()  # The side, in the order of the game.
    entry = models.ForeignKey(ArenaEntry, on_delete=models.CASCADE, related_name="sides", db_index=False)
    given_up = models.DateTimeField(null=True)  # When its person left the table or stayed away.
    points = models.PositiveSmallIntegerField(null=True)  # null: still in play.

    class Meta:
        indexes = [
            models.Index(fields=["entry", "-table"], name="arena_side_of_entry"),
            models.Index(fields=["table"], condition=models.Q(points=None), name="arena_side_in_play"),
        ]
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="arena_side_once")]

    def __str__(self) -> str:
        return f"side {self.number} of table {self.table_id}"
