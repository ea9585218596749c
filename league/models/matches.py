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
    """Everything that a worker may lease. Secrets are read only on request, because the role of the workers may not read their column."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without their secrets."""
        return super().get_queryset().defer("secret")


class FairQueueWork(Work):
    """The fair queue: matches between bots, and tries. Audits and remote matches wait beside it."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows without audits and remote matches."""
        return super().get_queryset().exclude(kind__in=[MatchKind.AUDIT, MatchKind.REMOTE])


class Played(Work):
    """Matches between bots, without audits, tries and matches of classes. Pages, counts and ratings use this manager."""

    def get_queryset(self) -> models.QuerySet[Match]:
        """Return the rows that everybody may know of."""
        return super().get_queryset().exclude(kind__in=[MatchKind.AUDIT, MatchKind.TRY, MatchKind.ASSIGNMENT])


class Match(Leased):
    """A table of bot versions that plays some boards: the unit of work, and its own row in the queue."""

    STATE = "status"
    WAITS = MatchStatus.QUEUED
    HELD = (MatchStatus.LEASED, MatchStatus.RUNNING)

    # Used in addresses. Nobody can guess it, or count matches by it.
    public_id = models.CharField(max_length=12, unique=True)
    kind = models.CharField(max_length=12, choices=MatchKind)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="matches")
    # The index match_tournament begins with this column.
    tournament = models.ForeignKey(
        Tournament, null=True, on_delete=models.CASCADE, related_name="matches", db_index=False
    )
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="matches")
    key = models.CharField(max_length=120, unique=True)  # The natural key, so that no match is inserted twice.
    table = models.CharField(max_length=120)  # The deals are derived from it: same table and board, same cards.
    secret = models.BinaryField(max_length=32)
    first_board = models.PositiveIntegerField(default=1)  # The boards of a table are numbered from match to match.
    boards_planned = models.PositiveIntegerField()
    rated = models.BooleanField(default=True)
    limits = models.JSONField(default=dict)
    priority = models.SmallIntegerField(default=0)  # Higher numbers go first.
    # Positions in the fair queue (league.domain.matches.fairness).
    owner = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    expected_s = models.FloatField(default=1.0, db_default=1.0)  # Estimated seconds of the match.
    turn = models.PositiveIntegerField(default=0)  # Position among the matches of the owner.
    virtual_s = models.FloatField(default=0.0, db_default=0.0)  # Position among all matches.

    status = models.CharField(max_length=10, choices=MatchStatus, default=MatchStatus.QUEUED)
    # True if the scheduler has found that the match may not be played now: claims skip it by their index (league.domain.matches.holds).
    held_back = models.BooleanField(default=False, db_default=False)
    # True if a bot of it is in class and it belongs to no tournament: only those who see one of its bots in class see it.
    in_class = models.BooleanField(default=False, db_default=False)
    # True if a bot is slow: such a match leaves workers to others (league.domain.matches.leases). `gave_way`: how often it stood still or yielded.
    slow = models.BooleanField(default=False)
    gave_way = models.PositiveSmallIntegerField(default=0)
    # Boards that are finished in all sittings of the running attempt, each as [number, scores by party].
    decided = models.JSONField(null=True)
    avoid = models.CharField(
        max_length=80, blank=True
    )  # The worker on which it broke off because of a bot: another worker makes the next attempt.
    # Commit of the worker and revision of its rules, from the lease on; later engine version, sandbox tier, runtime hash, interpreter, kernel.
    host = models.JSONField(default=dict)
    request = models.CharField(
        max_length=64, blank=True, default="", db_default=""
    )  # Id of the request that queued the match, as in the log.

    created = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    counted = models.DateTimeField(null=True)  # When the boards of the match entered the ratings.
    # Until this time nobody sees the replays (league.domain.matches.embargoes).
    embargo = models.DateTimeField(null=True)
    drawn = models.DateTimeField(null=True)  # When conversations of the match were drawn for audits.
    summed = models.BooleanField(
        default=False, db_default=False
    )  # True once the match counts in the totals of its bots (league.domain.bots.totals).

    objects = Played()
    line = FairQueueWork()
    work = Work()

    class Meta:
        indexes = [
            models.Index(fields=["finished"], condition=models.Q(status="finished", drawn=None), name="match_undrawn"),
            # The previous release claims by it; the next one removes it.
            models.Index(fields=["status", "-priority", "turn", "id"], name="match_turn"),
            models.Index(fields=["status", "-priority", "virtual_s", "id"], name="match_line"),
            # The small part of the table that changes often: playable matches only. A claim reads its first rows.
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
            models.Index(fields=["-finished"], condition=models.Q(status="void"), name="match_void"),
            models.Index(fields=["owner", "-id"], condition=models.Q(kind="challenge"), name="match_challenged"),
            # For pages of matches, newest first: an old page is read without reading all newer matches.
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
            # Matches that counted and were voided since: very few, and searched for before each result is counted.
            models.Index(
                fields=["pool"],
                condition=models.Q(
                    models.Q(status="void") | models.Q(status="finished", rated=False), counted__isnull=False
                ),
                name="match_struck",
            ),
        ]
        constraints = [
            # The deals are derived from these three columns, so nobody plays a deal twice. A voided match may be played again on the same deals.
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
    number = models.PositiveSmallIntegerField()  # Number of the party, from 0, as in the seatings of the sittings.
    # The index party_version begins with this column.
    version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="parties", db_index=False)
    points = models.IntegerField(null=True)  # Sum of the party's board scores, in the game's score unit.
    # Boards won, drawn and lost against the other parties, added up over them.
    wins = models.PositiveIntegerField(null=True)
    draws = models.PositiveIntegerField(null=True)
    losses = models.PositiveIntegerField(null=True)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_detail = models.TextField(blank=True)
    fault_at = models.JSONField(null=True)  # {"board", "sitting", "step"} of the first fault; step -1 = while starting
    # Every fault with kind, detail, board, sitting, step, seat, request and answer; for the owner only.
    faults = models.JSONField(default=list)
    # The attempts that broke off because of this bot, as {"worker", "attempt", "why"}. The second one makes it unplayable.
    broken_off = models.JSONField(default=list)
    stderr = models.TextField(blank=True)  # Only the owner sees it.
    cpu_s = models.FloatField(null=True)
    wall_s = models.FloatField(null=True)
    max_cpu_s = models.FloatField(null=True)  # CPU seconds of the slowest decision.
    decisions = models.PositiveIntegerField(null=True)
    sealed = models.BooleanField(null=True)  # True if the bot played without any clock of the host.
    # The bot's style, counted over all boards (league.pure.style.COUNTS); null: the worker did not count it.
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
    """A seeded deal (or stream of deals) played in all its sittings: the unit of rating."""

    # The unique constraint board_once has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="boards", db_index=False)
    number = models.PositiveIntegerField()  # From 1.
    scores = models.JSONField()  # Scores by party, in the game's score unit, summed over the sittings.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="board_once")]

    def __str__(self) -> str:
        return f"board {self.number} of match {self.match_id}"


