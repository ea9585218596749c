"""Idempotency keys: a repeated create request gets the response of the first one.

The key, the created rows and the stored response are written in one transaction. If the process dies before the commit, nothing remains and the key
is free at once. A repetition that arrives in between waits at the unique key until the first request ends.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.models import IdempotencyKey, Player

KEPT = timedelta(hours=24)


def fingerprint(*parts: bytes | str) -> str:
    """Return the SHA-256 of the parts that identify a request: method, path, body."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def begin(player: Player, key: str, request_sha256: str, *, now: datetime | None = None) -> tuple[IdempotencyKey, bool]:
    """Return the row of `key`, and True if this is the first request with it. For a repetition the row has `status`, `answer` and `location`.

    Call it in the transaction that does what the request asks for. Raise Refused if the key was used for a different request.
    """
    now = clock.now_or(now)
    if not 1 <= len(key) <= 80:
        raise Refused("an Idempotency-Key has 1 to 80 characters; a random UUID is a good one")
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an Idempotency-Key needs a transaction around the work, and there is none")
    row, fresh = IdempotencyKey.objects.select_for_update().get_or_create(
        player=player, key=key, defaults={"request_sha256": request_sha256, "created": now}
    )
    if not fresh and now - row.created > KEPT:
        row.request_sha256, row.created, row.status, fresh = request_sha256, now, None, True
        row.save(update_fields=["request_sha256", "created", "status"])
    if row.request_sha256 != request_sha256:
        raise Refused("this Idempotency-Key was used for a different request; use a new key for a new request")
    return row, fresh


def finish(row: IdempotencyKey, status: int, answer: Any, location: str = "", *, now: datetime | None = None) -> None:
    """Store the response of the first request; after the commit delete the player's expired ones."""
    IdempotencyKey.objects.filter(pk=row.pk).update(status=status, answer=answer, location=location)
    old = IdempotencyKey.objects.filter(player=row.player_id, created__lt=clock.now_or(now) - KEPT)
    # Only after the commit: requests with other keys would wait for the locks of these rows.
    transaction.on_commit(lambda: old.delete() and None, robust=True)
