"""The table of workers, as they last reported themselves."""

from __future__ import annotations

from django.db import models

from league.models.matches import Match


class Worker(models.Model):
    """A process that plays matches, as it last reported itself: why the queue stands still is answered from here."""

    name = models.CharField(max_length=80, unique=True)  # host:pid
    tier = models.CharField(max_length=20, blank=True)  # sandbox tier that it proved; empty = it refuses to play
    refusal = models.TextField(blank=True)  # why it refuses, and what to do
    match = models.ForeignKey(Match, null=True, on_delete=models.SET_NULL, related_name="+")
    started = models.DateTimeField()
    seen = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
