"""Tables of tournaments, events (several stages) and circuits (recurring leagues with divisions)."""

from __future__ import annotations

from django.db import models

from league.enums import DEFAULT_FORMAT, Audience, Ending, Entrance, Seeding, TournamentStatus, format_choices
from league.models.bots import BotVersion
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words


class Event(models.Model):
    """An event: stages described in one document. Each stage is one tournament, or one for each group."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True, default="", db_default="")  # Plain text by the owner.
    owner = models.ForeignKey("league.Player", on_delete=models.PROTECT, related_name="events")
    document = models.JSONField()  # The event plan, in the format of league.pure.calendar.event_plan.
    status = models.CharField(max_length=10, choices=TournamentStatus, default=TournamentStatus.RUNNING)
    secret = models.BinaryField(max_length=32)  # The secrets of the stages are derived from it.
    secret_sha256 = models.CharField(max_length=64)  # Published before the start.
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)
    # Until this time the replays of the event's tournaments are hidden, and so is its secret.
    embargo = models.DateTimeField(null=True)
    secret_after = models.DateTimeField(null=True)
    # True if its owner was the house or an operator when it was created: it counts for ratings unless hidden (league.domain.tournaments.rule).
    counts = models.BooleanField(default=False, db_default=False)
    # Who sees its matches before the release, and whether others see that the event exists (league.domain.matches.sight).
    audience = models.CharField(max_length=10, choices=Audience, default=Audience.PUBLIC, db_default=Audience.PUBLIC)
    private = models.BooleanField(default=False, db_default=False)
    # The last part of a private event's invitation link; empty: there is no link.
    invitation = models.CharField(max_length=40, blank=True, default="", db_default="")
    # The release time that the owner chose, and the seconds between two boards; 0: all boards at once.
    release = models.DateTimeField(null=True)
    pace_s = models.PositiveIntegerField(default=0, db_default=0)
    # When entries close and the event starts by itself; null: the owner starts it.
    due = models.DateTimeField(null=True)
    missed = models.DateTimeField(null=True)  # The last due time that was given up: calendars say that it is cancelled.
    # Who may enter bots while it is open, and from when (null: from the start). The owner always may.
    entrance = models.CharField(max_length=10, choices=Entrance, default=Entrance.OWNER, db_default=Entrance.OWNER)
    entries_from = models.DateTimeField(null=True)
    per_player = models.PositiveSmallIntegerField(
        default=1, db_default=1
    )  # Bots that each player may enter; its owner may enter any number.
    talk = models.BooleanField(default=True, db_default=True)  # False: its owner wants no comments under it.
    # When the first board is shown, and from when everything is visible; null: from the first card on.
    shown_from = models.DateTimeField(null=True)
    opens = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            only_words("event", "status", TournamentStatus),
            only_words("event", "audience", Audience),
            only_words("event", "entrance", Entrance),
        ]
        indexes = [
            models.Index(fields=["due"], condition=models.Q(due__isnull=False), name="event_by_due"),
            models.Index(fields=["missed"], condition=models.Q(missed__isnull=False), name="event_by_missed"),
        ]

    def __str__(self) -> str:
        return self.name


class Guest(models.Model):
    """A player who takes part in an event, by its invitation link or with a bot."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="guests", db_index=False)
    player = models.ForeignKey("league.Player", on_delete=models.CASCADE, related_name="+")
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "player"], name="guest_once")]

    def __str__(self) -> str:
        return f"player {self.player_id} in event {self.event_id}"


