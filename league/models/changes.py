"""Change counters, which show whether a cached response is still valid (league.service.changes)."""

from __future__ import annotations

from django.db import models


class Change(models.Model):
    """A part of the change counter `key`. With every change the database adds a row in the same transaction; the sum of the rows only grows."""

    key = models.CharField(max_length=40)  # "matches", "ratings:3", "tournament:12"
    number = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["key"], name="change_key")]

    def __str__(self) -> str:
        return f"{self.number} of {self.key}"
