"""Tables of bots, their versions and their packages."""

from __future__ import annotations

from django.db import models

from league.enums import BotState, EntryPolicy, FaultKind, Licence, VersionStatus
from league.models.people import Player
from league.models.words import only_words


class Bot(models.Model):
    """A bot: a name under which its owner uploads versions."""

    owner = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="bots")
    # The team whose members may use the bot (league.domain.bots.teams); the owner stays responsible for it.
    team = models.ForeignKey("league.Team", null=True, on_delete=models.SET_NULL, related_name="bots")
    slug = models.SlugField(max_length=40, unique=True)
    state = models.CharField(max_length=10, choices=BotState, default=BotState.ACTIVE)
    description = models.TextField(blank=True)
    is_house = models.BooleanField(default=False)  # True for a bot that the league ships; it enters like any other.
    is_remote = models.BooleanField(default=False, db_default=False)  # True if it runs on its author's machine.
    # Why the league paused the bot (league.domain.matches.health); empty if it did not.
    paused_for = models.TextField(blank=True)
    retest_at = models.DateTimeField(null=True)  # When the league tests the paused bot again.
    retests = models.PositiveSmallIntegerField(
        default=0
    )  # Retests since the league paused the bot, and recent pauses before.
    # When the pause ends that keeps the bot's matches in the queue, and when the last such pause began (league.domain.bots.bots).
    held_until = models.DateTimeField(null=True)
    held_at = models.DateTimeField(null=True)
    # When and why an operator paused the bot; its owner cannot resume it (league.domain.bots.bots).
    stopped = models.DateTimeField(null=True)
    stopped_for = models.TextField(blank=True, default="", db_default="")
    # Copied from the player for workers, which may not read players.
    owner_banned = models.BooleanField(default=False, db_default=False)
    # The version that tournaments get; null: the newest accepted one.
    sends = models.ForeignKey(
        "league.BotVersion", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    # Which players may enter the bot (league.domain.bots.consent).
    entry_policy = models.CharField(
        max_length=10, choices=EntryPolicy, default=EntryPolicy.USUAL, db_default=EntryPolicy.USUAL
    )
    # True if only its people and the owner's classes see it (league.domain.matches.sight), until the owner shows it to everybody.
    in_class = models.BooleanField(default=False, db_default=False)
    # True if the owner lets the bot play on the standing ladders of its games (league.domain.ladders).
    on_ladders = models.BooleanField(default=True, db_default=True)
    # True if the owner offers the bot as a boss, from the next season on (league.domain.ladders.bosses).
    offered_as_boss = models.BooleanField(default=False, db_default=False)
    # Until then it is not drawn for them, because its owner took it off (league.domain.bots.willing).
    away_until = models.DateTimeField(null=True)
    created = models.DateTimeField()

    class Meta:
        constraints = [only_words("bot", "state", BotState), only_words("bot", "entry_policy", EntryPolicy)]
        indexes = [models.Index(fields=["id"], condition=models.Q(is_house=True), name="bot_of_house")]

    def __str__(self) -> str:
        return self.slug


class Package(models.Model):
    """The bytes of an upload, stored once for equal contents, in the database because workers share nothing else."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()  # A normalised zip: only the checked files, sorted, without times or modes.
    size = models.PositiveIntegerField()  # Bytes of `data`.
    files = models.PositiveIntegerField()

    def __str__(self) -> str:
        return self.sha256


class BotVersion(models.Model):
    """One upload of a bot. It never changes, and tournaments enter it rather than the bot."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()  # 1, 2, ... within the bot.
    # The member of the team who uploaded it; null: the owner of the bot.
    uploader = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="uploads")
    # What plays; until the league has built it, the source.
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="versions")
    # What the author uploaded, if the league built what plays.
    source = models.ForeignKey(Package, null=True, on_delete=models.PROTECT, related_name="built_versions")
    runtime = models.CharField(max_length=20)
    entry = models.CharField(max_length=120)
    games = models.JSONField(default=list)  # Keys of the declared games; [] means all.
    refused = models.JSONField(default=list)  # Declared games in which the validation found a fault.
    deterministic = models.BooleanField(default=False)  # Declared in the manifest; audits check it.
    sealable = models.BooleanField(default=True)  # True if it can play without any clock of the host.
    status = models.CharField(max_length=12, choices=VersionStatus, default=VersionStatus.VALIDATING)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_detail = models.TextField(blank=True)
    entered = models.DateTimeField(null=True)  # When it entered the standing ladders of its games.
    # Since when everybody may read its source; never taken back (league.domain.bots.sources).
    opened = models.DateTimeField(null=True)
    # The owner's plan to publish the source: a date, or the end of "tournament:SLUG" or "event:SLUG".
    opens = models.DateTimeField(null=True)
    opens_after = models.CharField(max_length=80, blank=True, default="", db_default="")
    licence = models.CharField(max_length=20, choices=Licence, blank=True, default="", db_default="")
    # The published version of another bot that its text names as its origin.
    origin = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks", db_index=False)
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bot", "number"], name="version_number_once"),
            only_words("version", "status", VersionStatus),
            only_words("version", "fault", FaultKind, or_empty=True),
            only_words("version", "licence", Licence, or_empty=True),
        ]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status="accepted", entered=None), name="version_to_enter"),
            models.Index(fields=["origin"], condition=models.Q(origin__isnull=False), name="version_forks"),
            models.Index(
                fields=["id"],
                condition=models.Q(models.Q(opens__isnull=False) | ~models.Q(opens_after=""), opened=None),
                name="version_to_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot.slug} v{self.number}"

    @property
    def uploaded_id(self) -> str:
        """The hash of what its author uploaded."""
        return self.source_id or self.package_id

    def plays(self, game: str) -> bool:
        """Return True if the version declares the game and its validation accepted it there."""
        return (not self.games or game in self.games) and game not in self.refused


class Build(models.Model):
    """The build of a version that is source (league.domain.bots.builds). A worker fills it in once; the scheduler acts on it."""

    version = models.OneToOneField(BotVersion, on_delete=models.CASCADE, related_name="build")
    language = models.CharField(max_length=10)
    log = models.TextField(blank=True, default="")  # Of the compiler so far; both ends of a long one.
    why = models.TextField(blank=True, default="")  # Why there is no program; empty if there is.
    toolchain = models.TextField(blank=True, default="")  # The version of the compiler.
    digest = models.CharField(max_length=64, blank=True, default="")  # Of source, toolchain and flags.
    result = models.BinaryField(null=True)  # The package that plays, until the scheduler has stored it.
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"build of version {self.version_id}"


class GitLink(models.Model):
    """The Git repository whose tags become versions of a bot (league.domain.bots.fetches)."""

    bot = models.OneToOneField(Bot, on_delete=models.CASCADE, related_name="git_link")
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="git_links")  # Whose uploads they are.
    url = models.CharField(max_length=300)
    folder = models.CharField(max_length=120, blank=True, default="")  # Of the bot in the repository; empty: all of it.
    # The secret of the webhook is made of this and the key of the league; empty: there is none.
    salt = models.CharField(max_length=32, blank=True, default="")
    created = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.url} for bot {self.bot_id}"


