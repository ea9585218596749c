"""The capabilities that the kernel grants this process: capabilities(7), by number."""

from __future__ import annotations

import os
from functools import cache

from engine.sandbox.cgroups import attest

SYS_ADMIN = 21
SYS_NICE = 23


def effective(capability: int) -> bool:
    """Return True if this process has a capability in effect. A worker does not change its own."""
    return bool(_mask(os.getpid()) >> capability & 1)


@cache
def _mask(pid: int) -> int:
    return int(attest.status(pid)["CapEff"], 16)
