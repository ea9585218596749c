"""Processes that end together with the process that started them, however that one ends."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Ask the kernel for SIGKILL when the process `parent` ends; exit if it has ended already. Linux only; elsewhere only the check is made."""
    with suppress(OSError, ImportError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # It may have ended before that call. It may itself be process 1, so compare with its id.
    if os.getppid() != parent:
        sys.exit("the process that started this one has ended")
