"""Change counters, which tell whether a cached response is still valid (league.service.changes)."""

from __future__ import annotations

from django.db import models


class Change(models.Model):
    """A number of changes of what `key` names. The database adds a row with every change, in its transaction; the sum only grows."""

    key = models.CharField(max_length=40)  # "matches", "ratings:3", "tournament:12"
    number = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["key"], name="change_key")]

    def __str__(self) -> str:
        return f"{self.number} of {self.key}"
