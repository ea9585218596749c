"""Tables of consent: requests to enter a bot of another player, and blocked players."""

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
    """A request to enter another player's bot in a tournament, event or circuit.

    Before an event starts, its rows here are the event's list of entries.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="requests")
    # The requested version; null: the version that the bot sends when it is entered.
    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    asker = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="requests")
    tournament = models.ForeignKey(Tournament, null=True, on_delete=models.CASCADE, related_name="requests")
    event = models.ForeignKey(Event, null=True, on_delete=models.CASCADE, related_name="requests")
    circuit = models.ForeignKey(Circuit, null=True, on_delete=models.CASCADE, related_name="requests")
    message = models.CharField(max_length=MOST_MESSAGE, blank=True)  # Plain text for the owner of the bot.
    status = models.CharField(max_length=10, choices=RequestStatus, default=RequestStatus.ASKED)
    created = models.DateTimeField()
    answered = models.DateTimeField(null=True)  # When the request got its present status.

    class Meta:
        constraints = [
            only_words("request", "status", RequestStatus),
            models.CheckConstraint(
                condition=Q(tournament__isnull=False, event=None, circuit=None)
                | Q(tournament=None, event__isnull=False, circuit=None)
                | Q(tournament=None, event=None, circuit__isnull=False),
                name="request_is_for_one",
            ),
            # After a refusal nobody may repeat the request.
            *(
                models.UniqueConstraint(
                    fields=["bot", place], condition=Q(status__in=KEPT), name=f"request_{place}_once"
                )
                for place in ("tournament", "event", "circuit")
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
        """Return the tournament, event or circuit that the request is for."""
        occasion = self.tournament or self.event or self.circuit
        if occasion is None:
            raise ValueError("a request is for a tournament, an event or a circuit")
        return occasion


class Block(models.Model):
    """A blocked player, who may not enter, challenge or ask for any bot of this owner."""

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
