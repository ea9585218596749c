"""The table of pools: what is rated together."""

from __future__ import annotations

from django.db import models


class Pool(models.Model):
    """What is rated together: one game, its options, the kind of team and the revision of its rules."""

    key = models.CharField(max_length=64, unique=True)  # SHA-256 of the fields below, canonical JSON
    game = models.CharField(max_length=30)
    players = models.PositiveSmallIntegerField()
    options = models.JSONField(default=dict)
    team = models.CharField(max_length=10)  # "clones" (one bot on all seats of a side), "mixed" (two bots) or "single"
    revision = models.PositiveIntegerField()
    # Of the ratings, by which its table was fitted; null: there is none, or one of the first revision
    ratings_revision = models.PositiveSmallIntegerField(null=True)
    revised = models.DateTimeField(null=True)  # when a new revision of the ratings changed its table last

    class Meta:
        indexes = [models.Index(fields=["game"])]

    def __str__(self) -> str:
        return f"{self.game}, {self.players} players, {self.team}, revision {self.revision}"
