"""Tables at which people sit."""

from __future__ import annotations

from django.db import models

from league.enums import FaultKind, TableStatus
from league.models.bots import BotVersion
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words

NO_ADVICE = "?"
LIVE = [TableStatus.WAITING, TableStatus.HELD, TableStatus.RESTING]


class Tables(models.Manager["Table"]):
    """Tables without their secrets, which the role of the workers may not read."""

    def get_queryset(self) -> models.QuerySet[Table]:
        """Without the secrets."""
        return super().get_queryset().defer("secret")


class Table(models.Model):
    """A person plays some boards against bots (league.domain.tables). The row is its own place in a queue; no match, nothing of it is rated."""

    public_id = models.CharField(max_length=12, unique=True)
    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="tables", db_index=False
    )  # table_of_player
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+", db_index=False)
    seat = models.PositiveSmallIntegerField(default=0)  # of the person
    boards = models.PositiveSmallIntegerField()
    secret = models.BinaryField(
        max_length=32
    )  # keys the deals; the role of the workers may not read it (docker/grant_roles.py)
    created = models.DateTimeField()

    status = models.CharField(max_length=10, choices=TableStatus, default=TableStatus.WAITING)
    token = models.PositiveIntegerField(default=0)  # grows with every lease; what comes with an old one is refused
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(
        default=0
    )  # that ended by a fault of ours, since the person was asked last
    not_before = models.DateTimeField(null=True)  # the next attempt waits until then
    reason = models.TextField(blank=True)  # why it waits or has ended
    finished = models.DateTimeField(null=True)

    # What the person is asked: the number of the decision through all boards, null where it is not theirs; the board, the choices
    turn = models.PositiveIntegerField(null=True)
    since = models.DateTimeField()  # when the person was asked, or has answered
    board = models.PositiveSmallIntegerField(default=1)
    legal = models.JSONField(default=list)
    hand = models.JSONField(default=list)  # their cards
    seen = models.JSONField(
        default=list
    )  # what the seat may know of that board: all that a browser is ever sent while it is played
    scores = models.JSONField(default=list)  # by seat, of each board that is over
    advice_asked = models.PositiveIntegerField(null=True)  # the decision for which the person has asked for advice
    advice = models.CharField(
        max_length=400, blank=True, default="", db_default=""
    )  # what was told; NO_ADVICE: none could be had
    fault = models.CharField(max_length=20, choices=FaultKind, blank=True)  # of a bot, which ended the table
    records = models.BinaryField(default=bytes)  # once it is over: zlib of a JSON list, the replay of each board

    objects = Tables()

    class Meta:
        indexes = [
            models.Index(fields=["since", "id"], condition=models.Q(status="waiting"), name="table_waits"),
            models.Index(fields=["id"], condition=models.Q(status__in=LIVE), name="table_live"),
            models.Index(fields=["player", "-created"], name="table_of_player"),
        ]
        constraints = [
            # Who sits at one goes on there, or leaves it
            models.UniqueConstraint(fields=["player"], condition=models.Q(status__in=LIVE), name="table_one_each"),
            only_words("table", "status", TableStatus),
            only_words("table", "fault", FaultKind, or_empty=True),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def awaits_advice(self) -> bool:
        """Whether the person has asked for advice, and none was given."""
        return self.advice_asked is not None and not self.advice


class TableSeat(models.Model):
    """A bot at a table. At the seat of the person it gives advice, where they are wished."""

    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="seats", db_index=False)  # table_seat_once
    number = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="table_seat_once")]

    def __str__(self) -> str:
        return f"seat {self.number} of table {self.table_id}"


class TableAction(models.Model):
    """A line of a table's journal: a decision that was taken. What was dealt and these lines give every card again."""

    table = models.ForeignKey(
        Table, on_delete=models.CASCADE, related_name="actions", db_index=False
    )  # table_action_once
    number = models.PositiveIntegerField()  # from 0, through all boards
    seat = models.PositiveSmallIntegerField()
    action = models.CharField(max_length=40)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="table_action_once")]

    def __str__(self) -> str:
        return f"{self.number} {self.action}"
