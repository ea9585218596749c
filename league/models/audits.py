"""The table of audits."""

from __future__ import annotations

from django.db import models

from league.enums import CASES, AuditConclusion, AuditReason, AuditVerdict
from league.models.bots import BotVersion
from league.models.matches import Match
from league.models.words import Concluded, only_words


class Audit(Concluded):
    """One conversation of a finished match (a seat in a pass), repeated with the same bot and compared with the log."""

    work = models.OneToOneField(Match, on_delete=models.CASCADE, related_name="audit")  # The row in the queue.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="audits")
    sitting = models.PositiveSmallIntegerField()  # Number of the audited pass.
    seat = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="audits")
    reason = models.CharField(max_length=10, choices=AuditReason)
    verdict = models.CharField(max_length=10, choices=AuditVerdict, blank=True)  # Empty until it is finished.
    decisions = models.PositiveIntegerField(default=0)
    # Decisions where one of three answers was the odd one out (see engine.runner.audit).
    log_odd = models.PositiveIntegerField(default=0)
    run_odd = models.PositiveIntegerField(default=0)
    all_differ = models.PositiveIntegerField(default=0)
    # Probability that the match has at least this many odd answers by chance.
    chance = models.FloatField(null=True)
    first = models.JSONField(null=True)  # The first difference or failure: board, step, request, legal, logged, runs.
    fault = models.CharField(max_length=20, blank=True)  # Kind of the fault if the bot failed in the repetition.
    fault_detail = models.TextField(blank=True)  # Only its owner sees it.
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "sitting", "seat"], name="audit_once"),
            only_words("audit", "reason", AuditReason),
            only_words("audit", "verdict", AuditVerdict, or_empty=True),
            only_words("audit", "conclusion", AuditConclusion, or_empty=True),
        ]
        indexes = [
            models.Index(fields=["version", "verdict"], name="audit_of_version"),
            models.Index(fields=["-finished"], condition=models.Q(verdict__in=CASES, closed=None), name="audit_open"),
        ]

    def __str__(self) -> str:
        return f"audit of pass {self.sitting}, seat {self.seat} of match {self.match_id}"

    @property
    def is_case(self) -> bool:
        """Return True if a person has to look at it."""
        return self.verdict in CASES
