"""Columns that hold the words of an enum of `league.enums`."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.enums import AuditConclusion


def only_words(
    table: str, column: str, words: type[models.TextChoices], *, or_empty: bool = False
) -> models.CheckConstraint:
    """Return a constraint by which the database refuses any other word. A new word of the enum needs a migration."""
    allowed = [*words.values, *([""] if or_empty else [])]
    return models.CheckConstraint(condition=Q(**{f"{column}__in": allowed}), name=f"{table}_{column}_word")


class Concluded(models.Model):
    """A row about which a person draws a conclusion, which everybody may read."""

    conclusion = models.CharField(
        max_length=10, choices=AuditConclusion, blank=True, db_default=""
    )  # Empty until then.
    why = models.TextField(blank=True, db_default="")
    closed_by = models.CharField(max_length=80, blank=True, db_default="")
    closed = models.DateTimeField(null=True)

    class Meta:
        abstract = True
