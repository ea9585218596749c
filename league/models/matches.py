"""Tables of matches: the queue, the parties and the results."""

from __future__ import annotations

from django.db import models

from league.enums import CheckName, FaultKind, MatchKind, MatchStatus
from league.models.bots import BotVersion
from league.models.people import Player
from league.models.pools import Pool
from league.models.tournaments import Round, Tournament
from league.models.words import only_words


class Work(models.Manager["Match"]):
    """Everything that a worker may lease. Secrets are deferred, because the role of the workers may not read that column."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without their secrets."""
        return super().get_queryset().defer("secret")


class Line(Work):
    """Matches between bots, and tries: the rows of the fair queue. Audits wait beside it."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without audits."""
        return super().get_queryset().exclude(kind=MatchKind.AUDIT)


class Played(Work):
    """Matches between bots: the rows without audits and tries. Everything that is shown or counted begins here."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without audits and tries."""
        return super().get_queryset().exclude(kind__in=[MatchKind.AUDIT, MatchKind.TRY])


class Match(models.Model):
    """A match: one table of bot versions that plays some boards. It is the unit of work and its own queue entry."""

    public_id = models.CharField(max_length=12, unique=True)  # Used in addresses; neither guessable nor a count.
    kind = models.CharField(max_length=12, choices=MatchKind)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="matches")
    # The index match_tournament begins with it.
    tournament = models.ForeignKey(
        Tournament, null=True, on_delete=models.CASCADE, related_name="matches", db_index=False
    )
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="matches")
    # Natural key of the match, so that it cannot be inserted twice.
    key = models.CharField(max_length=120, unique=True)
    # Part of the seed of the deals: the same table and board have the same cards.
    table = models.CharField(max_length=120)
    secret = models.BinaryField(max_length=32)
    # Boards of a table are numbered consecutively from match to match.
    first_board = models.PositiveIntegerField(default=1)
    boards_planned = models.PositiveIntegerField()
    rated = models.BooleanField(default=True)
    limits = models.JSONField(default=dict)
    priority = models.SmallIntegerField(default=0)  # Higher first.
    # Within a priority by position in the fair queue: owners take turns, and so do the tournaments of each (league.domain.matches.turns).
    owner = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    expected_s = models.FloatField(default=1.0, db_default=1.0)  # Estimated duration in seconds.
    turn = models.PositiveIntegerField(default=0)  # Position in the queue of its owner.
    virtual_s = models.FloatField(default=0.0, db_default=0.0)  # Position in the fair queue.

    status = models.CharField(max_length=10, choices=MatchStatus, default=MatchStatus.QUEUED)
    # It may not be played now, as the scheduler saw last; the index of the claims leaves it out (league.domain.matches.holds).
    held_back = models.BooleanField(default=False, db_default=False)
    # Fencing token: grows with every lease; a report with an older one is refused.
    token = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    ends_by = models.DateTimeField(null=True)  # End of the running attempt; no heartbeat extends the lease beyond it.
    attempts = models.PositiveIntegerField(default=0)
    # Among the slow bots, which leave workers to the others (league.domain.matches.leases); how often it yielded.
    slow = models.BooleanField(default=False)
    gave_way = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True)  # The next attempt after a fault of ours waits until then.
    reason = models.TextField(blank=True)  # Why it waits, was retried, or is void.
    progress = models.PositiveSmallIntegerField(default=0)  # Percent of the sittings played in the running attempt.
    # Boards of the running attempt that are finished in all sittings: [number, scores by party].
    decided = models.JSONField(null=True)
    # The worker on which a bot broke off the match; another worker is to try.
    avoid = models.CharField(max_length=80, blank=True)
    # From the lease on: commit of the worker, revision of its rules; later: engine version, sandbox tier, runtime hash, interpreter, kernel.
    host = models.JSONField(default=dict)
    # Id of the request that queued it, as in the log.
    request = models.CharField(max_length=64, blank=True, default="", db_default="")

    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    counted = models.DateTimeField(null=True)  # When its boards entered the ratings.
    embargo = models.DateTimeField(null=True)  # Until when nobody sees its replays (league.domain.matches.embargoes).
    drawn = models.DateTimeField(null=True)  # When audits of it were drawn.
    # True once the totals of its bots include it (league.domain.bots.totals).
    summed = models.BooleanField(default=False, db_default=False)

    objects = Played()
    line = Line()
    work = Work()

    class Meta:
        indexes = [
            models.Index(fields=["finished"], condition=models.Q(status="finished", drawn=None), name="match_undrawn"),
            # The previous release claims by this index; the next release drops it.
            models.Index(fields=["status", "-priority", "turn", "id"], name="match_turn"),
            models.Index(fields=["status", "-priority", "virtual_s", "id"], name="match_line"),
            # Small: only the matches that may be played now. A claim reads its first rows.
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
            # Pages of matches, newest first, without reading all others.
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
            # Matches that counted and were voided since: almost none, and looked up before each result is counted.
            models.Index(
                fields=["pool"],
                condition=models.Q(
                    models.Q(status="void") | models.Q(status="finished", rated=False), counted__isnull=False
                ),
                name="match_struck",
            ),
        ]
        constraints = [
            # The deals follow from these three columns, so nobody plays one twice. A voided match may be played again on the same deals.
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
    """A bot version at the table of a match. It holds a side (all its seats) or one seat."""

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
    fault_at = models.JSONField(null=True)  # {"board", "sitting", "step"} of the first fault; step -1: while starting.
    # Every fault: kind, detail, board, sitting, step, seat, request, answer. Only its owner sees them.
    faults = models.JSONField(default=list)
    # The attempts that this bot broke off: {"worker", "attempt", "why"}. After the second one it counts as unplayable.
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
    """One seeded deal (or stream of deals), played in all its sittings. The rated unit."""

    # The constraint board_once has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="boards", db_index=False)
    number = models.PositiveIntegerField()  # From 1.
    scores = models.JSONField()  # By party, in the game's score unit, summed over the sittings.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="board_once")]

    def __str__(self) -> str:
        return f"board {self.number} of match {self.match_id}"


class LogDictionary(models.Model):
    """A compression dictionary of logs, under its hash. Logs are unreadable without it, so a row stays unchanged while a log needs it."""

    sha256 = models.CharField(max_length=64, unique=True)
    data = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256


class MatchLog(models.Model):
    """The replays of all sittings of a match in one block (league.domain.matches.packing)."""

    match = models.OneToOneField(Match, primary_key=True, on_delete=models.CASCADE, related_name="log")
    data = models.BinaryField()  # Empty after the replays were removed.
    # Binds the data to this match (league.domain.matches.logs.digest); it stays.
    digest = models.CharField(max_length=64)
    # When the data may be removed (league.domain.matches.logs.keep_until); null: never.
    until = models.DateTimeField(null=True)
    let_go = models.DateTimeField(null=True)  # When the data was removed.
    dictionary = models.ForeignKey(LogDictionary, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        indexes = [
            models.Index(fields=["until"], condition=models.Q(until__isnull=False, let_go=None), name="log_until")
        ]

    def __str__(self) -> str:
        return f"log of match {self.match_id}"


class Sitting(models.Model):
    """One playing of a board: who sat where, and the scores. The log of the match has the play."""

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
