"""Server-sent events for open pages: "this topic now has that version".

A listener is a connection that Django has accepted and the web worker has handed over, so that no thread waits for it. One thread of the process
serves all listeners in one asyncio loop. A second thread reads the versions of all followed topics every PACE_S, with a few queries for any number
of listeners; it reads a person's table as soon as the database notifies of a change, and nothing while nobody listens. All state is in rows: if the
process or the database fails, listeners reconnect to any process with the versions that they have (Last-Event-ID), and get the later ones.

An event carries no content. The browser fetches the page again, with the rights of its reader.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import socket
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db import close_old_connections, connection

from league.service import changes, listening, topics

log = logging.getLogger("league.live")
HUB = "league.live.hub"  # Key in the environment of a request: the hub of this process, if the server has one
LISTENER = "league.live.listener"  # Set by the view: the listener to which the server hands the connection.
PACE_S = 0.5  # Time between two reads of the versions.
REST_S = 1.0  # Time until the next read after the database did not answer.
# Time between pings, which show proxies and pages that the connection is alive; a page without one for 40 s connects again (live.js).
PING_S = 15.0
PING = b"event: ping\ndata:\n\n"
DEAD_S = 30  # A listener that has acknowledged nothing for this long counts as gone.
MAX_UNSENT = 16 * 2**10  # The most bytes that one listener may leave unread.
# A browser that lost its connection waits for a random time between these, so that not all reconnect at once.
AGAIN_S = (2, 6)

EVERY = frozenset({"", listening.ANY})  # Names of changes that may concern any table.
Read = Callable[[Collection[str]], changes.Counts]


class Full(Exception):
    """The refusal of one more listener, because this address (`for_address`) or this process has too many."""

    def __init__(self, *, for_address: bool) -> None:
        super().__init__("too many listeners")
        self.for_address = for_address


@dataclass(frozen=True)
class Wanted:
    """A request to listen: its address, its topics, and the versions that the client has (None: unknown)."""

    address: str
    topics: tuple[str, ...]
    versions: tuple[int | None, ...]


def change_event(versions: Mapping[str, int], names: Sequence[str], last_versions: Sequence[int | None]) -> bytes:
    """Return the event for a client with these versions of its topics; empty if it has all of them."""
    changed = {
        topic: versions[topic]
        for topic, version in zip(names, last_versions, strict=True)
        if versions[topic] != version
    }
    if not changed:
        return b""
    number = ".".join(str(versions[topic]) for topic in names)
    return f"id: {number}\nevent: change\ndata: {json.dumps(changed, separators=(',', ':'))}\n\n".encode()


def numbers(text: str, count: int) -> tuple[int | None, ...]:
    """Return the versions in an event's id, for `count` topics; all None if the id has another form."""
    parts = text.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        return (None,) * count
    return tuple(map(int, parts))


def patience() -> bytes:
    """Return the line that says when to reconnect."""
    low, high = AGAIN_S
    return f"retry: {1000 * low + secrets.randbelow(1000 * (high - low))}\n\n".encode()


class PageListener(asyncio.Protocol):
    """One connection. Only the hub's thread uses it."""

    def __init__(self, hub: Hub, request: Wanted) -> None:
        self._hub, self.request = hub, request
        self.last_versions = request.versions
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Enter the hub."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the types
        self.transport = transport
        self._hub.enter(self)

    def data_received(self, data: bytes) -> None:
        """Ignore what a listener sends."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the hub."""
        self._hub.leave(self)

    def send(self, data: bytes) -> None:
        """Send bytes. A listener that does not read is dropped, and reconnects if it is still there."""
        if self.transport is None or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() + len(data) > MAX_UNSENT:
            self.transport.abort()
            return
        self.transport.write(data)

    def update(self, versions: Mapping[str, int]) -> None:
        """Send the versions that the client does not have."""
        if all(topic in versions for topic in self.request.topics):
            event = change_event(versions, self.request.topics, self.last_versions)
            if event:
                self.last_versions = tuple(versions[topic] for topic in self.request.topics)
                self.send(event)


