"""Tables of matches: the queue, the parties and the results."""

from __future__ import annotations

from django.db import models

from league.enums import CheckName, FaultKind, MatchKind, MatchStatus
from league.models.bots import BotVersion
from league.models.leases import Leased
from league.models.people import Player
from league.models.pools import Pool
from league.models.tournaments import Round, Tournament
from league.models.words import only_words


class Work(models.Manager["Match"]):
    """Everything that a worker may lease. The secret is read only where it is named: the role of the workers may not see the column."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without their secrets."""
        return super().get_queryset().defer("secret")


class Line(Work):
    """The fair queue: matches between bots, and tries. Audits wait beside it."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without audits."""
        return super().get_queryset().exclude(kind=MatchKind.AUDIT)


class Played(Work):
    """Matches between bots, without audits and tries, which only wait in the same queue. Pages, counts and ratings begin here."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without audits and tries."""
        return super().get_queryset().exclude(kind__in=[MatchKind.AUDIT, MatchKind.TRY])


class Match(Leased):
    """A table of bot versions that plays some boards: the unit of work, and its own queue entry."""

    STATE = "status"
    WAITS = MatchStatus.QUEUED
    HELD = (MatchStatus.LEASED, MatchStatus.RUNNING)

    # It stands in addresses. Nobody can guess it or count by it.
    public_id = models.CharField(max_length=12, unique=True)
    kind = models.CharField(max_length=12, choices=MatchKind)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="matches")
    # The index match_tournament begins with it.
    tournament = models.ForeignKey(
        Tournament, null=True, on_delete=models.CASCADE, related_name="matches", db_index=False
    )
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="matches")
    key = models.CharField(max_length=120, unique=True)  # the natural key: nobody can insert a match twice
    table = models.CharField(max_length=120)  # the deals follow from it: same table and board, same cards
    secret = models.BinaryField(max_length=32)
    first_board = models.PositiveIntegerField(default=1)  # the numbers of a table's boards continue from match to match
    boards_planned = models.PositiveIntegerField()
    rated = models.BooleanField(default=True)
    limits = models.JSONField(default=dict)
    priority = models.SmallIntegerField(default=0)  # higher first
    # Positions in the fair queue (league.domain.matches.fairness)
    owner = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    expected_s = models.FloatField(default=1.0, db_default=1.0)  # The time it will take, as far as that was measured.
    turn = models.PositiveIntegerField(default=0)  # among the matches of its owner
    virtual_s = models.FloatField(default=0.0, db_default=0.0)  # among all matches

    status = models.CharField(max_length=10, choices=MatchStatus, default=MatchStatus.QUEUED)
    # The scheduler has seen that it may not be played now: claims pass over it by their index (league.domain.matches.holds)
    held_back = models.BooleanField(default=False, db_default=False)
    # A slow match leaves workers to the others (league.domain.matches.leases); how often it stood still or yielded
    slow = models.BooleanField(default=False)
    gave_way = models.PositiveSmallIntegerField(default=0)
    # The boards that have ended in all sittings of the running attempt, each as [number, scores by party]
    decided = models.JSONField(null=True)
    avoid = models.CharField(
        max_length=80, blank=True
    )  # the worker on which it broke off at a bot: another one makes the next attempt
    # The commit of the worker and the revision of its rules, from the lease on; later engine version, sandbox tier, runtime hash, interpreter, kernel
    host = models.JSONField(default=dict)
    request = models.CharField(
        max_length=64, blank=True, default="", db_default=""
    )  # the request that queued it, as in the log

    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    counted = models.DateTimeField(null=True)  # The time when its boards entered the ratings.
    embargo = models.DateTimeField(null=True)  # nobody sees its replays before then (league.domain.matches.embargoes)
    drawn = models.DateTimeField(null=True)  # The time when its audits were drawn by lot.
    summed = models.BooleanField(
        default=False, db_default=False
    )  # counted in the sums of its bots (league.domain.bots.totals)

    objects = Played()
    line = Line()
    work = Work()

    class Meta:
        indexes = [
            models.Index(fields=["finished"], condition=models.Q(status="finished", drawn=None), name="match_undrawn"),
            # The previous release claims by it; the next one removes it
            models.Index(fields=["status", "-priority", "turn", "id"], name="match_turn"),
            models.Index(fields=["status", "-priority", "virtual_s", "id"], name="match_line"),
            # The small hot part of the table: a claim reads its first rows; it holds only what may be played
            models.Index(
                fields=["-priority", "virtual_s", "id"],
                condition=models.Q(status="queued", held_back=False),
                name="match_ready",
            ),
            models.Index(fields=["id"], condition=models.Q(status="queued", slow=True), name="match_slow"),
            models.Index(
                fields=["owner", "priority", "turn", "id"],
                condition=models.Q(status="queued"),
                name="match_of_owner",
            ),
            models.Index(
                fields=["owner", "priority", "-virtual_s"],
                condition=models.Q(status__in=["leased", "running", "finished"]),
                name="match_served",
            ),
            models.Index(fields=["pool", "finished"], condition=models.Q(status="finished"), name="match_of_pool"),
            models.Index(fields=["tournament", "status"], name="match_tournament"),
            models.Index(fields=["-finished", "-id"], name="match_latest"),
            # Pages of matches, newest first: an old page is read without going through all newer matches
            models.Index(fields=["pool", "-id"], name="match_age_in_pool"),
            models.Index(fields=["tournament", "-id"], name="match_age_in_tournament"),
            models.Index(
                fields=["pool", "finished"],
                condition=models.Q(status="finished", rated=True, counted=None),
                name="match_uncounted",
            ),
            models.Index(
                fields=["-id"], condition=models.Q(status="finished", rated=True, summed=False), name="match_unsummed"
            ),
            models.Index(
                fields=["id"],
                condition=models.Q(models.Q(status="void") | models.Q(status="finished", rated=False), summed=True),
                name="match_to_take_out",
            ),
            # Matches that counted and were voided since: next to none, and looked for before each result is counted
            models.Index(
                fields=["pool"],
                condition=models.Q(
                    models.Q(status="void") | models.Q(status="finished", rated=False), counted__isnull=False
                ),
                name="match_struck",
            ),
        ]
        constraints = [
            # The deals follow from these three: nobody plays a deal twice. A voided match may be played again on the same deals.
            models.UniqueConstraint(
                fields=["tournament", "table", "first_board"],
                condition=~models.Q(status__in=["void", "cancelled"]),
                name="deal_once",
            ),
            only_words("match", "kind", MatchKind),
            only_words("match", "status", MatchStatus),
        ]

    def __str__(self) -> str:
        return self.public_id


