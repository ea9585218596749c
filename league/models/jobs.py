"""The table of work for workers, waiting or leased."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.enums import JobState
from league.models.judgements import Consultation, Judgement
from league.models.leases import Leased
from league.models.people import Player
from league.models.tables import Table
from league.models.words import only_words

SUBJECTS = ("judgement", "consultation", "table")


def _once(subject: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(
        fields=["kind", subject], condition=Q(**{f"{subject}__isnull": False}), name=f"job_once_{subject}"
    )


def _only(subject: str) -> Q:
    return Q(**{f"{name}__isnull": name != subject for name in SUBJECTS})


class Job(Leased):
    """A piece of work for a worker (league.domain.core.queue). It is deleted when it is done: its subject says what came of it."""

    STATE = "state"
    WAITS = JobState.QUEUED
    HELD = (JobState.LEASED,)

    kind = models.CharField(max_length=20)  # A handler has this kind (league.domain.jobs.handlers).
    # What the job is about: exactly one of these is set. The constraints have indexes.
    judgement = models.ForeignKey(Judgement, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    consultation = models.ForeignKey(
        Consultation, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False
    )
    table = models.ForeignKey(Table, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    owner = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")  # Whose turn is counted.
    position = models.PositiveIntegerField(default=0)  # The lowest of a kind is next.
    created = models.DateTimeField()

    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)  # A wider column would rewrite the table.

    objects = models.Manager()

    class Meta:
        indexes = [
            # A claim reads its first rows. A heartbeat changes no column of an index.
            models.Index(fields=["kind", "position", "id"], condition=Q(state="queued"), name="job_ready"),
            models.Index(fields=["kind", "id"], condition=Q(state="leased"), name="job_leased"),
        ]
        constraints = [
            *(_once(subject) for subject in SUBJECTS),
            models.CheckConstraint(
                condition=_only("judgement") | _only("consultation") | _only("table"), name="job_one_subject"
            ),
            only_words("job", "state", JobState),
        ]

    def __str__(self) -> str:
        return f"{self.kind} job {self.pk}"
