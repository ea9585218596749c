"""Guests: visitors without an account who sit at a table.

A guest is known by the key in a signed cookie; the database stores only the key's SHA-256, as for keys of the API. A guest plays against house
bots, without advice and unrated. If the guest signs up or logs in within `KEEP`, the tables move to the account; otherwise they are removed after
`KEPT`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from league.domain.core import clock, journal
from league.domain.core.errors import TooMany
from league.domain.people import players
from league.enums import TableStatus
from league.models import Player, Table
from league.models.tables import LIVE

NAME = gettext_noop("guest")  # The name in the journal, and at the seat of a table that others may see.
KEEP = timedelta(hours=1)  # How long after its end an account can take over a table.
KEPT = timedelta(days=1)
HOUR = timedelta(hours=1)
BATCH = 200  # Rows of one DELETE.
LOCK = 7453  # Number of PostgreSQL's advisory lock for counting tables and adding one.


@dataclass(frozen=True)
class Guest:
    """A visitor without an account. key, address: digests of the key in the guest's cookie and of their network address ("": unknown)."""

    key: str
    address: str = ""


Sitter = Player | Guest


def new_key() -> str:
    """Return a new key for a cookie."""
    return secrets.token_urlsafe(24)


def guest(key: str, address: str = "") -> Guest:
    """Return the guest with this key. The digest of the address uses a secret key, so that nobody can find the address by trying all."""
    keyed = hmac.new(settings.SECRET_KEY.encode(), f"guest:{address}".encode(), hashlib.sha256)
    return Guest(hashlib.sha256(key.encode()).hexdigest(), keyed.hexdigest()[:32] if address else "")


def own(sitter: Sitter) -> QuerySet[Table]:
    """Select the tables of a person or of a guest."""
    if isinstance(sitter, Player):
        return Table.objects.filter(player=sitter)
    return Table.objects.filter(player=None, guest=sitter.key)


def owns(sitter: Sitter | None, row: Table) -> bool:
    """Return True if the table belongs to this person or guest."""
    if isinstance(sitter, Player):
        return sitter.pk == row.player_id
    return sitter is not None and row.player_id is None and row.guest == sitter.key


def name_of(sitter: Sitter) -> str:
    """Return the name of the person or guest in the journal."""
    return sitter.name if isinstance(sitter, Player) else NAME


def lock() -> None:
    """Let one process at a time count the tables and add one, until the end of the transaction. SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def ask(guest: Guest, *, now: datetime) -> None:
    """Check that a guest may sit down; the caller has locked the tables.

    Raise TooMany at the limit of the browser, of its address, or of all guests. Before that, league.web.common.limits limits the tables that an
    address opens in an hour, so that a new cookie gains nothing.
    """
    started = own(guest).filter(created__gt=now - HOUR).exclude(status=TableStatus.VOID).count()
    if started >= settings.QUOTA_TABLES:
        raise TooMany(
            "you have started {used} tables in the last hour, the limit for guests; sign up, or try again later",
            retry_after=600,
            used=started,
        )
    live = Table.objects.filter(player=None, status__in=LIVE)
    most = settings.GUEST_TABLES
    if live.count() >= most:
        raise TooMany(
            "guests have taken all {most} tables for guests; try again in a few minutes, or sign up: there is "
            "room for players",
            retry_after=120,
            most=most,
        )
    if guest.address and live.filter(guest_from=guest.address).count() >= max(1, most // 2):
        raise TooMany(
            "too many guests play from your network; try again in a few minutes, or sign up: there is room for players",
            retry_after=120,
        )


def adopt(player: Player, guest: Guest, *, now: datetime | None = None) -> int:
    """Give the guest's running table, and those that ended within the last hour, to a player who has just signed in; return their number.

    The tables stay unrated. If the player sits at another table already, the guest's running table is given up, because nobody sits at two.
    """
    now = clock.now_or(now)
    if not own(guest).exists():
        return 0
    with transaction.atomic():
        lock()
        players.lock(player.pk)
        rows = own(guest).filter(Q(status__in=LIVE) | Q(finished__gt=now - KEEP))
        if own(player).filter(status__in=LIVE).exists():
            rows = rows.exclude(status__in=LIVE)
        names = list(rows.values_list("public_id", flat=True))
        own(guest).filter(public_id__in=names).update(player=player, guest="", guest_from="")
        lines: list[tuple[str, str, dict[str, Any]]] = [("table.adopted", f"table:{name}", {}) for name in names]
        journal.append_all(lines, now=now, actor=player.name)
    return len(names)


def remove(*, now: datetime | None = None) -> int:
    """Remove the finished tables of guests after a day; return their number. Repeatable."""
    now, count = clock.now_or(now), 0
    old = Table.objects.filter(player=None, created__lte=now - KEPT).exclude(status__in=LIVE).order_by("created")
    while rows := list(old.values_list("pk", flat=True)[:BATCH]):
        count += Table.objects.filter(pk__in=rows, player=None).delete()[1].get("league.Table", 0)
    return count
