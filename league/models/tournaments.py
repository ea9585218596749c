"""Tables of tournaments, of events (several stages) and of circuits (leagues that recur by the calendar, in divisions)."""

from __future__ import annotations

from django.db import models

from league.enums import DEFAULT_FORMAT, Audience, Ending, Seeding, TournamentStatus, format_choices
from league.models.bots import BotVersion
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words


class Event(models.Model):
    """Stages described in one document; each stage is one tournament, or one of each group."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    owner = models.ForeignKey("league.Player", on_delete=models.PROTECT, related_name="events")
    document = models.JSONField()  # as league.pure.calendar.event_plan reads it
    status = models.CharField(max_length=10, choices=TournamentStatus, default=TournamentStatus.RUNNING)
    secret = models.BinaryField(max_length=32)  # the secrets of its stages follow from it
    secret_sha256 = models.CharField(max_length=64)  # published before
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)
    # Until when nobody sees the replays of its tournaments, and its secret, from which theirs follow
    embargo = models.DateTimeField(null=True)
    secret_after = models.DateTimeField(null=True)
    # Who sees what is played before it is shown, and whether others see that there is such an event (league.domain.matches.sight)
    audience = models.CharField(max_length=10, choices=Audience, default=Audience.PUBLIC, db_default=Audience.PUBLIC)
    private = models.BooleanField(default=False, db_default=False)
    # What the link of a private event ends with; empty: nobody is let in by a link
    invitation = models.CharField(max_length=40, blank=True, default="", db_default="")
    # When its owner wants it shown, and in how many seconds each board; 0: all at once
    release = models.DateTimeField(null=True)
    pace_s = models.PositiveIntegerField(default=0, db_default=0)
    # When entries close and it begins by itself; null: when its owner starts it
    due = models.DateTimeField(null=True)
    # When its first board is shown, and from when on everything is; null: from the first card on
    shown_from = models.DateTimeField(null=True)
    opens = models.DateTimeField(null=True)

    class Meta:
        constraints = [only_words("event", "status", TournamentStatus), only_words("event", "audience", Audience)]

    def __str__(self) -> str:
        return self.name


class Guest(models.Model):
    """A player who takes part in an event: has been let in by its link, or has a bot in it."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="guests", db_index=False)
    player = models.ForeignKey("league.Player", on_delete=models.CASCADE, related_name="+")
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "player"], name="guest_once")]

    def __str__(self) -> str:
        return f"player {self.player_id} in event {self.event_id}"


class Circuit(models.Model):
    """A league that recurs: at every due moment of its calendar a season of all its bots, in divisions."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=60)
    owner = models.ForeignKey("league.Player", on_delete=models.PROTECT, related_name="circuits")
    game = models.CharField(max_length=30)
    players = models.PositiveIntegerField(null=True)
    options = models.JSONField(default=dict)
    format = models.CharField(max_length=20, choices=format_choices, default=DEFAULT_FORMAT)
    parameters = models.JSONField(default=dict)
    boards = models.PositiveIntegerField(null=True)
    size = models.PositiveIntegerField(default=8)  # entries of a division
    moves = models.PositiveIntegerField(default=2)  # promoted and relegated at each border
    days = models.CharField(max_length=80)  # "mon,thu", or days of the month "1,15"
    at = models.CharField(max_length=5)  # "20:00", wall clock
    time_zone = models.CharField(max_length=60)
    active = models.BooleanField(default=True)
    bots = models.ManyToManyField("league.Bot", related_name="circuits")
    created = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Season(models.Model):
    """One occurrence of a circuit. Its divisions are tournaments; without any it was passed over, for the `reason`."""

    circuit = models.ForeignKey(Circuit, on_delete=models.CASCADE, related_name="seasons")
    number = models.PositiveIntegerField()  # from 1
    due = models.DateTimeField()  # the moment of the calendar that it stands for
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
    """Entries that meet by a schedule, on deals committed to before the first card."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    owner = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="tournaments")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tournaments")
    format = models.CharField(max_length=20, choices=format_choices, default=DEFAULT_FORMAT)
    parameters = models.JSONField(default=dict)  # of the format, those that differ from its defaults
    seeding = models.CharField(max_length=10, choices=Seeding, default=Seeding.RATING)
    boards = models.PositiveIntegerField()  # boards of each match
    sealed = models.BooleanField(default=False)  # all its matches are played sealed, and who cannot be does not enter
    # Revision by which it was made (league.pure.formats.REVISION)
    schedule = models.PositiveSmallIntegerField(default=1)
    status = models.CharField(max_length=10, choices=TournamentStatus, default=TournamentStatus.OPEN)
    secret = models.BinaryField(max_length=32)  # every deal follows from it; published when the tournament is over
    secret_sha256 = models.CharField(max_length=64)  # published before
    limits = models.JSONField(default=dict)  # of the runner; {} = its defaults
    # What it will have at most, from its start on; 0: it has not begun, or goes on until its owner ends it
    planned_matches = models.PositiveIntegerField(default=0, db_default=0)
    booked_boards = models.PositiveBigIntegerField(default=0, db_default=0)
    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    paused = models.DateTimeField(null=True)  # since when its owner lets nothing of it be begun
    # Since when and why an operator does, whatever its owner does
    stopped = models.DateTimeField(null=True)
    stopped_for = models.TextField(blank=True, default="", db_default="")
    # Until when nobody sees its replays, and its secret, from which the hands follow (league.domain.matches.embargoes)
    embargo = models.DateTimeField(null=True)
    secret_after = models.DateTimeField(null=True)
    # From when on everybody sees it; null: from the start on. That of its event, of a private one never (league.domain.matches.sight)
    opens = models.DateTimeField(null=True)
    ending = models.CharField(max_length=20, choices=Ending, blank=True)  # what ended it besides its last match
    facts = models.JSONField(default=dict)  # the numbers behind `ending`
    request = models.CharField(max_length=64, blank=True, default="", db_default="")  # that started it, as in the log
    event = models.ForeignKey("league.Event", null=True, on_delete=models.PROTECT, related_name="tournaments")
    stage = models.PositiveIntegerField(null=True)  # of the event, from 1
    season = models.ForeignKey("league.Season", null=True, on_delete=models.PROTECT, related_name="tournaments")
    group = models.PositiveIntegerField(null=True)  # of the stage, or division of the season, from 1

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "stage", "group"], name="stage_once"),
            models.UniqueConstraint(fields=["season", "group"], name="division_once"),
            only_words("tournament", "status", TournamentStatus),
            only_words("tournament", "seeding", Seeding),
            only_words("tournament", "ending", Ending, or_empty=True),
        ]

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """One version in one tournament, frozen when the tournament starts."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveIntegerField()  # place in the sorted list of entries, from 0: what schedules speak of
    seed = models.PositiveIntegerField(null=True)  # from 1, the strongest as known at the start; frozen then
    # From 1, once the tournament is over; shared places share the number
    place = models.PositiveIntegerField(null=True)
    withdrawn = models.DateTimeField(null=True)  # left a running ladder: gets no new match

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
    number = models.PositiveIntegerField()  # from 1

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tournament", "number"], name="round_once")]

    def __str__(self) -> str:
        return f"round {self.number} of tournament {self.tournament_id}"
