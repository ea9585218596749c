"""Tables of analyses and consultations: what the decisions of a match gave away, and what a house bot would have played."""

from __future__ import annotations

from django.db import models

from league.enums import ConsultationStatus, JudgementKind, JudgementStatus
from league.models.bots import BotVersion
from league.models.matches import Match
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words


class BackgroundWork(models.Model):
    """Work on a finished match that a player has asked for. It is done while no match is queued, and has a job until it has finished."""

    asked_by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField()
    reason = models.TextField(blank=True)  # Why the work failed or will be tried again.
    finished = models.DateTimeField(null=True)
    cpu_s = models.FloatField(default=0.0)  # CPU seconds of all attempts.
    limited = models.BooleanField(default=False)  # True if the time ran out, so that the last part is missing.

    class Meta:
        abstract = True


class Judgement(BackgroundWork):
    """The analysis of a match of one kind, made by one version of the analysis program (engine.analysis.JUDGE)."""

    # The unique constraint has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="judgements", db_index=False)
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    # Deals over which each decision is averaged; 0: only the real deal.
    samples = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=JudgementStatus, default=JudgementStatus.ASKED)
    decisions = models.PositiveIntegerField(default=0)  # Decisions in the analysed sittings.
    judged = models.PositiveIntegerField(default=0)
    summed = models.BooleanField(default=False, db_default=False)  # True once JudgedSum includes this analysis.
    # True if a volunteer computed the result, and no worker has repeated it: it is no evidence.
    by_volunteer = models.BooleanField(default=False, db_default=False)
    # Compressed JSON (league.domain.judgements.bodies), some 20 bytes for each decision; incomplete while the analysis runs.
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
        """Return the percentage of analysed sittings. One query, unless the analysis is done."""
        if self.status == JudgementStatus.DONE:
            return 100
        return self.jobs.filter(kind="analysis").values_list("progress", flat=True).first() or 0


class JudgedSum(models.Model):
    """The points that the analysed decisions of a version in a pool gave away, over its analyses of one kind. Without version: of all versions.

    The sums of squares are for the interval of the mean, which is computed over boards, since decisions on one board depend on each other. For each
    board, `l` is the loss on it and `n` the number of its analysed decisions.
    """

    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="judged_sums")
    # The unique constraint has an index.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    phase = models.CharField(max_length=10)  # One of engine.analysis.PHASES, or "all".
    boards = models.PositiveIntegerField(default=0)  # Boards with an analysed decision.
    decisions = models.PositiveIntegerField(default=0)
    judged = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)  # Decisions that lost nothing.
    lost = models.FloatField(default=0.0)  # Sum of l over the boards: the points given away.
    lost_lost = models.FloatField(default=0.0)  # Sum of l * l over the boards.
    lost_judged = models.FloatField(default=0.0)  # Sum of l * n over the boards.
    judged_judged = models.FloatField(default=0.0)  # Sum of n * n over the boards.

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
    """The moves of a house bot at each decision of one seat of a sitting, asked once for each version of the house bot."""

    # The unique constraint has an index.
    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="consultations", db_index=False)
    board = models.PositiveIntegerField()
    sitting = models.PositiveSmallIntegerField()
    seat = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    status = models.CharField(max_length=10, choices=ConsultationStatus, default=ConsultationStatus.ASKED)
    # True if the engine beside the bot was compiled; without compiled rules a bot may search less deeply.
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
        """Return the percentage of answered decisions. One query, unless the consultation is done."""
        if self.status == ConsultationStatus.DONE:
            return 100
        return self.jobs.values_list("progress", flat=True).first() or 0
