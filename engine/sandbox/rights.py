"""What the kernel lets this process do: capabilities(7), by number."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

SYS_ADMIN = 21
SYS_NICE = 23


def effective(capability: int) -> bool:
    """Whether this process has a capability in effect. A worker does not change its own."""
    return bool(_mask(os.getpid()) >> capability & 1)


@cache
def _mask(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return int(next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0"), 16)
