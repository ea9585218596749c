"""Tables of the league (design: Player, Bot, BotVersion, Tournament, Match, Board, Sitting, Rating, LeagueEvent).

Rows hold facts; nothing here decides. Only functions of `league.domain` write, and every change of a status goes through the one
`move()` there, which updates conditionally and appends a `LeagueEvent` in the same transaction.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from league.enums import (
    BotState,
    Ending,
    FaultKind,
    MatchKind,
    MatchStatus,
    Seeding,
    TournamentFormat,
    TournamentStatus,
    VersionStatus,
)
from league.event_models import Circuit, Event, Season

__all__ = ["Circuit", "Event", "Season"]  # tables of this app that stand in a file of their own


class Player(models.Model):
    """A person. The engine speaks of seats; a player owns bots."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="player")
    name = models.SlugField(max_length=40, unique=True)
    created = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class ApiToken(models.Model):
    """A revocable key for the REST API. Only the SHA-256 of the key is stored; the key itself is shown once."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="tokens")
    label = models.CharField(max_length=60)
    prefix = models.CharField(max_length=8)  # first characters of the key, so that its owner can tell keys apart
    sha256 = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField()
    last_used = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)


class Bot(models.Model):
    """A name under which its owner uploads versions."""

    owner = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="bots")
    slug = models.SlugField(max_length=40, unique=True)
    state = models.CharField(max_length=10, choices=BotState, default=BotState.ACTIVE)
    description = models.TextField(blank=True)
    is_house = models.BooleanField(default=False)  # shipped with the league; entered like anybody's
    paused_for = models.TextField(
        blank=True
    )  # why the league paused it (league.domain.health); empty: nobody, or its owner did
    retest_at = models.DateTimeField(null=True)  # when the league tries it again by itself
    retests = models.PositiveSmallIntegerField(default=0)  # of this pause
    created = models.DateTimeField()

    def __str__(self) -> str:
        return self.slug


class Package(models.Model):
    """The bytes of an upload, once per content. In the database, so that a worker needs nothing but the database."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()  # a normalised zip: the checked files only, sorted, without times or modes
    size = models.PositiveIntegerField()  # bytes of `data`
    files = models.PositiveIntegerField()


class BotVersion(models.Model):
    """One upload, immutable. A tournament enters versions, never bots."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()  # 1, 2, ... within the bot
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="versions")
    runtime = models.CharField(max_length=20)
    entry = models.CharField(max_length=120)
    games = models.JSONField(default=list)  # keys of the games it says it plays; [] = all
    status = models.CharField(max_length=12, choices=VersionStatus, default=VersionStatus.VALIDATING)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_detail = models.TextField(blank=True)
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bot", "number"], name="version_number_once")]

    def __str__(self) -> str:
        return f"{self.bot.slug} v{self.number}"


class Pool(models.Model):
    """What is rated together: one game, its options, the kind of team and the revision of its rules."""

    key = models.CharField(max_length=64, unique=True)  # SHA-256 of the fields below, canonical JSON
    game = models.CharField(max_length=30)
    players = models.PositiveSmallIntegerField()
    options = models.JSONField(default=dict)
    team = models.CharField(max_length=10)  # "clones" (one bot on all seats of a side), "mixed" (two bots) or "single"
    revision = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["game"])]


class Tournament(models.Model):
    """Entries that meet by a schedule, on deals committed to before the first card."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    owner = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="tournaments")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tournaments")
    format = models.CharField(max_length=20, choices=TournamentFormat, default=TournamentFormat.ROUND_ROBIN)
    parameters = models.JSONField(default=dict)  # of the format, those that differ from its defaults
    seeding = models.CharField(max_length=10, choices=Seeding, default=Seeding.RATING)
    boards = models.PositiveIntegerField()  # boards of each match
    schedule = models.PositiveSmallIntegerField(
        default=1
    )  # revision by which it was made (league.pure.formats.REVISION)
    status = models.CharField(max_length=10, choices=TournamentStatus, default=TournamentStatus.OPEN)
    secret = models.BinaryField(max_length=32)  # every deal follows from it; published when the tournament is over
    secret_sha256 = models.CharField(max_length=64)  # published before
    limits = models.JSONField(default=dict)  # of the runner; {} = its defaults
    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    ending = models.CharField(max_length=20, choices=Ending, blank=True)  # what ended it besides its last match
    facts = models.JSONField(default=dict)  # the numbers behind `ending`
    event = models.ForeignKey("league.Event", null=True, on_delete=models.PROTECT, related_name="tournaments")
    stage = models.PositiveIntegerField(null=True)  # of the event, from 1
    season = models.ForeignKey("league.Season", null=True, on_delete=models.PROTECT, related_name="tournaments")
    group = models.PositiveIntegerField(null=True)  # of the stage, or division of the season, from 1

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "stage", "group"], name="stage_once"),
            models.UniqueConstraint(fields=["season", "group"], name="division_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """One version in one tournament, frozen when the tournament starts."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveIntegerField()  # place in the sorted list of entries, from 0: what schedules speak of
    seed = models.PositiveIntegerField(null=True)  # from 1, the strongest as known at the start; frozen then
    place = models.PositiveIntegerField(
        null=True
    )  # from 1, once the tournament is over; shared places share the number
    withdrawn = models.DateTimeField(null=True)  # left a running ladder: gets no new match

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tournament", "version"], name="entry_once"),
            models.UniqueConstraint(fields=["tournament", "number"], name="entry_number_once"),
        ]


