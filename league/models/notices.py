"""Tables of notices: what players follow, the notices to them, and the ways by which they want notices."""

from __future__ import annotations

from functools import reduce
from operator import or_

from django.db import models
from django.db.models import Q

from league.enums import NoticeKind, NoticeWay
from league.models.bots import Bot
from league.models.people import Player
from league.models.records import LeagueEvent
from league.models.tournaments import Circuit, Event, Tournament
from league.models.words import only_words

TARGETS = ("bot", "person", "tournament", "event", "circuit")


class Follow(models.Model):
    """A bot, player, tournament, event or recurring league that a player follows (league.domain.notices.following)."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="follows")
    # The constraints follow_bot_once and so on have indexes.
    bot = models.ForeignKey(Bot, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Player, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    tournament = models.ForeignKey(Tournament, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    event = models.ForeignKey(Event, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    circuit = models.ForeignKey(Circuit, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    created = models.DateTimeField()

    class Meta:
        constraints = [
            *(models.UniqueConstraint(fields=[name, "player"], name=f"follow_{name}_once") for name in TARGETS),
            models.CheckConstraint(
                condition=reduce(
                    or_,
                    (Q(**{f"{name}__isnull": name != column for name in TARGETS}) for column in TARGETS),
                ),
                name="follow_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"player {self.player_id} follows {self.pk}"


class NoticeSource(models.Model):
    """A line of the journal from which notices still have to be made. It is deleted when all of them are stored (league.domain.notices.spreading)."""

    line = models.OneToOneField(LeagueEvent, on_delete=models.CASCADE, related_name="+")
    due = models.DateTimeField()
    reached = models.BigIntegerField(default=0)  # Position of the last recipient whose notice is stored.

    class Meta:
        indexes = [models.Index(fields=["due", "id"], name="notice_source_due")]

    def __str__(self) -> str:
        return f"notices of line {self.line_id}"


class Notice(models.Model):
    """A notice to a player, stored once for each subject. Pages put it into words (league.web.people.notice_words)."""

    # The index notice_of_player begins with this column.
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="notices", db_index=False)
    kind = models.CharField(max_length=12, choices=NoticeKind)
    about = models.CharField(max_length=120)  # The subject, such as "request:12" or "bot:rufo:2026-01-31".
    text = models.CharField(max_length=20)  # The sentence, by name (league.domain.notices.kinds).
    words = models.JSONField(default=dict)  # The values in the sentence.
    # The other player in the sentence; the notice is removed with this player's account.
    actor = models.ForeignKey(Player, null=True, on_delete=models.CASCADE, related_name="+")
    count = models.PositiveIntegerField(default=1)  # How often it happened since the player last read of it.
    mark = models.CharField(max_length=40, blank=True, default="")  # Name of the last occurrence that was counted.
    created = models.DateTimeField()
    read = models.DateTimeField(null=True)
    due = models.DateTimeField(null=True)  # When a letter about it is due; null: none is, or the next digest has it.
    mailed = models.DateTimeField(null=True)  # When a letter with it was given to the mail server.

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player", "kind", "about"], name="notice_once"),
            only_words("notice", "kind", NoticeKind),
        ]
        indexes = [
            models.Index(fields=["player", "-id"], name="notice_of_player"),
            models.Index(fields=["player", "created"], condition=Q(read=None), name="notice_unread"),
            models.Index(fields=["due", "id"], condition=Q(due__isnull=False), name="notice_due"),
            models.Index(fields=["created"], name="notice_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.text} {self.about} to player {self.player_id}"


class NoticeChoice(models.Model):
    """The way by which a player wants notices of a kind; without a row it is the kind's default."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="notice_choices", db_index=False)
    kind = models.CharField(max_length=12, choices=NoticeKind)
    way = models.CharField(max_length=8, choices=NoticeWay)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player", "kind"], name="notice_choice_once"),
            only_words("notice_choice", "kind", NoticeKind),
            only_words("notice_choice", "way", NoticeWay),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.way} for player {self.player_id}"
