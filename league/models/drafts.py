"""The table of drafts."""

from __future__ import annotations

from django.db import models

from league.models.people import Player


class Draft(models.Model):
    """The text of a bot that its author is writing and has not submitted (league.domain.bots.drafts)."""

    # The constraint draft_once has an index.
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="drafts", db_index=False)
    bot = models.CharField(max_length=40, blank=True)  # Slug of the player's bot; empty for a new bot.
    language = models.CharField(
        max_length=12, default="python", db_default="python"
    )  # A key of league.domain.bots.languages.
    text = models.TextField()
    updated = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "bot", "language"], name="draft_once")]

    def __str__(self) -> str:
        return f"draft of {self.bot or 'a new bot'} by player {self.player_id}"