class Round(models.Model):
    """A set of matches of a tournament in which each entry sits at most once."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()  # from 1

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tournament", "number"], name="round_once")]


class Match(models.Model):
    """One table of bot versions that plays some boards: the unit of work, and its own queue entry."""

    public_id = models.CharField(max_length=12, unique=True)  # in addresses; not guessable, not a count
    kind = models.CharField(max_length=12, choices=MatchKind)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="matches")
    tournament = models.ForeignKey(Tournament, null=True, on_delete=models.CASCADE, related_name="matches")
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="matches")
    key = models.CharField(max_length=120, unique=True)  # what the match is: inserting it twice is impossible
    table = models.CharField(max_length=120)  # enters the deals: same table and board, same cards
    secret = models.BinaryField(max_length=32)
    first_board = models.PositiveIntegerField(default=1)  # a table's boards are numbered on from match to match
    boards_planned = models.PositiveIntegerField()
    rated = models.BooleanField(default=True)
    limits = models.JSONField(default=dict)
    priority = models.SmallIntegerField(default=0)  # higher first
    turn = models.PositiveIntegerField(default=0)  # then lower first: tournaments take turns (league.domain.matches)

    status = models.CharField(max_length=10, choices=MatchStatus, default=MatchStatus.QUEUED)
    token = models.PositiveIntegerField(
        default=0
    )  # fencing: grows with every lease; a report with an old one is refused
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(null=True)  # the next try after a fault of ours waits until then
    reason = models.TextField(blank=True)  # why it waits, was retried, or is void
    progress = models.PositiveSmallIntegerField(default=0)  # percent of sittings played in the running attempt
    host = models.JSONField(default=dict)  # engine version, sandbox tier, runtime hash, interpreter, kernel

    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    counted = models.DateTimeField(null=True)  # when its boards entered the ratings

    class Meta:
        indexes = [
            models.Index(fields=["status", "-priority", "turn", "id"], name="match_turn"),
            models.Index(fields=["pool", "finished"], condition=models.Q(status="finished"), name="match_of_pool"),
            models.Index(fields=["tournament", "status"], name="match_tournament"),
            models.Index(fields=["-finished", "-id"], name="match_latest"),
        ]
        constraints = [
            # The deals follow from these three: nobody plays one twice. What was struck out may be played again, on the same deals.
            models.UniqueConstraint(
                fields=["tournament", "table", "first_board"],
                condition=~models.Q(status__in=["void", "cancelled"]),
                name="deal_once",
            )
        ]


class Party(models.Model):
    """One bot version at the table of a match: it holds a side (all its seats), or a seat."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="parties")
    number = models.PositiveSmallIntegerField()  # from 0, as in the seatings of the sittings
    version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="parties")
    points = models.IntegerField(null=True)  # sum of its board scores, in the game's score unit
    wins = models.PositiveIntegerField(
        null=True
    )  # boards won, drawn, lost against the others at the table, pair by pair
    draws = models.PositiveIntegerField(null=True)
    losses = models.PositiveIntegerField(null=True)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_detail = models.TextField(blank=True)
    fault_at = models.JSONField(null=True)  # {"board", "sitting", "step"} of the first fault; step -1 = while starting
    faults = models.JSONField(
        default=list
    )  # every fault: kind, detail, board, sitting, step, seat, request, answer; owner only
    stderr = models.TextField(blank=True)  # shown to its owner only
    cpu_s = models.FloatField(null=True)
    wall_s = models.FloatField(null=True)
    max_cpu_s = models.FloatField(null=True)  # its slowest decision
    decisions = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="party_once")]
        indexes = [models.Index(fields=["version", "-match"], name="party_version")]


