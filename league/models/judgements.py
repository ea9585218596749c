"""The table of judgements: what the decisions of a match gave away."""

from __future__ import annotations

from django.db import models

from league.enums import JudgementKind, JudgementStatus
from league.models.matches import Match
from league.models.people import Player
from league.models.words import only_words


class Judgement(models.Model):
    """A match judged in one way by one version of the judge (engine.analysis.JUDGE). The row is its own place in a queue."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="judgements", db_index=False)  # once
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    samples = models.PositiveSmallIntegerField(default=0)  # deals over which each decision is judged; 0: the real one
    asked_by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    place = models.PositiveIntegerField(default=0)  # how many of the same asker waited before it: askers take turns
    created = models.DateTimeField()

    status = models.CharField(max_length=10, choices=JudgementStatus, default=JudgementStatus.ASKED)
    token = models.PositiveIntegerField(default=0)  # grows with every lease; a report with an old one is refused
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # that ended by a fault of ours, with the present one
    progress = models.PositiveSmallIntegerField(default=0)  # percent of the sittings
    reason = models.TextField(blank=True)  # why it has failed, or is tried again
    finished = models.DateTimeField(null=True)

    cpu_s = models.FloatField(default=0.0)  # of all attempts
    decisions = models.PositiveIntegerField(default=0)  # in the sittings that were looked at
    judged = models.PositiveIntegerField(default=0)
    limited = models.BooleanField(
        default=False
    )  # it ended for want of time: the last sittings are judged in part or not at all
    # Compressed JSON (league.domain.judgements.bodies), some 20 bytes a decision; of one that is not done as far as it has come
    body = models.BinaryField(default=bytes)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "kind", "judge", "samples"], name="judgement_once"),
            only_words("judgement", "kind", JudgementKind),
            only_words("judgement", "status", JudgementStatus),
        ]
        indexes = [
            models.Index(
                fields=["place", "id"], condition=models.Q(status__in=["asked", "working"]), name="judgement_waits"
            ),
            models.Index(fields=["asked_by", "created"], name="judgement_of_asker"),
            models.Index(fields=["finished"], condition=models.Q(status="failed"), name="judgement_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} judgement of match {self.match_id}"
