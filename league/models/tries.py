"""The table of tries."""

from __future__ import annotations

from django.db import models

from league.models.bots import BotVersion
from league.models.matches import Match
from league.models.people import Player


class Try(models.Model):
    """The source text of a bot, not yet a version, played once against a house bot for its author alone (league.domain.bots.tries)."""

    work = models.OneToOneField(Match, on_delete=models.CASCADE, related_name="tried")  # The row in the queue.
    # null: a guest without an account (league.domain.people.guests). The index try_of_owner begins with this column.
    owner = models.ForeignKey(Player, null=True, on_delete=models.CASCADE, related_name="tries", db_index=False)
    # Digests of the key in the guest's cookie and of their network; empty for players.
    guest = models.CharField(max_length=64, blank=True, default="", db_default="")
    guest_from = models.CharField(max_length=32, blank=True, default="", db_default="")
    rival = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=60, blank=True)  # The name that its author gave it.
    source = models.TextField()
    language = models.CharField(
        max_length=12, default="python", db_default="python"
    )  # A key of league.domain.bots.languages.
    # The decision of a finished match from which the try plays, instead of a new board (league.domain.bots.tries.DecisionPoint).
    at = models.JSONField(null=True)
    # zlib of JSON (league.domain.bots.tries.TryResult); null until the try is played.
    result = models.BinaryField(null=True)
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["owner", "-created"], name="try_of_owner"),
            models.Index(fields=["created"], name="try_created"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(owner=None) & ~models.Q(guest="")
                | models.Q(owner__isnull=False, guest="", guest_from=""),
                name="try_has_one_author",
            ),
            models.CheckConstraint(
                condition=models.Q(result__isnull=True, finished__isnull=True)
                | models.Q(result__isnull=False, finished__isnull=False),
                name="try_result_finished",
            ),
        ]

    def __str__(self) -> str:
        return f"try {self.work_id}"
