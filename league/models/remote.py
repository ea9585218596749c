"""Tables of remote bots: their connections, and what they are asked in matches."""

from __future__ import annotations

from django.db import models

from league.models.bots import Bot
from league.models.matches import Party


class RemoteLink(models.Model):
    """The connection of a remote bot: its author's program asks for requests again and again."""

    bot = models.OneToOneField(Bot, on_delete=models.CASCADE, related_name="link")
    since = models.DateTimeField()  # When the connection began.
    seen = models.DateTimeField(db_index=True)  # When the program last asked.
    matches = models.PositiveSmallIntegerField(default=1)  # The most matches that it plays at a time.

    def __str__(self) -> str:
        return f"the connection of {self.bot}"


class RemoteLine(models.Model):
    """A line to a remote bot in a match, and the bot's answer: null until it comes. Removed after the match, whose log has both."""

    party = models.ForeignKey(Party, on_delete=models.CASCADE, related_name="lines", db_index=False)
    number = models.PositiveIntegerField()  # Number of the line in the match, from 1.
    request = models.TextField()
    answer = models.TextField(null=True)  # noqa: DJ001 - a program may answer with an empty line

    class Meta:
        constraints = [models.UniqueConstraint(fields=["party", "number"], name="remote_line_once")]

    def __str__(self) -> str:
        return f"line {self.number} of {self.party}"
