"""Create requests that carry an Idempotency-Key: the second one gets the first one's answer.

The key, what the request makes and the kept answer are one transaction. A process that dies in the middle leaves nothing of them, so
the key is free at once; a repetition that comes meanwhile waits for the end of the first request at the unique key.
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
# A row without an answer is of a league before one transaction held all: its process is dead, or will be done by then.
IN_DOUBT = timedelta(minutes=1)


def fingerprint(*parts: bytes | str) -> str:
    """SHA-256 over the parts that make two requests the same: method, path, body."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def begin(player: Player, key: str, request_sha256: str, *, now: datetime | None = None) -> tuple[IdempotencyKey, bool]:
    """The row of `key`, and whether this is the first request with it. A repetition finds `status`, `answer` and `location` in the row.

    To be called in the transaction that makes what the request asks for. Raises Refused for a key used with another request.
    """
    now = clock.given(now)
    if not 1 <= len(key) <= 80:
        raise Refused("an Idempotency-Key has 1 to 80 characters; a random UUID is a good one")
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an Idempotency-Key is kept in the transaction of the work, and there is none")
    row, fresh = IdempotencyKey.objects.select_for_update().get_or_create(
        player=player, key=key, defaults={"request_sha256": request_sha256, "created": now}
    )
    age = now - row.created
    if not fresh and (age > KEPT or (row.status is None and age > IN_DOUBT)):
        row.request_sha256, row.created, row.status, fresh = request_sha256, now, None, True
        row.save(update_fields=["request_sha256", "created", "status"])
    if row.request_sha256 != request_sha256:
        raise Refused("this Idempotency-Key was used for a different request; use a new key for a new request")
    if not fresh and row.status is None:
        raise Refused("a request with this Idempotency-Key is still at work; ask again in a moment")
    return row, fresh


def finish(row: IdempotencyKey, status: int, answer: Any, location: str = "", *, now: datetime | None = None) -> None:
    """Keep the answer of the first request; after the commit, forget the player's old ones."""
    IdempotencyKey.objects.filter(pk=row.pk).update(status=status, answer=answer, location=location)
    old = IdempotencyKey.objects.filter(player=row.player_id, created__lt=clock.given(now) - KEPT)
    # Not before: requests with other keys would wait for the locks of these rows.
    transaction.on_commit(lambda: old.delete() and None, robust=True)
