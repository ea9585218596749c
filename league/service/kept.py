"""Answers that are given again while nothing that they show has changed.

A view says what it shows before it reads it (`shows`); the door of the league (`league.door`) keeps what the view answered to a stranger,
with the versions of then (`league.service.marks`), and gives it to the next stranger who asks for the same as long as these hold.
"""

from __future__ import annotations

import gzip
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import brotli
from django.http import HttpRequest

from league.service import marks

MOST_BYTES = 64 * 2**20  # of one process; what was not asked for longest goes first
# Some texts tell of the time ("an hour ago"), some things end by the clock (an embargo), and a running match tells its progress: nothing is
# given for longer.
MOST_S = 10.0
TICKET = "league.ticket"  # in the environment of a request whose answer may be kept


@dataclass
class Ticket:
    """What is kept of the answer to a request: nothing, unless its view says what it shows."""

    versions: marks.Versions = field(default_factory=dict)
    wanted: str = ""  # the ETags that the client has


def shows(request: HttpRequest, *keys: str) -> None:
    """Say what the answer to a stranger shows, before any of it is read. At most one query; none for those whose answer is not kept."""
    ticket: Ticket | None = request.META.get(TICKET)
    missing = [key for key in keys if ticket is not None and key not in ticket.versions]
    if ticket is not None and missing:
        ticket.versions.update(marks.read(missing))
        request.META.pop("HTTP_IF_NONE_MATCH", None)  # the door compares, once it has the whole answer


def now() -> float:
    """Seconds of a clock that only goes on."""
    return time.monotonic()


def unpacked(body: bytes) -> bytes:
    """What gzip has packed."""
    return gzip.decompress(body)


class Answer:
    """A kept answer, packed once for each of the ways in which clients take it.

    `quick`: it was made in less time than packing takes, and is packed when somebody takes it so.
    """

    def __init__(
        self, body: bytes, headers: list[tuple[str, str]], versions: marks.Versions, *, quick: bool = False
    ) -> None:
        self.headers = headers
        self.versions = versions
        self.until = now() + MOST_S
        self.tag = sha256(body).hexdigest()[:32]
        self._packed: dict[str, bytes] = {"": body} if quick else {"gzip": gzip.compress(body, 6, mtime=0)}
        if not quick and len(self._packed["gzip"]) >= len(body):
            self._packed[""] = body
        self.most = 2 * len(body if quick else self._packed["gzip"]) + 2000  # bytes, with what is made later

    def packed(self, coding: str) -> bytes:
        """The body in a coding: "gzip", "br" or "" for plain."""
        found = self._packed.get(coding)
        if found is not None:
            return found
        plain = self._packed.get("")
        if plain is None:
            plain = gzip.decompress(self._packed["gzip"])
        if coding == "":
            return plain  # few ask for it, and it is large: it is made each time
        made: bytes = brotli.compress(plain, quality=5) if coding == "br" else gzip.compress(plain, 6, mtime=0)
        self._packed[coding] = made
        return made


class Store:
    """The answers of one process, bounded by their bytes."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Answer | None:
        """What is kept under a key, whether it holds or not."""
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
        return found

    def keep(self, key: Hashable, answer: Answer) -> None:
        """Keep an answer in place of the one before."""
        with self._lock:
            self._drop(key)
            self._answers[key] = answer
            self._bytes += answer.most
            while self._bytes > self._most:
                self._drop(next(iter(self._answers)))

    def drop(self, key: Hashable) -> None:
        """Forget an answer."""
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._bytes = 0

    def _drop(self, key: Hashable) -> None:
        gone = self._answers.pop(key, None)
        self._bytes -= gone.most if gone else 0

    def __len__(self) -> int:
        return len(self._answers)


def shown_by(*keys: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For a view whose answer always shows the same things."""

    def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            shows(request, *keys)
            return view(request, *args, **kwargs)

        answer.__name__, answer.__doc__, answer.__module__ = view.__name__, view.__doc__, view.__module__
        return answer

    return decorate
