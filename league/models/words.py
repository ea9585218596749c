"""Constraints that let a column hold only the words of an enum of `league.enums`."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


def only_words(
    table: str, column: str, words: type[models.TextChoices], *, or_empty: bool = False
) -> models.CheckConstraint:
    """Return a constraint by which the database refuses any other word. A new word of the enum needs a migration."""
    allowed = [*words.values, *([""] if or_empty else [])]
    return models.CheckConstraint(condition=Q(**{f"{column}__in": allowed}), name=f"{table}_{column}_word")