class Circuit(models.Model):
    """A recurring league: at each time in its calendar it opens a season with all its bots, in divisions."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=60)
    description = models.TextField(blank=True, default="", db_default="")  # Plain text by the owner.
    owner = models.ForeignKey("league.Player", on_delete=models.PROTECT, related_name="circuits")
    game = models.CharField(max_length=30)
    players = models.PositiveIntegerField(null=True)
    options = models.JSONField(default=dict)
    format = models.CharField(max_length=20, choices=format_choices, default=DEFAULT_FORMAT)
    parameters = models.JSONField(default=dict)
    boards = models.PositiveIntegerField(null=True)
    size = models.PositiveIntegerField(default=8)  # Number of entries in a division.
    moves = models.PositiveIntegerField(default=2)  # Number promoted and relegated between two divisions.
    days = models.CharField(max_length=80)  # Days of the week ("mon,thu") or of the month ("1,15").
    at = models.CharField(max_length=5)  # Local time, such as "20:00".
    time_zone = models.CharField(max_length=60)
    active = models.BooleanField(default=True)
    per_player = models.PositiveSmallIntegerField(
        default=1, db_default=1
    )  # Bots that each player may enter; its owner may enter any number.
    # House bots fill a season up to this number of entries; 0: they do not.
    fill = models.PositiveSmallIntegerField(default=0, db_default=0)
    bots = models.ManyToManyField("league.Bot", related_name="circuits")
    created = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Season(models.Model):
    """A season of a circuit. Its divisions are tournaments; a skipped season has none, and a `reason`."""

    circuit = models.ForeignKey(Circuit, on_delete=models.CASCADE, related_name="seasons")
    number = models.PositiveIntegerField()  # From 1.
    due = models.DateTimeField()  # The start of the season, according to the calendar.
    opened = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["circuit", "number"], name="season_number_once"),
            models.UniqueConstraint(fields=["circuit", "due"], name="season_due_once"),
        ]

    def __str__(self) -> str:
        return f"season {self.number} of circuit {self.circuit_id}"


class Tournament(models.Model):
    """A tournament: entries that meet by a schedule. The hash of the secret behind all deals is published before the first card."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True, default="", db_default="")  # Plain text by the owner.
    owner = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="tournaments")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tournaments")
    format = models.CharField(max_length=20, choices=format_choices, default=DEFAULT_FORMAT)
    parameters = models.JSONField(default=dict)  # Parameters of the format that differ from its defaults.
    seeding = models.CharField(max_length=10, choices=Seeding, default=Seeding.RATING)
    boards = models.PositiveIntegerField()  # Boards of each match.
    # All its matches are played sealed; bots that cannot be sealed may not enter.
    sealed = models.BooleanField(default=False)
    # Who may enter bots while it is open. The owner always may.
    entrance = models.CharField(max_length=10, choices=Entrance, default=Entrance.ANYBODY, db_default=Entrance.ANYBODY)
    per_player = models.PositiveSmallIntegerField(
        default=1, db_default=1
    )  # Bots that each player may enter; its owner may enter any number.
    talk = models.BooleanField(default=True, db_default=True)  # As in an event.
    # Revision of the schedule (league.pure.formats.REVISION).
    schedule = models.PositiveSmallIntegerField(default=1)
    status = models.CharField(max_length=10, choices=TournamentStatus, default=TournamentStatus.OPEN)
    # All deals are derived from it; it is published when the tournament is finished.
    secret = models.BinaryField(max_length=32)
    secret_sha256 = models.CharField(max_length=64)  # Published before the start.
    limits = models.JSONField(default=dict)  # Limits for the runner; {}: the defaults.
    # The most matches that the tournament can have, set at its start; 0 before it, or if only the owner ends the tournament.
    planned_matches = models.PositiveIntegerField(default=0, db_default=0)
    booked_boards = models.PositiveBigIntegerField(default=0, db_default=0)
    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    paused = models.DateTimeField(null=True)  # The time when its owner paused it.
    # When and why an operator paused it; the owner cannot resume it.
    stopped = models.DateTimeField(null=True)
    stopped_for = models.TextField(blank=True, default="", db_default="")
    # Until this time the replays are hidden, and so is the secret from which the deals are derived (league.domain.matches.embargoes).
    embargo = models.DateTimeField(null=True)
    secret_after = models.DateTimeField(null=True)
    # From this time on everybody sees the tournament; null: from its start. In an event it opens with the event, in a private event never.
    opens = models.DateTimeField(null=True)
    counts = models.BooleanField(default=False, db_default=False)  # As in its event (league.domain.tournaments.rule).
    # Why the tournament ended, unless it simply played its last match.
    ending = models.CharField(max_length=20, choices=Ending, blank=True)
    facts = models.JSONField(default=dict)  # The numbers behind `ending`.
    # Id of the request that started the tournament, as in the log.
    request = models.CharField(max_length=64, blank=True, default="", db_default="")
    event = models.ForeignKey("league.Event", null=True, on_delete=models.PROTECT, related_name="tournaments")
    stage = models.PositiveIntegerField(null=True)  # Number of the stage in its event, from 1.
    season = models.ForeignKey("league.Season", null=True, on_delete=models.PROTECT, related_name="tournaments")
    # Number of the group in its stage, or of the division in its season, from 1.
    group = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "stage", "group"], name="stage_once"),
            models.UniqueConstraint(fields=["season", "group"], name="division_once"),
            only_words("tournament", "status", TournamentStatus),
            only_words("tournament", "entrance", Entrance),
            only_words("tournament", "seeding", Seeding),
            only_words("tournament", "ending", Ending, or_empty=True),
        ]

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """A bot version in a tournament, fixed when the tournament starts."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveIntegerField()  # Position in the sorted list of entries, from 0, as in the schedule.
    seed = models.PositiveIntegerField(null=True)  # Rank by strength at the start, from 1 for the strongest.
    # The first round that it plays; more than 1 if it entered late.
    since = models.PositiveSmallIntegerField(default=1, db_default=1)
    # Final place, from 1; shared places have the same number.
    place = models.PositiveIntegerField(null=True)
    withdrawn = models.DateTimeField(null=True)  # When the bot left a running ladder; it gets no more matches.
    # When and why the owner of the tournament disqualified the entry: its results stand, and it ranks last.
    disqualified = models.DateTimeField(null=True)
    disqualified_for = models.CharField(max_length=300, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tournament", "version"], name="entry_once"),
            models.UniqueConstraint(fields=["tournament", "number"], name="entry_number_once"),
        ]

    def __str__(self) -> str:
        return f"entry {self.number} of tournament {self.tournament_id}"


class Round(models.Model):
    """A set of matches of a tournament in which each entry sits at most once."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()  # From 1.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tournament", "number"], name="round_once")]

    def __str__(self) -> str:
        return f"round {self.number} of tournament {self.tournament_id}"
