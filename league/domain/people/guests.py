"""Guests: visitors without an account, who may sit at a table or try a bot.

A guest is known by the key in a signed cookie; the database stores only the key's SHA-256, as for keys of the API. If the guest signs up or logs
in, tables and tries move to the account; otherwise they are removed after `KEPT`.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection

from league.models import Player

KEPT = timedelta(days=1)
HOUR = timedelta(hours=1)
LOCK = 7453  # Number of PostgreSQL's advisory lock, under which the tables and tries of guests are counted and created.
# Bits of a network prefix. Addresses with the same prefix belong to one household, school or server, and count as one.
V4_PREFIX, V6_PREFIX = 24, 48


@dataclass(frozen=True)
class Visitor:
    """A visitor without an account. key, network: digests of the key in their cookie and of their network ("": unknown)."""

    key: str
    network: str = ""


Person = Player | Visitor


def new_key() -> str:
    """Return a new key for a cookie."""
    return secrets.token_urlsafe(24)


def of_key(key: str, address: str = "") -> Visitor:
    """Return the guest with this key. The digest of the network uses a secret key, so that nobody can find the network by trying all."""
    keyed = hmac.new(settings.SECRET_KEY.encode(), f"guest:{_network(address)}".encode(), hashlib.sha256)
    return Visitor(hashlib.sha256(key.encode()).hexdigest(), keyed.hexdigest()[:32] if address else "")


def _network(address: str) -> str:
    try:
        network = ipaddress.ip_network(address, strict=False)
    except ValueError:
        return address
    prefix = V4_PREFIX if network.version == 4 else V6_PREFIX
    return str(network if network.prefixlen <= prefix else network.supernet(new_prefix=prefix))


def lock() -> None:
    """Let only one process at a time count and create, until the end of the transaction. SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