class Party(models.Model):
    """A bot version at the table of a match, with a side (all its seats) or one seat."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="parties", db_index=False)  # party_once
    number = models.PositiveSmallIntegerField()  # From 0, as in the seatings of the sittings.
    # The index party_version begins with it.
    version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="parties", db_index=False)
    points = models.IntegerField(null=True)  # Sum of its board scores, in the game's score unit.
    # Boards won, drawn, lost against the others at the table, pair by pair.
    wins = models.PositiveIntegerField(null=True)
    draws = models.PositiveIntegerField(null=True)
    losses = models.PositiveIntegerField(null=True)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_detail = models.TextField(blank=True)
    fault_at = models.JSONField(null=True)  # {"board", "sitting", "step"} of the first fault; step -1 = while starting
    # Every fault with kind, detail, board, sitting, step, seat, request and answer; for the owner only
    faults = models.JSONField(default=list)
    # The attempts that broke off at this bot, as {"worker", "attempt", "why"}. The second one makes it unplayable
    broken_off = models.JSONField(default=list)
    stderr = models.TextField(blank=True)  # Only its owner sees it.
    cpu_s = models.FloatField(null=True)
    wall_s = models.FloatField(null=True)
    max_cpu_s = models.FloatField(null=True)  # Its slowest decision.
    decisions = models.PositiveIntegerField(null=True)
    sealed = models.BooleanField(null=True)  # True if it played without any clock of the host.
    # How it played, counted over all boards (league.pure.style.COUNTS); null: the worker did not count.
    style = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "number"], name="party_once"),
            only_words("party", "fault", FaultKind, or_empty=True),
        ]
        indexes = [models.Index(fields=["version", "-match"], name="party_version")]

    def __str__(self) -> str:
        return f"party {self.number} of match {self.match_id}"


class Board(models.Model):
    """A seeded deal (or stream of deals) played in all its sittings: the rated unit."""

    # The constraint board_once has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="boards", db_index=False)
    number = models.PositiveIntegerField()  # From 1.
    scores = models.JSONField()  # By party, in the game's score unit, summed over the sittings.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="board_once")]

    def __str__(self) -> str:
        return f"board {self.number} of match {self.match_id}"


class LogDictionary(models.Model):
    """A dictionary that logs were compressed with. Nobody could read them without it, so no row that a log needs is changed or removed."""

    sha256 = models.CharField(max_length=64, unique=True)
    data = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256


class MatchLog(models.Model):
    """The replays of all sittings of a match, in one log (league.domain.matches.packing)."""

    match = models.OneToOneField(Match, primary_key=True, on_delete=models.CASCADE, related_name="log")
    data = models.BinaryField()  # empty after its removal
    digest = models.CharField(max_length=64)  # binds the data to this match (league.domain.matches.logs.digest); stays
    until = models.DateTimeField(null=True)  # removed then (league.domain.matches.logs.keep_until); null: kept for ever
    let_go = models.DateTimeField(null=True)  # The time when the data was removed, because it was past `until`.
    dictionary = models.ForeignKey(LogDictionary, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        indexes = [
            models.Index(fields=["until"], condition=models.Q(until__isnull=False, let_go=None), name="log_until")
        ]

    def __str__(self) -> str:
        return f"log of match {self.match_id}"


class Sitting(models.Model):
    """One playing of a board: seats and scores. The log of the match says how it was played."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="sittings", db_index=False)  # sitting_once
    number = models.PositiveSmallIntegerField()  # From 0: the pass in which it was played.
    seating = models.JSONField()  # Party number by seat.
    scores = models.JSONField()  # By seat.
    # The first fault that cut the sitting short or prevented it.
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_party = models.PositiveSmallIntegerField(null=True)  # The party that made the fault.
    # From releases before the logs: zlib of the replay's JSON, and its digest for this sitting (league.domain.matches.replays.digest).
    # `manage.py pack_replays` moves the replay into the log and empties both.
    replay = models.BinaryField(default=bytes)
    digest = models.CharField(max_length=64, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["board", "number"], name="sitting_once"),
            only_words("sitting", "fault", FaultKind, or_empty=True),
        ]

    def __str__(self) -> str:
        return f"sitting {self.number} of board {self.board_id}"


class Check(models.Model):
    """One check of a version in one game of its validation, and its result."""

    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="checks")
    # The validation match of that game, whose log has the boards; the first one if the game was not reached.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="checks")
    game = models.CharField(max_length=40)
    name = models.CharField(max_length=12, choices=CheckName)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    # Only the owner sees them: what happened, the situation, and the last request and answer.
    fault_detail = models.TextField(blank=True)
    situation = models.CharField(max_length=200, blank=True)
    request = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    decisions = models.PositiveIntegerField(default=0)
    max_cpu_s = models.FloatField(default=0.0)  # Its slowest decision.
    seconds = models.FloatField(default=0.0)  # Wall time.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "game", "name"], name="check_once"),
            only_words("check", "name", CheckName),
            only_words("check", "fault", FaultKind, or_empty=True),
        ]

    def __str__(self) -> str:
        return f"{self.game}: {self.name}"
