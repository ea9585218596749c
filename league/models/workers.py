"""The tables of the processes, as they last reported themselves."""

from __future__ import annotations

from django.db import models

from league.models.matches import Match


class Process(models.Model):
    """What every process tells of itself that must not end."""

    name = models.CharField(max_length=80, unique=True)  # host:pid
    started = models.DateTimeField()
    seen = models.DateTimeField()
    # Since the start, by the name of the loop that caught them
    errors = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    trouble = models.TextField(blank=True, db_default="")  # which loop is lost, and why; the process is about to end
    broker = models.TextField(blank=True, db_default="")  # why no hints come from the broker; empty: they do
    commit = models.CharField(max_length=40, blank=True, db_default="")  # of its code, where it is known

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Worker(Process):
    """A process that plays matches, as it last reported itself: why the queue stands still is answered from here."""

    tier = models.CharField(max_length=20, blank=True)  # sandbox tier that it proved; empty = it refuses to play
    refusal = models.TextField(blank=True)  # why it refuses, and what to do
    match = models.ForeignKey(Match, null=True, on_delete=models.SET_NULL, related_name="+")
    # Revision of the rules that it plays by, for each game; empty: a release that did not tell
    rules = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    free_mb = models.PositiveBigIntegerField(null=True)  # MiB free on the disk of its STATE_DIR, as it was seen last


class Scheduler(Process):
    """A process that puts the queue right. It was `seen` when it did so last: one that is stopped, or fails each time, shows."""


class Outlook(models.Model):
    """One row: what a claim has to know of all other workers, as the scheduler saw it where they are many (league.domain.matches.outlook)."""

    at = models.DateTimeField()
    crew = models.PositiveIntegerField()
    idle = models.PositiveIntegerField()
    waiting = models.PositiveIntegerField()
    slow = models.PositiveIntegerField()
    slow_waits = models.BooleanField()
    greedy = models.JSONField(default=list)  # ids of bots

    def __str__(self) -> str:
        return f"outlook of {self.at}"