class Board(models.Model):
    """One seeded deal (or stream of deals) played in all its sittings: the rated unit."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="boards")
    number = models.PositiveIntegerField()  # from 1
    scores = models.JSONField()  # per party, in the game's score unit, summed over the sittings

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="board_once")]


class Sitting(models.Model):
    """One playing of a board, with its whole record."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="sittings")
    number = models.PositiveSmallIntegerField()  # from 0: the pass in which it was played
    seating = models.JSONField()  # party number per seat
    scores = models.JSONField()  # per seat
    fault = models.CharField(
        max_length=20, choices=FaultKind, blank=True
    )  # the first one that cut it short or kept it away
    fault_party = models.PositiveSmallIntegerField(null=True)  # whose it was
    replay = models.BinaryField()  # zlib of the replay's JSON

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "number"], name="sitting_once")]


class Rating(models.Model):
    """The present fit of one version in one pool. A pure function of the finished boards; rewritten after every match."""

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
    field_score = models.FloatField(
        default=0.5
    )  # expected share of the board points against every listed rival, 0 to 1
    field_sd = models.FloatField(default=0.5)  # its standard deviation
    provisional = models.BooleanField()
    listed = models.BooleanField(
        default=True
    )  # stands for its bot on the leaderboard: the newest settled version, else the newest
    updated = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "version"], name="rating_once")]
        indexes = [models.Index(fields=["pool", "-elo"], name="rating_table")]


class PoolSums(models.Model):
    """The sufficient statistics of the counted boards of a pool. Rewritten in the transaction that counts a match, so each counts once."""

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, related_name="sums")
    data = models.BinaryField()  # zlib of league.pure.tallies.Tallies.dump()
    matches = models.PositiveIntegerField()  # counted
    updated = models.DateTimeField()


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


class Worker(models.Model):
    """A process that plays matches, as it last reported itself: why the queue stands still is answered from here."""

    name = models.CharField(max_length=80, unique=True)  # host:pid
    tier = models.CharField(max_length=20, blank=True)  # sandbox tier that it proved; empty = it refuses to play
    refusal = models.TextField(blank=True)  # why it refuses, and what to do
    match = models.ForeignKey(Match, null=True, on_delete=models.SET_NULL, related_name="+")
    started = models.DateTimeField()
    seen = models.DateTimeField()


class IdempotencyKey(models.Model):
    """The answer to a create request that named a key, so that its repetition creates nothing and gets the same answer."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="idempotency_keys")
    key = models.CharField(max_length=80)
    request_sha256 = models.CharField(max_length=64)  # of method, path and body
    status = models.PositiveSmallIntegerField(null=True)  # null while the first request is at work
    answer = models.JSONField(null=True)
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "key"], name="idempotency_key_once")]


class LeagueEvent(models.Model):
    """Append-only record of every change of state: audit, live lists, webhooks."""

    at = models.DateTimeField()
    kind = models.CharField(max_length=40)  # "match.moved", "version.uploaded", ...
    subject = models.CharField(max_length=80)  # "match:8f3k2p", "bot:rufo"
    actor = models.CharField(max_length=80, blank=True)  # player name, worker name, or empty for the league itself
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["subject", "id"], name="event_subject")]
