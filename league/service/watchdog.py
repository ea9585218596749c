"""A watchdog: a thread that ends this process if one of its loops has stood still, so that a supervisor starts it again.

The time counts in the watchdog's own rounds. A process that was stopped, frozen with its container, asleep with its machine, or hardly got the
processor has missed nothing: no round of the watchdog went by either.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
import time

log = logging.getLogger("league.loops")
ROUND_S = 1.0  # Seconds between two looks.
LAST_WORDS_S = 10  # Whoever reads the log may stand still, too; then the kernel ends the process.


class Watchdog:
    """The loops of this process, and the round of the watchdog until which each has promised its next sign of life."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._rounds_s = 0.0

    def note(self, name: str, patience: float) -> None:
        """Note a sign of life of the loop `name`, which promises the next one within `patience` seconds."""
        self._due[name] = self._rounds_s + patience

    def forget(self, name: str) -> None:
        """Stop watching a loop that has ended as it should."""
        self._due.pop(name, None)

    def start(self) -> None:
        """Start to watch. Only a process that somebody starts again may call this."""
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(ROUND_S)
            self._rounds_s += ROUND_S
            for name, due in list(self._due.items()):
                if self._rounds_s > due:
                    end(f"the loop {name!r} has stood still for too long")


def end(why: str) -> None:
    """End this process with code 1, and log why and where each of its threads stands."""
    signal.alarm(LAST_WORDS_S)
    log.critical("%s; this process ends, to be started again", why)
    faulthandler.dump_traceback(sys.__stderr__ or 2)
    os._exit(1)
