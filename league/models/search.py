"""The table of words by which the search finds names."""

from __future__ import annotations

from django.db import models


class SearchWord(models.Model):
    """A word in the name of a row that the search finds (league.domain.core.search_words)."""

    kind = models.CharField(
        max_length=10
    )  # The table of the row: "player", "team", "bot", "tournament", "event" or "circuit".
    word = models.CharField(max_length=60)  # In the form of addresses: small letters a to z, and digits.
    row = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "row", "word"], name="search_word_once")]
        # PostgreSQL needs these operators to find a word by its beginning.
        indexes = [
            models.Index(
                fields=["kind", "word", "row"],
                opclasses=["varchar_pattern_ops", "varchar_pattern_ops", "int8_ops"],
                name="search_word_begins",
            )
        ]

    def __str__(self) -> str:
        return f"{self.word} in the name of {self.kind} {self.row}"
