"""Who listens, and what they are told: "this topic is at that version now" (server-sent events).

A listener is a connection of the web server that Django has let in and the worker has handed over: no thread waits for it. One thread of the
process holds them all in one loop of asyncio; a second one reads the versions of the topics that anybody follows, a few queries each PACE_S,
however many follow them. What somebody waits for, the table at which they sit, is looked at as soon as a wake-up says that it has moved.
Nothing is read while nobody listens. All of it follows from rows: where the process or the database
goes away, listeners come again with the versions that they know (Last-Event-ID), to any process, and are told what is another one by then.

An event carries no content. Whoever is told asks for the page again, with their own rights.
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
HUB = "league.live.hub"  # in the environment of a request: the hub of this process, where the server has one
LISTENER = "league.live.listener"  # put there by the view: whom the server is to hand over
PACE_S = 0.5  # between two looks at the versions
REST_S = 1.0  # after the database did not answer
PING_S = 15.0  # a line without content: proxies and browsers see that the connection lives
DEAD_S = 30  # who has acknowledged nothing for so long is gone
MOST_UNSENT = 16 * 2**10  # bytes that one listener may leave unread
AGAIN_S = (
    2,
    6,
)  # a browser that lost its connection comes again after a time drawn from these, so that not all come at once

Read = Callable[[Collection[str]], changes.Counts]


class Full(Exception):
    """No further listener: of this address (`mine`), or of this process."""

    def __init__(self, *, mine: bool) -> None:
        super().__init__("too many listeners")
        self.mine = mine


@dataclass(frozen=True)
class Wanted:
    """A listener as asked for: from where, what they follow, and the versions that they know (None: not known)."""

    address: str
    topics: tuple[str, ...]
    known: tuple[int | None, ...]


def told(versions: Mapping[str, int], wanted: Sequence[str], known: Sequence[int | None]) -> bytes:
    """The event for somebody who knows these versions of what they follow; empty where they know it all."""
    changed = {topic: versions[topic] for topic, at in zip(wanted, known, strict=True) if versions[topic] != at}
    if not changed:
        return b""
    number = ".".join(str(versions[topic]) for topic in wanted)
    return f"id: {number}\nevent: change\ndata: {json.dumps(changed, separators=(',', ':'))}\n\n".encode()


def numbers(text: str, count: int) -> tuple[int | None, ...]:
    """The versions that an event's id tells, of `count` topics; none where it is no such id."""
    parts = text.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        return (None,) * count
    return tuple(map(int, parts))


def patience() -> bytes:
    """After which time to come again."""
    low, high = AGAIN_S
    return f"retry: {1000 * low + secrets.randbelow(1000 * (high - low))}\n\n".encode()


