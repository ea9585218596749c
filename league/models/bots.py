"""Tables of bots, their versions, and the files that these share."""

from __future__ import annotations

from django.db import models

from league.enums import BotState, EntryPolicy, FaultKind, VersionStatus
from league.models.people import Player
from league.models.words import only_words


class Bot(models.Model):
    """A name under which its owner uploads versions."""

    owner = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="bots")
    slug = models.SlugField(max_length=40, unique=True)
    state = models.CharField(max_length=10, choices=BotState, default=BotState.ACTIVE)
    description = models.TextField(blank=True)
    is_house = models.BooleanField(default=False)  # shipped with the league; entered like anybody's
    # Why the league paused it (league.domain.matches.health); empty: nobody, or its owner did
    paused_for = models.TextField(blank=True)
    retest_at = models.DateTimeField(null=True)  # when the league tries it again by itself
    retests = models.PositiveSmallIntegerField(default=0)  # of this pause
    # Until when the pause of its owner holds its matches back, and when that began last (league.domain.bots.bots)
    held_until = models.DateTimeField(null=True)
    held_at = models.DateTimeField(null=True)
    # Since when and why an operator holds it back, whatever its owner does (league.domain.bots.bots)
    stopped = models.DateTimeField(null=True)
    stopped_for = models.TextField(blank=True, default="", db_default="")
    owner_banned = models.BooleanField(default=False, db_default=False)  # workers, who see no player, must know
    # The version that it sends to tournaments; null: its newest accepted one
    sends = models.ForeignKey(
        "league.BotVersion", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    # Whom its owner lets enter it (league.domain.bots.consent)
    entry_policy = models.CharField(
        max_length=10, choices=EntryPolicy, default=EntryPolicy.USUAL, db_default=EntryPolicy.USUAL
    )
    # Whether its owner lets it play on the standing ladders of its games (league.domain.ladders)
    on_ladders = models.BooleanField(default=True, db_default=True)
    created = models.DateTimeField()

    class Meta:
        constraints = [only_words("bot", "state", BotState), only_words("bot", "entry_policy", EntryPolicy)]
        indexes = [models.Index(fields=["id"], condition=models.Q(is_house=True), name="bot_of_house")]

    def __str__(self) -> str:
        return self.slug


class Package(models.Model):
    """The bytes of an upload, once per content. In the database, so that a worker needs nothing but the database."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()  # a normalised zip: the checked files only, sorted, without times or modes
    size = models.PositiveIntegerField()  # bytes of `data`
    files = models.PositiveIntegerField()

    def __str__(self) -> str:
        return self.sha256


class BotVersion(models.Model):
    """One upload, immutable. A tournament enters versions, never bots."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()  # 1, 2, ... within the bot
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="versions")
    runtime = models.CharField(max_length=20)
    entry = models.CharField(max_length=120)
    games = models.JSONField(default=list)  # keys of the games it says it plays; [] = all
    refused = models.JSONField(default=list)  # of these, the games in which its validation found a fault
    deterministic = models.BooleanField(default=False)  # as its manifest declares; audits hold it to that
    sealable = models.BooleanField(default=True)  # whether it can play off from every clock of the host
    status = models.CharField(max_length=12, choices=VersionStatus, default=VersionStatus.VALIDATING)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_detail = models.TextField(blank=True)
    entered = models.DateTimeField(null=True)  # when it entered the standing ladders of its games
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bot", "number"], name="version_number_once"),
            only_words("version", "status", VersionStatus),
            only_words("version", "fault", FaultKind, or_empty=True),
        ]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status="accepted", entered=None), name="version_to_enter")
        ]

    def __str__(self) -> str:
        return f"{self.bot.slug} v{self.number}"

    def plays(self, game: str) -> bool:
        """Whether it declares the game and was not refused in it."""
        return (not self.games or game in self.games) and game not in self.refused
