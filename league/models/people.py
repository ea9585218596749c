"""Tables of people: players and the tokens of their programs."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from league.enums import Period, Right, TokenScope
from league.models.words import only_words


class Player(models.Model):
    """A person. The engine speaks of seats; a player owns bots."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="player")
    name = models.SlugField(max_length=40, unique=True)
    created = models.DateTimeField()
    # Since when, until when (null: for good) and why nobody can be signed in as them (league.domain.people.bans)
    banned = models.DateTimeField(null=True)
    banned_until = models.DateTimeField(null=True)
    banned_for = models.TextField(blank=True, default="", db_default="")

    class Meta:
        permissions = [(right.value, right.name.lower()) for right in Right]

    def __str__(self) -> str:
        return self.name


class SessionOwner(models.Model):
    """Whose session it is, where somebody is signed in (league.domain.people.sessions)."""

    # No constraint: the release before ends sessions, and knows nothing of this table
    session = models.OneToOneField(
        "sessions.Session", primary_key=True, on_delete=models.CASCADE, related_name="owner", db_constraint=False
    )
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"a session of account {self.account_id}"


class Quota(models.Model):
    """A limit that an operator has set for one player (league.domain.people.quotas); everybody else has the default."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="quotas")
    name = models.CharField(max_length=20)
    value = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "name"], name="quota_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.value} of player {self.player_id}"


class TakenName(models.Model):
    """What a name looks like, and who has it: no other may take a name that looks the same (league.pure.names)."""

    kind = models.CharField(max_length=10)  # "player", "bot", or "event": tournaments, events and circuits
    skeleton = models.CharField(max_length=400)
    name = models.CharField(max_length=120)  # as it was written when it was taken
    holder = models.CharField(max_length=80)  # "player:ana", "bot:rufo"

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "skeleton"], name="name_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Subscription(models.Model):
    """Whether a player is sent the digest of their bots by mail, and how far that has come (league.domain.people.subscriptions)."""

    player = models.OneToOneField(Player, primary_key=True, on_delete=models.CASCADE, related_name="subscription")
    # The address that `asked` and `confirmed` speak of. Where the account has another one by now, nothing is sent
    address = models.CharField(max_length=254)
    asked = models.DateTimeField(null=True)  # when a link by which it is confirmed was sent last
    confirmed = models.DateTimeField(null=True)
    period = models.CharField(max_length=10, blank=True, default="", choices=Period)  # empty: no digest
    language = models.CharField(max_length=10, default="es")  # of what is sent
    site = models.CharField(max_length=200, blank=True, default="")  # "https://league.example", where its links lead
    told = models.DateTimeField(null=True)  # what was before it has been told; null: begins with the period at hand
    due = models.DateTimeField(null=True)  # when the next one is tried
    tries = models.PositiveSmallIntegerField(default=0)  # of the one at hand

    class Meta:
        constraints = [only_words("subscription", "period", Period, or_empty=True)]
        indexes = [models.Index(fields=["due"], condition=~models.Q(period=""), name="subscription_due")]

    def __str__(self) -> str:
        return f"digest of player {self.player_id}: {self.period or 'none'}"


class ApiToken(models.Model):
    """A revocable key for the REST API. Only the SHA-256 of the key is stored; the key itself is shown once."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="tokens")
    label = models.CharField(max_length=60)
    prefix = models.CharField(max_length=8)  # first characters of the key, so that its owner can tell keys apart
    sha256 = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField()
    last_used = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)
    scope = models.CharField(max_length=10, choices=TokenScope, default=TokenScope.MANAGE, db_default=TokenScope.MANAGE)
    expires = models.DateTimeField(null=True)  # null: never

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(scope__in=list(TokenScope)), name="token_scope_is_known")
        ]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.label})"
