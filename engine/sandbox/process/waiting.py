"""Waiting until descriptors can be read."""

from __future__ import annotations

import math
import select
from collections.abc import Iterable


def readable(descriptors: Iterable[int], timeout_s: float | None) -> list[int]:
    """Return the descriptors that can be read or have ended, at the latest after `timeout_s` (None: wait for ever).

    `select.select` refuses descriptors above 1023, which a worker with many bots has.
    """
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [ready for ready, _ in poll.poll(None if timeout_s is None else max(0, math.ceil(timeout_s * 1000)))]
