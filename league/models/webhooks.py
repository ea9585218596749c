"""Tables of webhooks: where owners want to hear of events, and what was sent."""

from __future__ import annotations

from django.db import models

from league.models.people import Player


class Webhook(models.Model):
    """An address of a player to which events are posted (league.domain.notices.webhooks)."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=64)  # Signs what is sent, so it cannot be a hash.
    events = models.JSONField(default=list)
    created = models.DateTimeField()
    seen = models.BigIntegerField()  # Lines of the journal up to this one have their deliveries.
    failures = models.PositiveSmallIntegerField(default=0)  # Since the last delivery that arrived.
    off = models.DateTimeField(null=True)  # When it was switched off; null: it is on.

    def __str__(self) -> str:
        return f"webhook {self.pk} of player {self.player_id}"


class Delivery(models.Model):
    """An event for a webhook: stored once, sent until the other side has it."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    key = models.CharField(max_length=32, unique=True)  # The same each time it is sent.
    event = models.CharField(max_length=40)
    body = models.TextField()
    created = models.DateTimeField()
    due = models.DateTimeField(null=True)  # When it is sent next; null: it arrived, or was given up.
    tries = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True)  # Of the last answer.
    problem = models.CharField(max_length=200, blank=True, default="")
    delivered = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["due", "webhook"], condition=models.Q(due__isnull=False), name="delivery_due"),
            models.Index(fields=["created"], name="delivery_age"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.key}"
