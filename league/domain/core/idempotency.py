"""Create requests that carry an Idempotency-Key: the second one gets the first one's answer."""

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
    """SHA-256 over the parts that make two requests the same: method, path, body."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def begin(player: Player, key: str, request_sha256: str, *, now: datetime | None = None) -> tuple[IdempotencyKey, bool]:
    """The row of `key`, and whether this is the first request with it. A repetition finds `status` and `answer` in the row.

    Raises Refused for a key used with another request, or one whose first request is still at work.
    """
    now = clock.given(now)
    if not 1 <= len(key) <= 80:
        raise Refused("an Idempotency-Key has 1 to 80 characters; a random UUID is a good one")
    with transaction.atomic():
        IdempotencyKey.objects.filter(created__lt=now - KEPT).delete()
        row, fresh = IdempotencyKey.objects.select_for_update().get_or_create(
            player=player, key=key, defaults={"request_sha256": request_sha256, "created": now}
        )
    if row.request_sha256 != request_sha256:
        raise Refused("this Idempotency-Key was used for a different request; use a new key for a new request")
    if not fresh and row.status is None:
        raise Refused("a request with this Idempotency-Key is still at work; ask again in a moment")
    return row, fresh


def finish(row: IdempotencyKey, status: int, answer: Any) -> None:
    """Keep the answer of the first request. Server errors are not kept: the key may be used again."""
    if status >= 500:
        row.delete()
    else:
        IdempotencyKey.objects.filter(pk=row.pk).update(status=status, answer=answer)
