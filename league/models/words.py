"""Columns that hold a word of `league.enums`, as the database keeps them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


def only_words(
    table: str, column: str, words: type[models.TextChoices], *, or_empty: bool = False
) -> models.CheckConstraint:
    """The database refuses any other word, whoever writes it. A word that is new to the enum comes with a migration."""
    allowed = [*words.values, *([""] if or_empty else [])]
    return models.CheckConstraint(condition=Q(**{f"{column}__in": allowed}), name=f"{table}_{column}_word")