class Fetch(models.Model):
    """A request for a version from a tag of a Git repository. A worker fills it in once; the scheduler uploads the result."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="fetches")
    bot_name = models.CharField(max_length=40)  # The slug; the upload may create the bot.
    url = models.CharField(max_length=300)
    folder = models.CharField(max_length=120, blank=True, default="")
    tag = models.CharField(max_length=100)
    # The object that the tag named by the webhook, so that a delivery acts once; empty: a player asked.
    pushed = models.CharField(max_length=64, blank=True, default="")
    commit = models.CharField(max_length=40, blank=True, default="")
    why = models.TextField(blank=True, default="")  # Why there is no version.
    result = models.BinaryField(null=True)  # The folder as a zip, until the scheduler has uploaded it.
    version = models.OneToOneField(BotVersion, null=True, on_delete=models.CASCADE, related_name="fetch")
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["bot_name", "url", "folder", "tag", "pushed"],
                condition=~models.Q(pushed=""),
                name="fetch_delivery_once",
            )
        ]
        indexes = [
            models.Index(fields=["bot_name", "id"], name="fetch_of_bot"),
            models.Index(fields=["created"], condition=models.Q(version=None), name="fetch_without_version"),
        ]

    def __str__(self) -> str:
        return f"{self.url}@{self.tag} for {self.bot_name}"
