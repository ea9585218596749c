"""The table of cases: results of two owners that people should look at."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.enums import AuditConclusion
from league.models.people import Player
from league.models.pools import Pool
from league.models.words import Concluded, only_words


class Case(Concluded):
    """Results of one owner's bots against another's that their ratings do not explain (league.domain.upkeep.cases). It changes no result."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="cases")
    loser = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="+"
    )  # Their bots scored less than predicted.
    winner = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="+")
    boards = models.PositiveIntegerField()
    points = models.FloatField()  # Board points of the loser's bots.
    expected = models.FloatField()  # The points that the ratings predict.
    deviations = models.FloatField()  # The difference in standard deviations.
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pool", "loser", "winner"], condition=Q(closed=None), name="case_open_once"
            ),
            only_words("case", "conclusion", AuditConclusion, or_empty=True),
        ]
        indexes = [models.Index(fields=["-deviations"], condition=Q(closed=None), name="case_open")]

    def __str__(self) -> str:
        return f"{self.loser_id} against {self.winner_id} in pool {self.pool_id}"