class Listener(asyncio.Protocol):
    """One connection. Used in the thread of the hub alone."""

    def __init__(self, hub: Hub, wanted: Wanted) -> None:
        self._hub, self.wanted = hub, wanted
        self.known = wanted.known
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is ours."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the types
        self.transport = transport
        self._hub.enter(self)

    def data_received(self, data: bytes) -> None:
        """A listener has nothing more to say."""

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone, or were dropped."""
        self._hub.leave(self)

    def tell(self, data: bytes) -> None:
        """Send it; who does not read is dropped, and comes again if there is still somebody."""
        if self.transport is None or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() + len(data) > MOST_UNSENT:
            self.transport.abort()
            return
        self.transport.write(data)

    def look(self, versions: Mapping[str, int]) -> None:
        """Tell what they do not know."""
        if all(topic in versions for topic in self.wanted.topics):
            event = told(versions, self.wanted.topics, self.known)
            if event:
                self.known = tuple(versions[topic] for topic in self.wanted.topics)
                self.tell(event)


class Hub:
    """All listeners of one process."""

    def __init__(self, read: Read = topics.read, database: listening.Listener = listening.LISTENER) -> None:
        self._read, self._database = read, database
        self._woken = asyncio.Event()  # a table that somebody follows may have moved
        self._listens = False
        self._listeners: set[Listener] = set()
        self._fresh: set[Listener] = set()  # entered since the last look at the versions began
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
        """Whether there is room for one more from here. Raises Full."""
        if self._addresses[address] >= settings.LIVE_PER_ADDRESS:
            raise Full(mine=True)
        if len(self._listeners) >= settings.LIVE_LISTENERS:
            raise Full(mine=False)

    def adopt(self, connection: socket.socket, wanted: Wanted) -> None:
        """Take a connection over, whose head of the answer is sent. From any thread."""
        with self._lock:
            if self._closed:
                connection.close()
                return
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._run, args=[self._loop], name="live", daemon=True)
                self._thread.start()
            self._loop.call_soon_threadsafe(self._take, connection, wanted)

    def close(self) -> None:
        """End every connection, and the thread."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(5)

    def enter(self, listener: Listener) -> None:
        """One more, unless the room was taken meanwhile."""
        try:
            self.check(listener.wanted.address)
        except Full:
            if listener.transport is not None:
                listener.transport.abort()
            return
        self._listeners.add(listener)
        self._addresses[listener.wanted.address] += 1
        self._following.update(listener.wanted.topics)
        self._fresh.add(listener)
        self._attend(listener)
        listener.tell(patience())

    def leave(self, listener: Listener) -> None:
        """One less."""
        if listener not in self._listeners:
            return
        self._listeners.remove(listener)
        self._fresh.discard(listener)
        for count, names in ((self._addresses, (listener.wanted.address,)), (self._following, listener.wanted.topics)):
            for name in names:
                count[name] -= 1
                if not count[name]:
                    del count[name]
        for topic in listener.wanted.topics:
            if topic not in self._following:
                self._versions.pop(topic, None)
        self._attend(listener)

    def _attend(self, listener: Listener) -> None:
        """Hear wake-ups while somebody follows a table. listener: who has come, or gone."""
        if not any(topic.startswith(topics.TABLE) for topic in listener.wanted.topics):
            return
        wanted = any(topic.startswith(topics.TABLE) for topic in self._following)
        if wanted != self._listens:
            self._listens = wanted
            (self._database.add if wanted else self._database.remove)(self._wake)

    def _wake(self, name: str) -> None:
        """Wake the loop if a table that somebody follows has moved. Called in the thread that listens."""
        loop = self._loop
        if loop is not None and (not name or name in self._following):
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._woken.set)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        reader = ThreadPoolExecutor(
            1, thread_name_prefix="live-reader"
        )  # one thread, so one connection to the database
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

    def _take(self, connection: socket.socket, wanted: Wanted) -> None:
        loop = asyncio.get_event_loop()
        made = loop.create_task(self._attach(loop, connection, wanted))
        made.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _attach(self, loop: asyncio.AbstractEventLoop, connection: socket.socket, wanted: Wanted) -> None:
        try:
            connection.setblocking(False)
            if hasattr(socket, "TCP_USER_TIMEOUT") and connection.family in (socket.AF_INET, socket.AF_INET6):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * DEAD_S)
            await loop.connect_accepted_socket(lambda: Listener(self, wanted), connection)
        except OSError:
            connection.close()

    async def _follow(self, reader: ThreadPoolExecutor) -> None:
        """Look at the versions again and again, whatever becomes of the database."""
        loop, away = asyncio.get_running_loop(), False
        due = loop.time() + PACE_S
        while True:
            if not away and loop.time() < due and await self._is_woken(due - loop.time()):
                following = [topic for topic in self._following if topic.startswith(topics.TABLE)]
                fresh = {one for one in self._fresh if set(following).issuperset(one.wanted.topics)}
                self._fresh -= fresh
            else:
                await asyncio.sleep(due - loop.time())
                due = loop.time() + PACE_S
                following, self._fresh, fresh = list(self._following), set(), self._fresh
            if not following:
                continue
            try:
                found = await loop.run_in_executor(reader, self._look, following)
            except Exception as error:
                if not away:
                    log.warning("the versions cannot be read (%s); trying again until they can", error)
                away, due = True, loop.time() + REST_S
                self._fresh |= fresh & self._listeners
                continue
            if away:
                log.warning("the versions can be read again")
            away = False
            self._tell(found, fresh)

    async def _is_woken(self, within: float) -> bool:
        """Wait so long at most; whether a wake-up has come."""
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

    def _tell(self, found: changes.Counts, fresh: Collection[Listener]) -> None:
        """Tell everybody what was found. Not who entered meanwhile: they may know better already."""
        changed = {topic for topic, at in found.items() if self._versions.get(topic) != at}
        # What nobody follows any more is forgotten, else its version would be an old one for who comes next
        self._versions |= {topic: at for topic, at in found.items() if topic in self._following}
        for listener in self._listeners - self._fresh if changed or fresh else ():
            if listener in fresh or not changed.isdisjoint(listener.wanted.topics):
                listener.look(self._versions)

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            for listener in list(self._listeners):
                listener.tell(b":\n\n")
