"""The tables of judgements and of consultations: what the decisions of a match gave away, and what a bot of the house would have played there."""

from __future__ import annotations

from django.db import models

from league.enums import ConsultationStatus, JudgementKind, JudgementStatus
from league.models.bots import BotVersion
from league.models.matches import Match
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import only_words


class BackgroundWork(models.Model):
    """What a player asks of a finished match, and a worker does when nothing else waits. The row is its own place in a queue."""

    asked_by = models.ForeignKey(Player, null=True, on_delete=models.SET_NULL, related_name="+")
    place = models.PositiveIntegerField(default=0)  # how many of the same asker waited before it: askers take turns
    created = models.DateTimeField()

    token = models.PositiveIntegerField(default=0)  # grows with every lease; a report with an old one is refused
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # that ended by a fault of ours, with the present one
    progress = models.PositiveSmallIntegerField(default=0)  # percent
    reason = models.TextField(blank=True)  # why it has failed, or is tried again
    finished = models.DateTimeField(null=True)
    cpu_s = models.FloatField(default=0.0)  # of all attempts
    limited = models.BooleanField(default=False)  # it ended for want of time: the last of it is missing

    class Meta:
        abstract = True


class Judgement(BackgroundWork):
    """A match judged in one way by one version of the judge (engine.analysis.JUDGE)."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="judgements", db_index=False)  # once
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    samples = models.PositiveSmallIntegerField(default=0)  # deals over which each decision is judged; 0: the real one
    status = models.CharField(max_length=10, choices=JudgementStatus, default=JudgementStatus.ASKED)
    decisions = models.PositiveIntegerField(default=0)  # in the sittings that were looked at
    judged = models.PositiveIntegerField(default=0)
    summed = models.BooleanField(default=False, db_default=False)  # counted in JudgedSum
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
            models.Index(fields=["id"], condition=models.Q(status="done", summed=False), name="judgement_unsummed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} judgement of match {self.match_id}"


class JudgedSum(models.Model):
    """What the judged decisions of a version in a pool gave away, summed over its judgements of one kind; without version: of all versions there.

    With the sums of squares that the interval of the mean needs, which goes by boards: decisions of one board hang together. For each board `l` is
    what was lost on it, `n` how many of its decisions were judged.
    """

    version = models.ForeignKey(BotVersion, null=True, on_delete=models.CASCADE, related_name="judged_sums")
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)  # in a constraint
    kind = models.CharField(max_length=10, choices=JudgementKind)
    judge = models.CharField(max_length=20)
    phase = models.CharField(max_length=10)  # engine.analysis.PHASES, or "all"
    boards = models.PositiveIntegerField(default=0)  # with a judged decision
    decisions = models.PositiveIntegerField(default=0)
    judged = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)  # that lost nothing
    lost = models.FloatField(default=0.0)  # the sum of l
    lost_lost = models.FloatField(default=0.0)  # of l * l
    lost_judged = models.FloatField(default=0.0)  # of l * n
    judged_judged = models.FloatField(default=0.0)  # of n * n

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
    """A bot of the house consulted about one seat of a sitting: what it would have done at each decision. Once for each version of the bot."""

    match = models.ForeignKey(Match, on_delete=models.CASCADE, related_name="consultations", db_index=False)  # once
    board = models.PositiveIntegerField()
    sitting = models.PositiveSmallIntegerField()
    seat = models.PositiveSmallIntegerField()
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="+")
    status = models.CharField(max_length=10, choices=ConsultationStatus, default=ConsultationStatus.ASKED)
    compiled = models.BooleanField(
        default=False
    )  # whether the rules beside the bot were; a bot may search less far without
    # A short list for each decision (league.domain.consultations.reading)
    answers = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "board", "sitting", "seat", "version"], name="consultation_once"),
            only_words("consultation", "status", ConsultationStatus),
        ]
        indexes = [
            models.Index(
                fields=["place", "id"], condition=models.Q(status__in=["asked", "working"]), name="consultation_waits"
            ),
            models.Index(fields=["asked_by", "created"], name="consultation_of_asker"),
            models.Index(fields=["finished"], condition=models.Q(status="failed"), name="consultation_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.version} in match {self.match_id}, board {self.board}, sitting {self.sitting}, seat {self.seat}"
