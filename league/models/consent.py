"""Tables of consent: who was asked to let a bot be entered, and what came of it; whom an owner wants nothing from."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from league.enums import RequestStatus
from league.models.bots import Bot, BotVersion
from league.models.people import Player
from league.models.tournaments import Circuit, Event, Tournament
from league.models.words import only_words

MOST_MESSAGE = 300
KEPT = [RequestStatus.ASKED, RequestStatus.GRANTED, RequestStatus.REFUSED]


class EntryRequest(models.Model):
    """Somebody wants another's bot in a tournament, event or circuit. Of an event that has not begun, each bot has one: it is the list of entries."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="requests")
    # The one that was named; null: the one that the bot sends when it enters
    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    asker = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="requests")
    tournament = models.ForeignKey(Tournament, null=True, on_delete=models.CASCADE, related_name="requests")
    event = models.ForeignKey(Event, null=True, on_delete=models.CASCADE, related_name="requests")
    circuit = models.ForeignKey(Circuit, null=True, on_delete=models.CASCADE, related_name="requests")
    message = models.CharField(max_length=MOST_MESSAGE, blank=True)  # plain text, for the owner of the bot
    status = models.CharField(max_length=10, choices=RequestStatus, default=RequestStatus.ASKED)
    created = models.DateTimeField()
    answered = models.DateTimeField(null=True)  # when it got its present status

    class Meta:
        constraints = [
            only_words("request", "status", RequestStatus),
            models.CheckConstraint(
                condition=Q(tournament__isnull=False, event=None, circuit=None)
                | Q(tournament=None, event__isnull=False, circuit=None)
                | Q(tournament=None, event=None, circuit__isnull=False),
                name="request_is_for_one",
            ),
            # Who was refused does not ask again for the same
            *(
                models.UniqueConstraint(fields=["bot", what], condition=Q(status__in=KEPT), name=f"request_{what}_once")
                for what in ("tournament", "event", "circuit")
            ),
        ]
        indexes = [
            models.Index(fields=["asker", "created"], name="request_asked"),
            models.Index(fields=["created"], condition=Q(status="asked"), name="request_open"),
        ]

    def __str__(self) -> str:
        return f"request {self.pk} for {self.bot_id}"

    @property
    def occasion(self) -> Tournament | Event | Circuit:
        """What it is for."""
        found = self.tournament or self.event or self.circuit
        if found is None:
            raise ValueError("a request is for a tournament, an event or a circuit")
        return found


class Block(models.Model):
    """An owner lets nobody of this name enter, challenge or ask for any of their bots."""

    owner = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="blocks")
    blocked = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="+", db_index=False)
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "blocked"], name="block_once"),
            models.CheckConstraint(condition=~Q(owner=F("blocked")), name="block_of_another"),
        ]

    def __str__(self) -> str:
        return f"player {self.owner_id} blocks player {self.blocked_id}"
