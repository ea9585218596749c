"""The table of pools."""

from __future__ import annotations

from django.db import models


class Pool(models.Model):
    """A rating pool: the bots that are rated together. It has one game, its options, the kind of team and the revision of the rules."""

    key = models.CharField(max_length=64, unique=True)  # SHA-256 of the fields below as canonical JSON.
    game = models.CharField(max_length=30)
    players = models.PositiveSmallIntegerField()
    options = models.JSONField(default=dict)
    team = models.CharField(max_length=10)  # "clones" (one bot on all seats of a side), "mixed" (two bots) or "single".
    revision = models.PositiveIntegerField()
    remote = models.BooleanField(default=False, db_default=False)  # True if remote bots play in it.
    # Revision of the rating model that fitted the table of the pool; null: no table yet, or the first revision.
    ratings_revision = models.PositiveSmallIntegerField(null=True)
    revised = models.DateTimeField(null=True)  # When a new revision of the rating model last changed the table.

    class Meta:
        indexes = [models.Index(fields=["game"])]

    def __str__(self) -> str:
        return f"{self.game}, {self.players} players, {self.team}, revision {self.revision}"
