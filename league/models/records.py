"""Tables of the service's records: responses to repeated requests, and the journal."""

from __future__ import annotations

from django.db import models

from league.models.people import Player


class IdempotencyKey(models.Model):
    """The response to a create request with a key, so that its repetition creates nothing and gets the same response."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="idempotency_keys")
    key = models.CharField(max_length=80)
    request_sha256 = models.CharField(max_length=64)  # SHA-256 of method, path and body.
    status = models.PositiveSmallIntegerField(null=True)  # null while the first request runs.
    answer = models.JSONField(null=True)
    location = models.CharField(max_length=200, blank=True, default="", db_default="")  # Address of the created row.
    created = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key


class LeagueEvent(models.Model):
    """A line of the append-only journal of all changes of state, which audits, live lists and webhooks read."""

    at = models.DateTimeField()
    kind = models.CharField(max_length=40)  # "match.moved", "version.uploaded", ...
    subject = models.CharField(max_length=80)  # "match:8f3k2p", "bot:rufo"
    actor = models.CharField(max_length=80, blank=True)  # Name of a player or worker; empty if the league itself acted.
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["subject", "id"], name="event_subject"),
            models.Index(fields=["actor", "id"], name="event_actor"),
            models.Index(fields=["id"], condition=models.Q(kind="operator.acted"), name="event_operators"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
