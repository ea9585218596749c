"""The table of work for workers, waiting or leased."""

from __future__ import annotations

import functools
import operator

from django.db import models
from django.db.models import Q

from league.enums import JobState
from league.models.bots import Build, Fetch
from league.models.judgements import Consultation, Judgement
from league.models.leases import Leased
from league.models.people import Player
from league.models.puzzles import MistakeSearch
from league.models.studies import StudyPart
from league.models.tables import Table
from league.models.tunings import TuningStep
from league.models.words import only_words

SUBJECTS = ("judgement", "consultation", "table", "build", "fetch", "tuning", "mistake_search", "study")


def _once(subject: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(
        fields=["kind", subject], condition=Q(**{f"{subject}__isnull": False}), name=f"job_once_{subject}"
    )


def _only(subject: str) -> Q:
    return Q(**{f"{name}__isnull": name != subject for name in SUBJECTS})


class Job(Leased):
    """A piece of work for a worker (league.domain.core.queue). It is deleted when it is done, because its subject has the result."""

    STATE = "state"
    WAITS = JobState.QUEUED
    HELD = (JobState.LEASED,)

    kind = models.CharField(max_length=20)  # The kind of a handler (league.domain.jobs.handlers).
    # The subject of the job: exactly one of these is set. The constraints have indexes.
    judgement = models.ForeignKey(Judgement, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    consultation = models.ForeignKey(
        Consultation, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False
    )
    table = models.ForeignKey(Table, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    build = models.ForeignKey(Build, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    fetch = models.ForeignKey(Fetch, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    tuning = models.ForeignKey(TuningStep, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    mistake_search = models.ForeignKey(
        MistakeSearch, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False
    )
    study = models.ForeignKey(StudyPart, null=True, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    # The player whose turn the job takes.
    owner = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    position = models.PositiveIntegerField(default=0)  # Of the jobs of a kind, the lowest position is next.
    created = models.DateTimeField()

    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)  # A wider column would rewrite the table.

    objects = models.Manager()

    class Meta:
        indexes = [
            # A claim reads the first rows of these indexes. A heartbeat changes no column of an index.
            models.Index(fields=["kind", "position", "id"], condition=Q(state="queued"), name="job_ready"),
            models.Index(fields=["kind", "id"], condition=Q(state="leased"), name="job_leased"),
        ]
        constraints = [
            *(_once(subject) for subject in SUBJECTS),
            models.CheckConstraint(
                condition=functools.reduce(operator.or_, map(_only, SUBJECTS)),
                name="job_one_subject",
            ),
            only_words("job", "state", JobState),
        ]

    def __str__(self) -> str:
        return f"{self.kind} job {self.pk}"
