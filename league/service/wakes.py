"""Wake-ups: who waits for a row to move is told once the transaction that moves it is committed.

The database tells. On PostgreSQL whoever moves it says so (NOTIFY), on SQLite every commit changes a number that is cheap to look at. One thread of
a process hears for all who wait in it, and only while somebody does. A wake-up says that something has moved, never what has become of it:
whoever is woken reads the row, with their own rights.

It may be lost, so nobody waits for it alone: they look by themselves as well, seldom where wake-ups are heard (`hears`), often where they are not,
as behind a pool of connections in transaction mode, where a session that listens is none.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import connection, connections

log = logging.getLogger("league.wakes")
CHANNEL = "tute_moves"
LOOK_S = 0.01  # between two looks at the number of SQLite
STAYS_S = 10.0  # for so long it goes on when nobody waits any more: they come again
REST_S = 3.0  # after the database did not answer
TURN_S = 0.25  # between two looks whether somebody waits still

Ring = Callable[[str], None]  # is told what has moved; nothing where it may be anything


def tell(name: str) -> None:
    """With the transaction at hand: `name` has moved. One statement, on SQLite none."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, name])


class Bell:
    """Rings when one thing may have moved."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rung = threading.Event()

    def ring(self, name: str) -> None:
        """As `Ring`."""
        if name in ("", self.name):
            self._rung.set()

    def wait(self, seconds: float) -> bool:
        """Until it rings, or so long; whether it has since the last call, or before the first one."""
        rung = self._rung.wait(seconds)
        self._rung.clear()
        return rung


class Ear:
    """What one process hears."""

    def __init__(self) -> None:
        self.hears = False  # at present
        self._rings: list[Ring] = []
        self._thread: threading.Thread | None = None
        self._wanted_until = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def attend(self, name: str) -> Iterator[Bell]:
        """Wait for one thing. Look at it within, before the first `wait`: what moves after that rings."""
        bell = Bell(name)
        self.listen(bell.ring)
        try:
            yield bell
        finally:
            self.leave(bell.ring)

    def listen(self, ring: Ring) -> None:
        """Call `ring` in the thread that hears, until `leave`."""
        with self._lock:
            self._rings = [*self._rings, ring]
            if self._thread is None and _can_hear():
                self._thread = threading.Thread(target=self._run, name="wakes", daemon=True)
                self._thread.start()

    def leave(self, ring: Ring) -> None:
        """No more."""
        with self._lock:
            rings = list(self._rings)
            rings.remove(ring)
            self._rings = rings
            self._wanted_until = time.monotonic() + STAYS_S

    def close(self, patience: float = 10) -> None:
        """End the thread, which comes again with who waits next."""
        with self._lock:
            self._wanted_until, thread = 0.0, self._thread
        if thread is not None:
            thread.join(patience)

    def _is_wanted(self) -> bool:
        """Whether to go on; where not, the thread is none any more."""
        with self._lock:
            if self._rings or time.monotonic() < self._wanted_until:
                return True
            self._thread = None
            return False

    def _tell(self, name: str) -> None:
        for ring in self._rings:
            ring(name)

    def _run(self) -> None:
        """Go on, whatever becomes of the database: who waits looks by themselves meanwhile."""
        away = False
        while self._is_wanted():
            link = connections.create_connection("default")
            try:
                link.ensure_connection()
                if away:
                    log.warning("wake-ups are heard again")
                away = False
                (self._hear_postgresql if link.vendor == "postgresql" else self._hear_sqlite)(link.connection)
                return
            except Exception as error:
                if not away:
                    log.warning("no wake-ups are heard (%s); trying again until they are", error)
                away = True
            finally:
                self.hears = False
                with suppress(Exception):
                    link.close()
            time.sleep(REST_S)

    def _began(self) -> None:
        self.hears = True
        self._tell("")  # what has moved before was told to nobody

    def _hear_postgresql(self, link: Any) -> None:
        link.execute(f"LISTEN {CHANNEL}")
        self._began()
        while self._is_wanted():
            for told in link.notifies(timeout=TURN_S):
                self._tell(told.payload)

    def _hear_sqlite(self, link: Any) -> None:
        """The number changes with each commit of any other connection, of this process and of others."""
        known = number = None
        while self._is_wanted():
            until = time.monotonic() + TURN_S
            while time.monotonic() < until:
                (number,) = link.execute("PRAGMA data_version").fetchone()
                if known is None:
                    self._began()
                elif number != known:
                    self._tell("")
                known = number
                time.sleep(LOOK_S)


def _can_hear() -> bool:
    """Not where each transaction may be another session."""
    return not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS", False)


EAR = Ear()
