"""Certificates of the results of finished tournaments.

The key that signs them follows from SECRET_KEY, like all secrets that are not stored: every web process has it, backups have it, and whoever sets a
new SECRET_KEY because the old one is known also ends the certificates that a thief could sign.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from django.utils.crypto import salted_hmac

from engine.certificates import FORMAT, signed_bytes
from league.domain.people import ownership, players
from league.enums import MatchStatus, TournamentStatus
from league.models import Entry, LeagueEvent, Party, Player, Tournament

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def find(tournament: Tournament, number: int) -> dict[str, Any] | None:
    """Return what the certificate of an entry says, with the names and the place at the end of the tournament; None if it gets none.

    There is none before the end, for an entry that has not played or was disqualified, and for a player who is banned or has closed the account.
    Four queries.
    """
    if tournament.status != TournamentStatus.FINISHED or tournament.finished is None:
        return None
    rows = tournament.entries.filter(number=number, disqualified=None, place__isnull=False)
    entry = rows.select_related("version__bot__owner").first()
    owner = _owner_then(entry, tournament) if entry else None
    if entry is None or owner is None or owner.banned is not None or owner.name.startswith(players.CLOSED):
        return None
    if not Party.objects.filter(
        version=entry.version_id, match__tournament=tournament, match__status=MatchStatus.FINISHED
    ).exists():
        return None
    return {
        "format": FORMAT,
        "tournament": tournament.name,
        "organiser": tournament.owner.name,
        "game": tournament.pool.game,
        "finished": tournament.finished.date().isoformat(),
        "bot": entry.version.bot.slug,
        "version": entry.version.number,
        "sha256": entry.version.package_id,
        "player": owner.name,
        "place": entry.place,
        "entries": tournament.entries.count(),
    }


def _owner_then(entry: Entry, tournament: Tournament) -> Player | None:
    """Return who owned the bot of an entry at the end of its tournament; None if that account is closed."""
    bot = entry.version.bot
    moves = LeagueEvent.objects.filter(
        subject=f"bot:{bot.slug}", kind=ownership.HANDED_ON, at__gt=tournament.finished
    ).order_by("id")
    first = moves.values_list("data", flat=True).first()
    return bot.owner if first is None else Player.objects.filter(name=first["was"]).first()


def sign(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate with the league's signature."""
    return {"certificate": fields, "signature": base64.b64encode(_key().sign(signed_bytes(fields))).decode()}


def public_key() -> str:
    """Return the public key in PEM, for `tute verify-certificate` and openssl."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return _key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _key() -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,  # Imported late: only these pages need it.
    )

    return Ed25519PrivateKey.from_private_bytes(
        salted_hmac("league.certificates", "Ed25519", algorithm="sha256").digest()
    )