class LogDictionary(models.Model):
    """A dictionary with which logs were compressed. Logs cannot be read without it, so no row that a log needs is changed or removed."""

    sha256 = models.CharField(max_length=64, unique=True)
    data = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256


class MatchLog(models.Model):
    """The replays of all sittings of a match, in one log (league.domain.matches.packing)."""

    match = models.OneToOneField(Match, primary_key=True, on_delete=models.CASCADE, related_name="log")
    data = models.BinaryField()  # Empty after its removal.
    # Binds the data to this match (league.domain.matches.logs.digest); stays after the removal.
    digest = models.CharField(max_length=64)
    # The opening choices that the worker counted (engine.choices), and the digest of the log that they are of.
    choices = models.JSONField(null=True)
    # When the data is removed (league.domain.matches.logs.keep_until); null: never.
    until = models.DateTimeField(null=True)
    let_go = models.DateTimeField(null=True)  # When the data was removed, because `until` had passed.
    dictionary = models.ForeignKey(LogDictionary, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        indexes = [
            models.Index(fields=["until"], condition=models.Q(until__isnull=False, let_go=None), name="log_until")
        ]

    def __str__(self) -> str:
        return f"log of match {self.match_id}"


class Sitting(models.Model):
    """One playing of a board: seats and scores. The course of play is in the log of the match."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="sittings", db_index=False)  # sitting_once
    number = models.PositiveSmallIntegerField()  # Number of the pass in which it was played, from 0.
    seating = models.JSONField()  # Party number by seat.
    scores = models.JSONField()  # Scores by seat.
    # The first fault that ended the sitting early, or prevented it.
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    fault_party = models.PositiveSmallIntegerField(null=True)  # The party that made the fault.
    # No longer read; the next release removes them: the replay in releases without logs, and its digest.
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
    """The result of one check of a version in one game of its validation."""

    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="checks")
    # The validation match of that game, whose log has the boards; the first match if the game was not reached.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="checks")
    game = models.CharField(max_length=40)
    name = models.CharField(max_length=12, choices=CheckName)
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    # For the owner only: a description, the situation, and the last request and answer.
    fault_detail = models.TextField(blank=True)
    situation = models.CharField(max_length=200, blank=True)
    request = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    decisions = models.PositiveIntegerField(default=0)
    max_cpu_s = models.FloatField(default=0.0)  # CPU seconds of the slowest decision.
    seconds = models.FloatField(default=0.0)  # Wall time.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "game", "name"], name="check_once"),
            only_words("check", "name", CheckName),
            only_words("check", "fault", FaultKind, or_empty=True),
        ]

    def __str__(self) -> str:
        return f"{self.game}: {self.name}"
