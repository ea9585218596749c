"""Tables of teams: people who share bots, and who else counts as an owner of a bot."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from league.enums import TeamRole
from league.models.bots import Bot
from league.models.people import Player
from league.models.words import only_words


class Team(models.Model):
    """A team: people who share bots. Each of its bots still has one owner, who is responsible for it."""

    name = models.SlugField(
        max_length=40, unique=True
    )  # Teams and players share their names (league.domain.core.names).
    created = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """A player in a team, or invited to it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=TeamRole)
    invited = models.DateTimeField()
    since = models.DateTimeField(null=True)  # When the player accepted the invitation; null: not yet.
    # True if everybody may read that the player is in it.
    is_public = models.BooleanField(default=False, db_default=False, db_column="shown")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "player"], name="team_member_once"),
            only_words("member", "role", TeamRole),
        ]

    def __str__(self) -> str:
        return f"player {self.player_id} in team {self.team_id}: {self.role}"


class CoOwner(models.Model):
    """A player who counts as an owner of a bot besides its owner: a member of its team, or somebody who was one, or who owned it."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="co_owners")
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="co_owned")
    until = models.DateTimeField(null=True)  # When that ends (league.domain.people.ownership); null: while in the team.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bot", "player"], name="co_owner_once")]
        indexes = [models.Index(fields=["until"], condition=Q(until__isnull=False), name="co_owner_former")]

    def __str__(self) -> str:
        return f"player {self.player_id} counts as an owner of bot {self.bot_id}"


class BotOffer(models.Model):
    """An offer of the owner to hand a bot on to another player, who has not answered yet."""

    bot = models.OneToOneField(Bot, primary_key=True, on_delete=models.CASCADE, related_name="offer")
    receiver = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="offers")
    created = models.DateTimeField()

    def __str__(self) -> str:
        return f"bot {self.bot_id} offered to player {self.receiver_id}"