class Hub:
    """The listeners of one process."""

    def __init__(
        self,
        read: Read = topics.read,
        database: listening.Listener = listening.LISTENER,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        """alive: called in each round of reading versions."""
        self._read, self._database, self._alive = read, database, alive
        self._woken = asyncio.Event()  # Set when followed tables may have changed: those in `_moved`.
        self._moved: set[str] = set()
        self._listens = False
        self._listeners: set[PageListener] = set()
        self._fresh: set[PageListener] = set()  # Listeners that entered since the last read of the versions began.
        self._addresses: Counter[str] = Counter()
        self._following: Counter[str] = Counter()
        self._versions: changes.Counts = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def __len__(self) -> int:
        return len(self._listeners)

    def check(self, address: str) -> None:
        """Raise Full if the hub has no room for another listener from this address."""
        if self._addresses[address] >= settings.LIVE_PER_ADDRESS:
            raise Full(for_address=True)
        if len(self._listeners) >= settings.LIVE_LISTENERS:
            raise Full(for_address=False)

    def adopt(self, connection: socket.socket, request: Wanted) -> None:
        """Take over a connection whose response head has been sent. Any thread may call this."""
        with self._lock:
            if self._closed:
                connection.close()
                return
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._run, args=[self._loop], name="live", daemon=True)
                self._thread.start()
            self._loop.call_soon_threadsafe(self._take, connection, request)

    def close(self) -> None:
        """Close every connection, and end the thread."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(5)

    def enter(self, listener: PageListener) -> None:
        """Add a listener, unless the hub has filled up."""
        try:
            self.check(listener.request.address)
        except Full:
            if listener.transport is not None:
                listener.transport.abort()
            return
        self._listeners.add(listener)
        self._addresses[listener.request.address] += 1
        self._following.update(listener.request.topics)
        self._fresh.add(listener)
        self._attend(listener)
        listener.send(patience())

    def leave(self, listener: PageListener) -> None:
        """Remove a listener."""
        if listener not in self._listeners:
            return
        self._listeners.remove(listener)
        self._fresh.discard(listener)
        for count, names in (
            (self._addresses, (listener.request.address,)),
            (self._following, listener.request.topics),
        ):
            for name in names:
                count[name] -= 1
                if not count[name]:
                    del count[name]
        for topic in listener.request.topics:
            if topic not in self._following:
                self._versions.pop(topic, None)
        self._attend(listener)

    def _attend(self, listener: PageListener) -> None:
        """Listen to the database while somebody follows a table. `listener` has just entered or left."""
        if not any(topic.startswith(topics.AT_ONCE_KINDS) for topic in listener.request.topics):
            return
        is_followed = any(topic.startswith(topics.AT_ONCE_KINDS) for topic in self._following)
        if is_followed != self._listens:
            self._listens = is_followed
            (self._database.add if is_followed else self._database.remove)(self._wake)

    def _wake(self, name: str) -> None:
        """Wake the loop if a followed table has changed. Runs in the listening thread."""
        loop, name = self._loop, name.removesuffix(listening.PAGES)
        if loop is not None and (name in EVERY or name in self._following):
            with suppress(RuntimeError):  # The loop has ended.
                loop.call_soon_threadsafe(self._note, name)

    def _note(self, name: str) -> None:
        self._moved.add(name)
        self._woken.set()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        reader = ThreadPoolExecutor(
            1, thread_name_prefix="live-reader"
        )  # A single thread, and so a single connection to the database.
        tasks = [loop.create_task(self._follow(reader)), loop.create_task(self._ping())]
        try:
            loop.run_forever()
        finally:
            for task in tasks:
                task.cancel()
            for listener in list(self._listeners):
                if listener.transport is not None:
                    listener.transport.abort()
            loop.run_until_complete(asyncio.sleep(0))
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            reader.shutdown(wait=False, cancel_futures=True)
            loop.close()

    def _take(self, connection: socket.socket, request: Wanted) -> None:
        loop = asyncio.get_event_loop()
        attaching = loop.create_task(self._attach(loop, connection, request))
        attaching.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _attach(self, loop: asyncio.AbstractEventLoop, connection: socket.socket, request: Wanted) -> None:
        try:
            connection.setblocking(False)
            if hasattr(socket, "TCP_USER_TIMEOUT") and connection.family in (socket.AF_INET, socket.AF_INET6):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * DEAD_S)
            await loop.connect_accepted_socket(lambda: PageListener(self, request), connection)
        except OSError:
            connection.close()

    async def _follow(self, reader: ThreadPoolExecutor) -> None:
        """Read the versions again and again, whatever the database raises."""
        loop, away = asyncio.get_running_loop(), False
        due = loop.time() + PACE_S
        while True:
            self._alive()
            if not away and loop.time() < due and await self._is_woken(due - loop.time()):
                moved, self._moved = self._moved, set()
                following = [topic for topic in self._following if topic.startswith(topics.AT_ONCE_KINDS)]
                if moved.isdisjoint(EVERY):
                    following = [topic for topic in following if topic in moved]
                fresh = {listener for listener in self._fresh if set(following).issuperset(listener.request.topics)}
                self._fresh -= fresh
            else:
                await asyncio.sleep(due - loop.time())
                due = loop.time() + PACE_S
                following, self._fresh, fresh = list(self._following), set(), self._fresh
            if not following:
                continue
            try:
                versions = await loop.run_in_executor(reader, self._look, following)
            except Exception as error:
                if not away:
                    log.warning("cannot read the versions of followed topics (%s); trying again", error)
                away, due = True, loop.time() + REST_S
                self._fresh |= fresh & self._listeners
                continue
            if away:
                log.warning("reading the versions of followed topics again")
            away = False
            self._send(versions, fresh)

    async def _is_woken(self, within: float) -> bool:
        """Wait at most `within` seconds for a notification. Return True if one has come."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), max(0.0, within))
        woken = self._woken.is_set()
        self._woken.clear()
        return woken

    def _look(self, following: Collection[str]) -> changes.Counts:
        close_old_connections()
        try:
            return self._read(following)
        except Exception:
            with suppress(Exception):
                connection.close()
            raise

    def _send(self, versions: changes.Counts, fresh: Collection[PageListener]) -> None:
        """Send new versions to all listeners except the `fresh` ones, which may have newer versions."""
        changed = {topic for topic, version in versions.items() if self._versions.get(topic) != version}
        # Drop the version of a topic without followers: it would be outdated for the next follower.
        self._versions |= {topic: version for topic, version in versions.items() if topic in self._following}
        for listener in self._listeners - self._fresh if changed or fresh else ():
            if listener in fresh or not changed.isdisjoint(listener.request.topics):
                listener.update(self._versions)

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            for listener in list(self._listeners):
                listener.send(PING)
