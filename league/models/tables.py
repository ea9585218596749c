"""Tables of the boards that people play with each other and against bots."""

from __future__ import annotations

from django.db import models

from league.enums import ChallengeAnswer, FaultKind, TableStatus, TableWatching
from league.models.bots import BotVersion
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words

NO_ADVICE = "?"
LIVE = [TableStatus.WAITING, TableStatus.HELD, TableStatus.RESTING]


class TableManager(models.Manager["Table"]):
    """Table rows without their secrets, which the role of the workers may not read."""

    def get_queryset(self) -> models.QuerySet[Table]:
        """Return the rows without their secrets."""
        return super().get_queryset().defer("secret")


class Table(models.Model):
    """Some boards that people play with bots (league.domain.tables). A table is not a match; a job plays its bots' moves."""

    public_id = models.CharField(max_length=12, unique=True)
    # The host, who opened the table, or to whom it passed. null: a guest without an account (league.domain.tables.guests).
    # The index table_of_player begins with this column.
    player = models.ForeignKey(Player, null=True, on_delete=models.CASCADE, related_name="tables", db_index=False)
    # Digests of the key in the guest's cookie and of their network address; empty for players.
    guest = models.CharField(max_length=64, blank=True, default="", db_default="")
    guest_from = models.CharField(max_length=32, blank=True, default="", db_default="")
    # True if the boards count in the person's rating: no table with advice does, nor one that a guest began, nor a shared one.
    rated = models.BooleanField(default=True, db_default=True)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+", db_index=False)
    boards = models.PositiveSmallIntegerField()
    # The deals are derived from it; the role of the workers may not read it (docker/grant_roles.py).
    secret = models.BinaryField(max_length=32)
    created = models.DateTimeField()

    status = models.CharField(max_length=10, choices=TableStatus, default=TableStatus.WAITING)
    reason = models.TextField(blank=True)  # Why the table waits or ended.
    finished = models.DateTimeField(null=True)

    # True: anyone with the address may sit down while `gathering`, and watch as `watching` says later.
    shared = models.BooleanField(default=False, db_default=False)
    gathering = models.BooleanField(default=False, db_default=False)  # True: people take their seats, no card is dealt.
    listed = models.BooleanField(default=False, db_default=False)  # True: in the lobby, where any player may sit down.
    # The players (ids) and guests (keys) whom the host asked to leave; they cannot sit down again.
    barred = models.JSONField(default=list, db_default=[])
    watching = models.CharField(
        max_length=8, choices=TableWatching, default=TableWatching.HIDDEN, db_default=TableWatching.HIDDEN
    )
    # The address of the first table with these cards, if other tables play the same (league.domain.tables.deals), and the
    # time until when they may: until then nobody sees hidden cards of them.
    deals = models.CharField(max_length=12, blank=True, default="", db_default="")
    deals_until = models.DateTimeField(null=True)
    # Of a shared table: the level of its bots (league.domain.tables.levels), and the seconds for an answer; 0: TABLE_AWAY_S.
    # With an increment, `clock_s` is the time of each person for a hand, and each answer adds the increment.
    level = models.CharField(max_length=12, blank=True, default="", db_default="")
    clock_s = models.PositiveIntegerField(default=0, db_default=0)
    increment_s = models.PositiveSmallIntegerField(default=0, db_default=0)
    rematch = models.CharField(max_length=12, blank=True, default="", db_default="")  # The address of the next table.
    # A number that grows with each change that pages show besides decisions: who sits where, a phrase, advice.
    news = models.PositiveIntegerField(default=0, db_default=0)

    # The decision that a person has to make: its number over all boards (null if the bots are to move) and its board.
    turn = models.PositiveIntegerField(null=True)
    # How many decisions people have made. It numbers the next one in pages: `turn` tells which bots had a choice.
    question = models.PositiveIntegerField(default=0, db_default=0)
    due = models.DateTimeField(null=True)  # When the scheduler looks at a resting shared table again.
    since = models.DateTimeField()  # When a person last got a decision or answered one.
    board = models.PositiveSmallIntegerField(default=1)
    spectated = models.JSONField(null=True)  # The events of the board of a shared table as spectators may know them.
    scores = models.JSONField(default=list)  # The scores of each finished board, by seat.
    # Kind of the bot's fault that ended the table.
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)
    # Written at the end: zlib of a JSON list with the replay of each board.
    records = models.BinaryField(default=bytes)
    # The previous release writes the person's part here (`TablePerson`), and migration 0017 and `people.inherit` take it over.
    seat = models.PositiveSmallIntegerField(default=0, db_default=0)
    legal = models.JSONField(default=list, db_default=[])
    hand = models.JSONField(default=list, db_default=[])
    seen = models.JSONField(default=list, db_default=[])

    objects = TableManager()

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status__in=LIVE), name="table_live"),
            models.Index(fields=["player", "-created"], name="table_of_player"),
            models.Index(fields=["deals"], condition=~models.Q(deals=""), name="table_of_deals"),
            models.Index(
                fields=["due"],
                condition=models.Q(status=TableStatus.RESTING, shared=True, gathering=False),
                name="table_due",
            ),
        ]
        constraints = [
            # A player has one live table at a time. A lock on the tables ensures the same for guests.
            models.UniqueConstraint(fields=["player"], condition=models.Q(status__in=LIVE), name="table_one_each"),
            models.CheckConstraint(
                condition=models.Q(player=None, rated=False) & ~models.Q(guest="")
                | models.Q(player__isnull=False, guest="", guest_from=""),
                name="table_has_one_person",
            ),
            only_words("table", "status", TableStatus),
            only_words("table", "fault", FaultKind, or_empty=True),
            only_words("table", "watching", TableWatching),
        ]

    def __str__(self) -> str:
        return self.public_id


