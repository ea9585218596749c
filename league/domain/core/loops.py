"""The loops of a process that must live: whatever a round of theirs raises is logged with its cause and counted, and they go on.

What no loop can go on from (SystemExit, for one) is told in the log and in `trouble`, and ends the process: a process that does only a part of its
work looks well and is not.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable

from django.db import close_old_connections, connection

from league.service.alive import NEVER_S, REFUSAL, Signs

log = logging.getLogger("league.loops")
PATIENCE_S = (
    1800.0  # for one round: what takes longer stands still. What a worker plays says more often that it goes on
)


class Loops:
    """The loops of one process, and what it has to tell of them."""

    def __init__(self, kind: str = "") -> None:
        """kind: of process, "worker" or "scheduler", whose signs of life are shown outside; without one none are."""
        self._signs = Signs(kind) if kind else None
        self._here = threading.local()  # the loop of this thread, and its patience
        self.errors: Counter[str] = Counter()  # caught since the start, by loop
        self.trouble = ""  # which loop is lost, and why
        self.broker = ""  # why no hints come; empty: they do
        self.lost: Callable[[], None] = lambda: None  # called when a loop is lost
        self._latest: dict[str, str] = {}  # the error of the round before, by loop
        self._leaving = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(
        self,
        name: str,
        turn: Callable[[], object],
        every: float,
        *,
        at_once: bool = False,
        patience: float = PATIENCE_S,
    ) -> None:
        """Call `turn` every so many seconds in a thread of its own, until `leave`. patience: seconds that one round may take."""
        words = (name, turn, every, at_once, patience)
        thread = threading.Thread(target=self._keep, args=words, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def attempt(self, name: str, turn: Callable[[], object]) -> bool:
        """One round, in this thread; whether it came to its end. An error is logged and counted under the loop's `name`."""
        try:
            close_old_connections()
            turn()
        except Exception as error:
            self.count(name)
            what = f"{type(error).__name__}: {error}".strip()
            # The same again, as while the database is away, needs no second traceback.
            known = self._latest.get(name) == what
            self._latest[name] = what
            log.error("an error in the loop %r, which goes on: %s", name, what, exc_info=None if known else error)
            connection.close()
            return False
        self._latest.pop(name, None)
        return True

    def be(self, name: str, patience: float = PATIENCE_S) -> None:
        """Say that this thread is the loop of that name from now on."""
        self._here.loop = name, patience
        self.alive()

    def alive(self) -> None:
        """Show that the loop of this thread goes on, also from within a round. Cheap: it may be called at any rate."""
        if self._signs is not None and (loop := getattr(self._here, "loop", None)):
            name, patience = loop
            self._signs.show(name, patience, self._latest.get(name, ""))

    def refuse(self, why: str) -> None:
        """Show why this process takes no work, "": it takes some."""
        if self._signs is not None:
            self._signs.show(REFUSAL, NEVER_S, why)

    def count(self, name: str) -> None:
        """One error more."""
        self.errors[name] += 1

    def leave(self, patience: float = 15) -> None:
        """End all loops; wait for their present rounds at most `patience` seconds each."""
        self._leaving.set()
        for thread in self._threads:
            thread.join(patience)
        if self._signs is not None:
            self._signs.close()

    def lose(self, name: str, error: BaseException) -> None:
        """The loop `name` can't go on: say so everywhere, then let the process end."""
        self.trouble = f"the loop {name!r} is lost: {type(error).__name__}: {error}"
        log.critical("%s; this process ends", self.trouble, exc_info=error)
        self.attempt(name, self.lost)

    def _keep(self, name: str, turn: Callable[[], object], every: float, at_once: bool, patience: float) -> None:
        try:
            self.be(name, patience + every)
            while not self._leaving.wait(0 if at_once else every):
                at_once = False
                self.attempt(name, turn)
                self.alive()
        except BaseException as error:
            self.lose(name, error)
        finally:
            connection.close()
