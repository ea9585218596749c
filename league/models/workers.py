"""Tables of the running processes, as each last reported."""

from __future__ import annotations

from django.db import models

from league.models.matches import Match


class Process(models.Model):
    """The report of a long-running process about itself."""

    name = models.CharField(max_length=80, unique=True)  # Host and process id, as host:pid.
    started = models.DateTimeField()
    seen = models.DateTimeField()
    # Number of errors since the start, by the name of the loop that caught them.
    errors = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    # Which loop died and why; the process is about to end.
    trouble = models.TextField(blank=True, db_default="")
    broker = models.TextField(blank=True, db_default="")  # Why the broker delivers no hints; empty if it does.
    commit = models.CharField(max_length=40, blank=True, db_default="")  # Commit of its code, if known.

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Worker(Process):
    """A process that plays matches, as it last reported. Its row can explain why the queue stands still."""

    # The sandbox tier that passed its checks; empty: the worker refuses to play.
    tier = models.CharField(max_length=20, blank=True)
    refusal = models.TextField(blank=True)  # Why the worker refuses to play, and what to do.
    match = models.ForeignKey(Match, null=True, on_delete=models.SET_NULL, related_name="+")
    # The revision of the rules of each game that the worker plays by; empty: an older release.
    rules = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    # The runtimes on the worker's machine (engine.runner.runtimes.installed); empty: an older release.
    runtimes = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    free_mb = models.PositiveBigIntegerField(null=True)  # MiB free on the disk of its STATE_DIR, at its last check.


class Scheduler(Process):
    """A process that reconciles the queue. `seen` is the time of its last success, so it grows old if the process hangs or fails."""


class StoredSnapshot(models.Model):
    """The queue snapshot: what a claim has to know about all other workers, written by the scheduler if there are many.

    One row (league.domain.matches.snapshot).
    """

    at = models.DateTimeField()
    crew = models.PositiveIntegerField()
    idle = models.PositiveIntegerField()
    waiting = models.PositiveIntegerField()
    slow = models.PositiveIntegerField()
    slow_waits = models.BooleanField()
    greedy = models.JSONField(default=list)  # Ids of bots whose matches took most of the workers' time.

    class Meta:
        db_table = "league_outlook"

    def __str__(self) -> str:
        return f"queue snapshot of {self.at}"
