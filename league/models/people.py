"""Tables of people: players, their sessions, keys, quotas, names and subscriptions."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from league.enums import Period, Right, TokenScope
from league.models.words import only_words


class Player(models.Model):
    """A person with an account, who owns bots. The engine speaks of seats instead."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="player")
    name = models.SlugField(max_length=40, unique=True)
    created = models.DateTimeField()
    # When the ban began, when it ends (null: never) and its reason (league.domain.people.bans).
    banned = models.DateTimeField(null=True)
    banned_until = models.DateTimeField(null=True)
    banned_for = models.TextField(blank=True, default="", db_default="")
    # The secret part of the address of the player's own calendar; empty: there is none.
    calendar_link = models.CharField(max_length=40, blank=True, default="", db_default="")
    # False: nobody may challenge the player by name (league.domain.tables.challenges).
    challengeable = models.BooleanField(default=True, db_default=True)
    # When the player accepted the licence of the open data (league.domain.upkeep.open_data); null: not.
    open_data = models.DateTimeField(null=True)

    class Meta:
        permissions = [(right.value, right.name.lower()) for right in Right]

    def __str__(self) -> str:
        return self.name


class SessionOwner(models.Model):
    """The account of a signed-in session (league.domain.people.sessions)."""

    # Without a database constraint, because the previous release deletes sessions and does not know this table.
    session = models.OneToOneField(
        "sessions.Session", primary_key=True, on_delete=models.CASCADE, related_name="owner", db_constraint=False
    )
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"a session of account {self.account_id}"


class Quota(models.Model):
    """A player's own limit, set by an operator (league.domain.people.quotas); everybody else has the default."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="quotas")
    name = models.CharField(max_length=20)
    value = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "name"], name="quota_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.value} of player {self.player_id}"


class TakenName(models.Model):
    """A reserved name: nobody else may take a name that looks the same (league.pure.names)."""

    kind = models.CharField(max_length=10)  # "player", "bot", or "event" for tournaments, events and circuits.
    skeleton = models.CharField(max_length=400)
    name = models.CharField(max_length=120)  # The name as its holder wrote it.
    holder = models.CharField(max_length=80)  # "player:ana", "bot:rufo".
    until = models.DateTimeField(
        null=True
    )  # When anybody may take the name, because its holder has given it up; null: in use.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "skeleton"], name="name_once")]
        indexes = [models.Index(fields=["holder"], name="name_of_holder")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Subscription(models.Model):
    """A player's confirmed address, the digest by mail, and the state of its delivery (league.domain.people.subscriptions)."""

    player = models.OneToOneField(Player, primary_key=True, on_delete=models.CASCADE, related_name="subscription")
    # The address that `asked` and `confirmed` refer to. If the account has another address now, nothing is sent.
    address = models.CharField(max_length=254)
    asked = models.DateTimeField(null=True)  # When the last confirmation link was sent.
    confirmed = models.DateTimeField(null=True)
    # How often a digest is sent; empty: never.
    period = models.CharField(max_length=10, blank=True, default="", choices=Period)
    language = models.CharField(max_length=10, default="es")  # Language of the letters.
    # Base of the links, such as "https://league.example".
    site = models.CharField(max_length=200, blank=True, default="")
    # Digests have covered everything before this time; null: the first one begins with the current period.
    told = models.DateTimeField(null=True)
    due = models.DateTimeField(null=True)  # When the next digest is tried.
    tries = models.PositiveSmallIntegerField(default=0)  # Attempts to send the current digest.
    # End of the period whose digest was given to the mail server while nobody knows whether the server accepted it.
    doubt = models.DateTimeField(null=True)
    # Letters other than digests that were sent on the day `letters_on` (UTC).
    letters = models.PositiveSmallIntegerField(default=0, db_default=0)
    letters_on = models.DateField(null=True)

    class Meta:
        constraints = [only_words("subscription", "period", Period, or_empty=True)]
        indexes = [models.Index(fields=["due"], condition=~models.Q(period=""), name="subscription_due")]

    def __str__(self) -> str:
        return f"digest of player {self.player_id}: {self.period or 'none'}"


class Passkey(models.Model):
    """A passkey of a player (league.domain.people.passkeys): a device signs in with it, without name and password."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=60)  # As its owner calls it.
    credential = models.CharField(max_length=1400, unique=True)  # Its id, in base64url.
    public_key = models.BinaryField()
    sign_count = models.PositiveBigIntegerField(default=0)  # The counter of its last use; 0 if the device has none.
    created = models.DateTimeField()
    last_used = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"passkey {self.pk} of player {self.player_id}"


class ApiToken(models.Model):
    """A revocable key of the REST API. Only its SHA-256 is stored; the key itself is shown once."""

    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="tokens")
    label = models.CharField(max_length=60)
    prefix = models.CharField(max_length=8)  # First characters of the key, by which its owner recognises it.
    sha256 = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField()
    last_used = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)
    scope = models.CharField(max_length=10, choices=TokenScope, default=TokenScope.MANAGE, db_default=TokenScope.MANAGE)
    expires = models.DateTimeField(null=True)  # null: never.

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(scope__in=list(TokenScope)), name="token_scope_is_known")
        ]
        indexes = [models.Index(fields=["prefix"], name="token_prefix")]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.label})"
