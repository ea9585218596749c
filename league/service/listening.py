"""Listening to the database: a thread that waits for a row to change wakes up when the change is committed.

On PostgreSQL the writer notifies (NOTIFY); on SQLite every commit changes a number that is cheap to read. One thread of a process listens for all
its subscriptions, and only while there are any. A notification names the thing that changed, without any content: the subscriber reads the row,
with their own rights.

A notification may be lost, so every subscriber also reads the row from time to time: rarely while the process is listening (`is_listening`), often
while it is not. Behind a connection pool in transaction mode no session can listen.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import connection, connections

from league.service import topics

log = logging.getLogger("league.listening")
CHANNEL = "tute_moves"
POLL_S = 0.01  # Time between two reads of SQLite's number.
LINGER_S = 10.0  # Time that the thread goes on without subscriptions, because the next ones often come soon.
RETRY_S = 3.0  # Time until the next attempt after the database did not answer.
CHECK_S = 0.25  # Time between two checks for subscriptions.

ANY = "*"  # Some commit has changed something.
# Ends of names of changes that concern one side of a table only. The other side would read the row for nothing.
WORKER, PAGES = "!", "?"
# Gets the name of the thing that changed; "" if anything may have changed while nobody listened, ANY after each commit on SQLite.
Callback = Callable[[str], None]


def notify(name: str, side: str = "") -> None:
    """Announce with the current transaction that `name` has changed, to everybody or to one side. One statement; none on SQLite."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, name + side])


class ChangeSubscription:
    """A subscription of one side to the changes of one thing."""

    def __init__(self, name: str, side: str) -> None:
        self._names = ("", name, name + side)
        self._moved = threading.Event()

    def receive(self, name: str) -> None:
        """Wake the waiting thread if `name` names the thing subscribed to, or is empty (a `Callback`)."""
        if name in self._names:
            self._moved.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for a change. Return True if there was one since the last call, or since the subscription began."""
        moved = self._moved.wait(seconds)
        self._moved.clear()
        return moved


class Listener:
    """The thread of a process that listens, and the subscribers whom it calls."""

    def __init__(self) -> None:
        self.is_listening = False
        self._callbacks: list[Callback] = []
        self._names: Counter[str] = Counter()  # Of the subscriptions.
        self._thread: threading.Thread | None = None
        self._wanted_until = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def subscribe(self, name: str, side: str = PAGES) -> Iterator[ChangeSubscription]:
        """Subscribe to one thing. Read it inside the block, before the first `wait`: later changes are received."""
        subscription = ChangeSubscription(name, side)
        with self._lock:
            self._names[name] += 1
        self.add(subscription.receive)
        try:
            yield subscription
        finally:
            self.remove(subscription.receive)
            with self._lock:
                self._names = +(self._names - Counter([name]))

    def add(self, callback: Callback) -> None:
        """Call `callback` in the listening thread until `remove`."""
        with self._lock:
            self._callbacks = [*self._callbacks, callback]
            if self._thread is None and _can_listen():
                self._thread = threading.Thread(target=self._run, name="listening", daemon=True)
                self._thread.start()

    def remove(self, callback: Callback) -> None:
        """Stop calling `callback`."""
        with self._lock:
            callbacks = list(self._callbacks)
            callbacks.remove(callback)
            self._callbacks = callbacks
            self._wanted_until = time.monotonic() + LINGER_S

    def close(self, patience: float = 10) -> None:
        """End the thread. The next subscription starts it again."""
        with self._lock:
            self._wanted_until, thread = 0.0, self._thread
        if thread is not None:
            thread.join(patience)

    def _is_wanted(self) -> bool:
        """Return True to continue; otherwise clear `_thread`."""
        with self._lock:
            if self._callbacks or time.monotonic() < self._wanted_until:
                return True
            self._thread = None
            return False

    def _call_all(self, name: str) -> None:
        for callback in self._callbacks:
            callback(name)

    def _run(self) -> None:
        """Listen, and reconnect whenever the database fails. In the meantime the subscribers read for themselves."""
        is_away = False
        while self._is_wanted():
            link = connections.create_connection("default")
            try:
                link.ensure_connection()
                if is_away:
                    log.warning("listening to the database again")
                is_away = False
                (self._listen_postgresql if link.vendor == "postgresql" else self._listen_sqlite)(link.connection)
                return
            except Exception as error:
                if not is_away:
                    log.warning("cannot listen to the database (%s); trying again", error)
                is_away = True
            finally:
                self.is_listening = False
                with suppress(Exception):
                    link.close()
            time.sleep(RETRY_S)

    def _begin(self) -> None:
        self.is_listening = True
        self._call_all("")  # Nobody was notified of earlier changes.

    def _listen_postgresql(self, link: Any) -> None:
        link.execute(f"LISTEN {CHANNEL}")
        self._begin()
        while self._is_wanted():
            for notification in link.notifies(timeout=CHECK_S):
                self._call_all(notification.payload)

    def _listen_sqlite(self, link: Any) -> None:
        """Read the number that changes with each commit of another connection, in this process or another.

        If it has changed, one query for all subscriptions finds those whose rows have: a query of each would cost their square at many tables.
        """
        last = number = None
        rows: dict[str, tuple[Any, ...]] = {}
        while self._is_wanted():
            until = time.monotonic() + CHECK_S
            while time.monotonic() < until:
                (number,) = link.execute("PRAGMA data_version").fetchone()
                if last is None:
                    self._begin()
                elif number != last:
                    earlier, rows = rows, topics.table_rows(link, list(self._names))
                    for name in rows:
                        if rows[name] != earlier.get(name):
                            self._call_all(name)
                    self._call_all(ANY)
                last = number
                time.sleep(POLL_S)


def _can_listen() -> bool:
    """Return False behind a pool that may give each transaction another session."""
    return not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS", False)


LISTENER = Listener()
