"""Tables of volunteers: people whose computers work for the league, and what they have not finished or nobody has confirmed yet."""

from __future__ import annotations

from django.db import models

from league.models.judgements import Judgement
from league.models.people import ApiToken


class Volunteer(models.Model):
    """A key for volunteer work. Its player is the person who answers for it."""

    token = models.OneToOneField(ApiToken, primary_key=True, on_delete=models.CASCADE, related_name="volunteer")
    agreed = models.PositiveIntegerField(default=0)  # Results that a worker of the league repeated and found right.
    accepted = models.PositiveIntegerField(default=0)  # Results that count because such a repetition agreed.
    shut_out = models.DateTimeField(null=True)  # When a repetition differed.
    evidence = models.TextField(blank=True)  # What differed.

    def __str__(self) -> str:
        return f"volunteer {self.token_id}"


class VolunteerTask(models.Model):
    """A job that a volunteer took. The row is removed when the result counts or a worker of the league has done the job."""

    judgement = models.ForeignKey(Judgement, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    kind = models.CharField(max_length=20)  # The kind of the job.
    volunteer = models.ForeignKey(Volunteer, on_delete=models.CASCADE, related_name="tasks")
    created = models.DateTimeField()
    reported = models.DateTimeField(null=True)
    body = models.BinaryField(default=bytes)  # The result, as the kind stores it.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["judgement", "kind"], name="volunteer_task_once")]

    def __str__(self) -> str:
        return f"{self.kind} of judgement {self.judgement_id} by volunteer {self.volunteer_id}"