class TablePerson(models.Model):
    """A person at a seat of a table, with everything that this seat may know. A browser gets nothing else while the board is played."""

    # The constraint table_person_once has an index.
    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="people", db_index=False)
    number = models.PositiveSmallIntegerField()  # The seat.
    # null: a guest. The index table_person_player begins with this column.
    player = models.ForeignKey(Player, null=True, on_delete=models.CASCADE, related_name="seats", db_index=False)
    # Digests of the key in the guest's cookie and of their network address; empty for players.
    guest = models.CharField(max_length=64, blank=True, default="")
    guest_from = models.CharField(max_length=32, blank=True, default="")
    seated = models.BooleanField(default=True)  # False: the table is over, or the person has left it.
    ready = models.BooleanField(default=False)  # To begin, while the table is gathering.
    away = models.BooleanField(default=False)  # True: the bot behind the seat plays for the person.

    left_ms = models.PositiveIntegerField(default=0, db_default=0)  # The time left on a clock with increment.
    legal = models.JSONField(default=list)  # The choices; empty if another seat is asked.
    hand = models.JSONField(default=list)
    events = models.JSONField(default=list, db_column="seen")  # The events of the board that the seat may know.
    # The number of the decision for which the person asked for advice.
    advice_asked = models.PositiveIntegerField(null=True)
    # The advice; NO_ADVICE if there is none.
    advice = models.CharField(max_length=400, blank=True, default="")
    phrase = models.CharField(
        max_length=12, blank=True, default=""
    )  # The last set phrase (league.domain.tables.phrases).
    phrase_at = models.DateTimeField(null=True, db_column="said")

    class Meta:
        indexes = [
            models.Index(fields=["player", "-table"], name="table_person_player"),
            models.Index(fields=["guest"], condition=~models.Q(guest=""), name="table_person_guest"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["table", "number"], name="table_person_once"),
            # A person or guest sits at one table at a time.
            models.UniqueConstraint(fields=["player"], condition=models.Q(seated=True), name="table_person_player_one"),
            models.UniqueConstraint(
                fields=["guest"], condition=models.Q(seated=True) & ~models.Q(guest=""), name="table_person_guest_one"
            ),
            models.CheckConstraint(
                condition=models.Q(player=None) & ~models.Q(guest="")
                | models.Q(player__isnull=False, guest="", guest_from=""),
                name="table_person_is_one",
            ),
        ]

    def __str__(self) -> str:
        return f"person at seat {self.number} of table {self.table_id}"

    @property
    def awaits_advice(self) -> bool:
        """Return True if the person has asked for advice and has no answer yet."""
        return self.advice_asked is not None and not self.advice


class TableChallenge(models.Model):
    """A challenge: somebody at a shared table asks a player by name to sit down there (league.domain.tables.challenges)."""

    # The constraint table_challenge_once has an index.
    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="challenges", db_index=False)
    challenger = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="+", db_index=False)
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="table_challenges", db_index=False)
    created = models.DateTimeField()
    answer = models.CharField(max_length=10, choices=ChallengeAnswer, blank=True, default="")  # Empty: not answered.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["table", "player"], name="table_challenge_once"),
            only_words("table_challenge", "answer", ChallengeAnswer, or_empty=True),
        ]
        indexes = [
            models.Index(fields=["challenger", "created"], name="table_challenge_sent"),
            models.Index(fields=["player", "created"], name="table_challenge_received"),
        ]

    def __str__(self) -> str:
        return f"challenge of player {self.player_id} to table {self.table_id}"


class TableSeat(models.Model):
    """A bot at a table. A bot at the seat of a person gives advice, or plays at a shared table while the person is away."""

    # The constraint table_seat_once has an index.
    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="seats", db_index=False)
    number = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="table_seat_once")]

    def __str__(self) -> str:
        return f"seat {self.number} of table {self.table_id}"


class TableAction(models.Model):
    """One decision in the journal of a table. From the deals and these rows the whole play can be repeated."""

    # The constraint table_action_once has an index.
    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="actions", db_index=False)
    number = models.PositiveIntegerField()  # Number of the decision, from 0, over all boards.
    seat = models.PositiveSmallIntegerField()
    action = models.CharField(max_length=40)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="table_action_once")]

    def __str__(self) -> str:
        return f"{self.number} {self.action}"
