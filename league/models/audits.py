"""The table of audits."""

from __future__ import annotations

from django.db import models

from league.enums import AuditConclusion, AuditReason, AuditVerdict
from league.models.bots import BotVersion
from league.models.matches import Match
from league.models.words import only_words


class Audit(models.Model):
    """One conversation of a finished match, that is a seat in a pass, put to the same bot again, and what came of it."""

    work = models.OneToOneField(Match, on_delete=models.CASCADE, related_name="audit")  # its place in the queue
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="audits")
    sitting = models.PositiveSmallIntegerField()  # the pass
    seat = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="audits")
    reason = models.CharField(max_length=10, choices=AuditReason)
    verdict = models.CharField(max_length=10, choices=AuditVerdict, blank=True)  # empty: not yet
    decisions = models.PositiveIntegerField(default=0)
    # Decisions in which one of three answers was the odd one out (engine.runner.audit)
    log_odd = models.PositiveIntegerField(default=0)
    run_odd = models.PositiveIntegerField(default=0)
    all_differ = models.PositiveIntegerField(default=0)
    chance = models.FloatField(null=True)  # that so many of the odd ones, or more, are the match's
    first = models.JSONField(null=True)  # the first difference: board, step, request, legal, logged, runs
    fault = models.CharField(max_length=20, blank=True)  # of a bot that failed when it was run again
    fault_detail = models.TextField(blank=True)  # owner only
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)
    # What a person found who looked at a difference; empty while nobody has
    conclusion = models.CharField(max_length=10, choices=AuditConclusion, blank=True, db_default="")
    why = models.TextField(blank=True, db_default="")  # for everybody to read
    closed_by = models.CharField(max_length=80, blank=True, db_default="")
    closed = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "sitting", "seat"], name="audit_once"),
            only_words("audit", "reason", AuditReason),
            only_words("audit", "verdict", AuditVerdict, or_empty=True),
            only_words("audit", "conclusion", AuditConclusion, or_empty=True),
        ]
        indexes = [
            models.Index(fields=["version", "verdict"], name="audit_of_version"),
            models.Index(fields=["-finished"], condition=models.Q(verdict="differs"), name="audit_cases"),
        ]

    def __str__(self) -> str:
        return f"audit of pass {self.sitting}, seat {self.seat} of match {self.match_id}"
