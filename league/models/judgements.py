"""Tables of judgements and consultations: what the decisions of a match gave away, and what a house bot would have played."""

from __future__ import annotations

from django.db import models

from league.enums import ConsultationStatus, JudgementKind, JudgementStatus
from league.models.bots import BotVersion
from league.models.matches import Match
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words


class BackgroundWork(models.Model):
    """Work on a finished match that a player has asked for, done when the queue is empty. It has a job until it has finished."""

    asked_by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField()
    reason = models.TextField(blank=True)  # Why it failed or is tried again.
    finished = models.DateTimeField(null=True)
    cpu_s = models.FloatField(default=0.0)  # CPU seconds of all attempts.
    limited = models.BooleanField(default=False)  # True if it ran out of time, so that the last part is missing.

    class Meta:
        abstract = True


class Judgement(BackgroundWork):
    """The analysis of a match in one way by one version of the judge (engine.analysis.JUDGE)."""

    # The unique constraint has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="judgements", db_index=False)
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    samples = models.PositiveSmallIntegerField(default=0)  # Deals over which each decision is judged; 0: the real deal.
    status = models.CharField(max_length=10, choices=JudgementStatus, default=JudgementStatus.ASKED)
    decisions = models.PositiveIntegerField(default=0)  # Decisions in the analysed sittings.
    judged = models.PositiveIntegerField(default=0)
    summed = models.BooleanField(default=False, db_default=False)  # True once JudgedSum includes it.
    # Compressed JSON (league.domain.judgements.bodies), some 20 bytes for each decision; partial while the work goes on.
    body = models.BinaryField(default=bytes)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "kind", "judge", "samples"], name="judgement_once"),
            only_words("judgement", "kind", JudgementKind),
            only_words("judgement", "status", JudgementStatus),
        ]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status__in=["asked", "working"]), name="judgement_open"),
            models.Index(fields=["asked_by", "created"], name="judgement_of_asker"),
            models.Index(fields=["finished"], condition=models.Q(status="failed"), name="judgement_failed"),
            models.Index(fields=["id"], condition=models.Q(status="done", summed=False), name="judgement_unsummed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} judgement of match {self.match_id}"

    @property
    def progress(self) -> int:
        """Percent of the sittings. One query, unless it is done."""
        if self.status == JudgementStatus.DONE:
            return 100
        return self.jobs.filter(kind="analysis").values_list("progress", flat=True).first() or 0


class JudgedSum(models.Model):
    """Totals of what the judged decisions of a version in a pool gave away, over its judgements of one kind. Without version: of all versions.

    They include the sums of squares for the interval of the mean, which goes by boards, since decisions on one board depend on each other. For each
    board, `l` is the loss on it and `n` the number of its judged decisions.
    """

    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="judged_sums")
    # The constraint has an index.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    phase = models.CharField(max_length=10)  # One of engine.analysis.PHASES, or "all".
    boards = models.PositiveIntegerField(default=0)  # Boards with a judged decision.
    decisions = models.PositiveIntegerField(default=0)
    judged = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)  # Decisions that lost nothing.
    lost = models.FloatField(default=0.0)  # Sum of the losses l over the boards.
    lost_lost = models.FloatField(default=0.0)  # Sum of l * l.
    lost_judged = models.FloatField(default=0.0)  # Sum of l * n.
    judged_judged = models.FloatField(default=0.0)  # Sum of n * n.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "pool", "kind", "judge", "phase"], name="judged_sum_once"),
            models.UniqueConstraint(
                fields=["pool", "kind", "judge", "phase"],
                condition=models.Q(version__isnull=True),
                name="judged_sum_of_pool",
            ),
            only_words("judgedsum", "kind", JudgementKind),
        ]

    def __str__(self) -> str:
        return f"{self.phase}, {self.kind}: version {self.version_id} in pool {self.pool_id}"


class Consultation(BackgroundWork):
    """A consultation: what a house bot would have done at each decision of one seat of a sitting. Once for each version of the bot."""

    # The unique constraint has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="consultations", db_index=False)
    board = models.PositiveIntegerField()
    sitting = models.PositiveSmallIntegerField()
    seat = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    status = models.CharField(max_length=10, choices=ConsultationStatus, default=ConsultationStatus.ASKED)
    # True if the rules beside the bot were compiled; without them a bot may search less far.
    compiled = models.BooleanField(default=False)
    # A short list for each decision (league.domain.consultations.reading).
    answers = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "board", "sitting", "seat", "version"], name="consultation_once"),
            only_words("consultation", "status", ConsultationStatus),
        ]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status__in=["asked", "working"]), name="consultation_open"),
            models.Index(fields=["asked_by", "created"], name="consultation_of_asker"),
            models.Index(fields=["finished"], condition=models.Q(status="failed"), name="consultation_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.version} in match {self.match_id}, board {self.board}, sitting {self.sitting}, seat {self.seat}"

    @property
    def progress(self) -> int:
        """Percent of the decisions. One query, unless it is done."""
        if self.status == ConsultationStatus.DONE:
            return 100
        return self.jobs.values_list("progress", flat=True).first() or 0
