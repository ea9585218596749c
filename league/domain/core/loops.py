"""The background loops of a process. An error in a round is logged and counted, and the loop goes on.

An error that ends a loop (such as SystemExit) is logged, set in `trouble`, and ends the process, because a process with only some of its loops
running would look healthy. A loop that stands still ends the process, too (`league.service.watchdog`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable

from django.db import close_old_connections, connection

from league.service import changes
from league.service.alive import NEVER_S, REFUSAL, Signs
from league.service.watchdog import Watchdog

log = logging.getLogger("league.loops")
# Seconds that one round may take before the loop counts as stuck. A playing worker calls `alive` more often.
PATIENCE_S = 1800.0


class Loops:
    """The loops of one process, with their errors."""

    def __init__(self, kind: str = "") -> None:
        """Publish signs of life of a process of this `kind` ("worker" or "scheduler"); publish none if it is empty."""
        self._signs = Signs(kind) if kind else None
        self.watchdog = Watchdog()
        self._here = threading.local()  # The loop that this thread runs, with its patience.
        self.errors: Counter[str] = Counter()  # Errors since the start, by loop.
        self.trouble = ""  # Which loop has died, and why.
        self.broker = ""  # Why no hints arrive; empty if they do.
        self.lost: Callable[[], None] = lambda: None  # Called when a loop has died.
        self._latest: dict[str, str] = {}  # The error of the previous round, by loop.
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
        idle: float = 0.0,
    ) -> None:
        """Call `turn` every `every` seconds in its own thread until `leave`.

        patience: seconds that one round may take. idle: seconds between two rounds while the change counters stand still and `turn` returns nothing.
        """
        turn = _after_changes(turn, idle) if idle else turn
        arguments = (name, turn, every, at_once, patience)
        thread = threading.Thread(target=self._keep, args=arguments, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def attempt(self, name: str, turn: Callable[[], object]) -> bool:
        """Run one round in this thread; return True if it succeeded. An error is logged and counted under `name`."""
        try:
            close_old_connections()
            turn()
        except Exception as error:
            self.count(name)
            error_text = f"{type(error).__name__}: {error}".strip()
            # A repeated error, such as every round's while the database is down, needs no second traceback.
            is_repeat = self._latest.get(name) == error_text
            self._latest[name] = error_text
            log.error(
                "error in the loop %r, which continues: %s", name, error_text, exc_info=None if is_repeat else error
            )
            connection.close()
            return False
        self._latest.pop(name, None)
        return True

    def be(self, name: str, patience: float = PATIENCE_S) -> None:
        """Declare that this thread runs the loop `name`."""
        self._here.loop = name, patience
        self.alive()

    def alive(self) -> None:
        """Show that this thread's loop is alive, also in the middle of a round. Cheap enough to call often."""
        if loop := getattr(self._here, "loop", None):
            name, patience = loop
            self.watchdog.note(name, patience)
            if self._signs is not None:
                self._signs.show(name, patience, self._latest.get(name, ""))

    def refuse(self, why: str) -> None:
        """Publish why this process takes no work; "" if it takes work."""
        if self._signs is not None:
            self._signs.show(REFUSAL, NEVER_S, why)

    def count(self, name: str) -> None:
        """Count one error."""
        self.errors[name] += 1

    def leave(self, patience: float = 15) -> None:
        """Stop all loops; wait at most `patience` seconds for each to finish its round."""
        self._leaving.set()
        for thread in self._threads:
            thread.join(patience)
        if self._signs is not None:
            self._signs.close()

    def lose(self, name: str, error: BaseException) -> None:
        """Report that the loop `name` cannot continue, then end the process."""
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
            self.watchdog.forget(name)
            connection.close()


def _after_changes(turn: Callable[[], object], idle: float) -> Callable[[], object]:
    """Return `turn`, without the rounds in which it would find nothing new."""
    last: object = None
    again_at = 0.0

    def look() -> object:
        nonlocal last, again_at
        position = changes.position()
        if position == last and time.monotonic() < again_at:
            return None
        answer = turn()
        last, again_at = position, 0.0 if answer else time.monotonic() + idle
        return answer

    return look
