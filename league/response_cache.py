"""The response cache: a WSGI application that repeats finished responses while the data behind them is unchanged.

Before a view reads its data, it names the change counters of that data (`league.service.changes.keep_until`). The cache stores the response with
the counts at that time. While the counters stand still, it sends the response to every anonymous reader with the same key, without running Django.
Requests with a session or a token, forms, and addresses whose views name no counters go to Django.
"""

from __future__ import annotations

import gzip
import io
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

import brotli
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, InterfaceError
from django.utils import translation

from league.api.http.negotiation import language, wants_lines
from league.service import changes
from league.service.middleware import UNREAD, number_of
from league.web.common.prefs import theme

Environ: TypeAlias = dict[str, Any]
Headers: TypeAlias = list[tuple[str, str]]
Application: TypeAlias = Callable[[Environ, Any], Iterable[bytes]]

MAX_BYTES = 64 * 2**20  # The most bytes of all responses in one process; the least recently used are dropped first
# Some texts show the time ("an hour ago"), some states end with time (an embargo), and a running match shows its progress.
MAX_AGE_S = 10.0
# Cookies of anonymous readers. The first two are part of the key. A page with a form sets the third again, and its response is not cached. No view
# that names counters reads the fourth.
HARMLESS = {settings.LANGUAGE_COOKIE_NAME, "theme", settings.CSRF_COOKIE_NAME, settings.GUEST_COOKIE_NAME}
# A request with any of these in its environment goes to Django: a token, conditions that the cache does not compare, or a part that could not be
# read.
FOR_DJANGO = {"HTTP_AUTHORIZATION", "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE", UNREAD}
# The parts of a request, besides its address, on which a response to an anonymous reader depends.
READ = (
    *("SCRIPT_NAME", "wsgi.url_scheme", "HTTP_HOST", "SERVER_NAME", "SERVER_PORT"),
    *("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT"),
    *("HTTP_COOKIE", "HTTP_ACCEPT_LANGUAGE"),
)
# These headers belong to a single response, and are computed again for the next.
OWN_HEADERS = {"x-request-id", "content-encoding", "content-length", "etag", "vary", "ratelimit", "ratelimit-policy"}


class Key(NamedTuple):
    """Everything on which the response to an anonymous reader depends."""

    path: str
    query: str
    reader: tuple[Hashable, ...]  # Prefix, scheme, host, languages, theme


class StoredResponse:
    """A finished response, compressed once for each coding that clients ask for."""

    def __init__(self, body: bytes, headers: Headers, counts: changes.Counts) -> None:
        self.headers = headers
        self.counts = counts
        self.until = now() + MAX_AGE_S
        self.tag = sha256(body).hexdigest()[:32]
        self._packed: dict[str, bytes] = {"gzip": gzip.compress(body, 6, mtime=0)}
        if len(self._packed["gzip"]) >= len(body):
            self._packed[""] = body
        self.weight = 2 * len(self._packed["gzip"]) + 2000  # Bytes, including codings that are added later

    def packed(self, coding: str) -> bytes:
        """Return the body in a coding: "gzip", "br", or "" for none."""
        if coding in self._packed:
            return self._packed[coding]
        plain = gzip.decompress(self._packed["gzip"])
        if coding == "":
            return plain  # Few clients ask for it and it is large, so it is not stored
        self._packed[coding] = brotli.compress(plain, quality=5)
        return self._packed[coding]

    @property
    def is_current(self) -> bool:
        """Return True while the data behind the response is unchanged.

        One query; if the database fails, return False and let Django report that.
        """
        if now() > self.until:
            return False
        try:
            return changes.read(list(self.counts)) == self.counts
        except (DatabaseError, InterfaceError):
            return False


class Store:
    """The responses of one process, with a limit on their bytes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[Hashable, StoredResponse] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> StoredResponse | None:
        """Return the response under a key, current or not."""
        with self._lock:
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
        return answer

    def keep(self, key: Hashable, answer: StoredResponse) -> None:
        """Store a response in place of the last one under its key."""
        with self._lock:
            self._drop(key)
            self._answers[key] = answer
            self._bytes += answer.weight
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._answers)))

    def clear(self) -> None:
        """Drop all responses."""
        with self._lock:
            self._answers.clear()
            self._bytes = 0

    def _drop(self, key: Hashable) -> None:
        answer = self._answers.pop(key, None)
        self._bytes -= answer.weight if answer else 0

    def __len__(self) -> int:
        return len(self._answers)


class ResponseCache:
    """The WSGI application of the league: the cache in front of Django."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.store = Store()

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Send the cached response if it is current, otherwise Django's."""
        key = read_key(environ)
        if key is None:
            return self.application(environ, start_response)
        answer = self.store.find(key)
        if answer is not None and answer.is_current:
            return _give(answer, environ, start_response, [("X-Request-ID", number_of(environ))])
        return self._make(key, environ, start_response)

    def _make(self, key: Key, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Send Django's response, and store it if its view has named change counters."""
        ticket = environ[changes.TICKET] = changes.Ticket(if_none_match=environ.get("HTTP_IF_NONE_MATCH", ""))
        started: list[Any] = []

        def note_start(status: str, headers: Headers, exc_info: Any = None) -> None:
            started[:] = [status, headers, exc_info]

        response = self.application(environ, note_start)
        status, headers, exc_info = started
        names = {name.lower(): value for name, value in headers}
        whole = status.startswith("200") and "set-cookie" not in names and not getattr(response, "streaming", False)
        if not ticket.counts or not whole or "no-store" in names.get("cache-control", ""):
            start_response(status, headers, exc_info) if exc_info else start_response(status, headers)
            return response
        try:
            body = b"".join(response)
        finally:
            if hasattr(response, "close"):
                response.close()
        if names.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        answer = StoredResponse(body, _shared(headers), ticket.counts)
        self.store.keep(key, answer)
        environ["HTTP_IF_NONE_MATCH"] = ticket.if_none_match
        limits = [(name, value) for name, value in headers if name.lower().startswith("ratelimit")]
        return _give(answer, environ, start_response, [*limits, ("X-Request-ID", names.get("x-request-id", ""))])


def now() -> float:
    """Return the seconds of a clock that never goes back."""
    return time.monotonic()


def read_key(environ: Environ) -> Key | None:
    """Return the key of a request; None if the response is for one reader only, or a refusal."""
    if environ["REQUEST_METHOD"] != "GET" or not FOR_DJANGO.isdisjoint(environ):
        return None
    if wants_lines(environ.get("HTTP_ACCEPT", "")):
        return None  # The only answers that depend on this header; they are streams, which are not stored.
    reader = _read_reader(tuple(map(environ.get, READ)), tuple(settings.ALLOWED_HOSTS))
    return None if reader is None else Key(environ["PATH_INFO"], environ.get("QUERY_STRING", ""), reader)


@lru_cache(maxsize=500)
def _read_reader(values: Sequence[str | None], _allowed: Sequence[str]) -> tuple[Hashable, ...] | None:
    """Return the values, besides the address, on which a response depends; Django's and the views' own functions read them.

    `values` are those of READ. Return None for a host that is not allowed, and for other cookies, on which a response may depend.
    """
    headers = {name: value for name, value in zip(READ, values, strict=True) if value is not None}
    request = WSGIRequest({"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.input": io.BytesIO(), **headers})
    if not request.COOKIES.keys() <= HARMLESS:
        return None
    try:
        host = request.get_host()
    except DisallowedHost:
        return None
    languages = translation.get_language_from_request(request), language(request)
    return headers.get("SCRIPT_NAME", ""), request.scheme, host, *languages, theme(request)


def _shared(headers: Headers) -> Headers:
    """Return the headers that are repeated with the response."""
    repeated = [(name, value) for name, value in headers if name.lower() not in OWN_HEADERS]
    varies = dict(headers).get("Vary", "")
    names = dict.fromkeys([*filter(None, varies.split(", ")), "Accept-Encoding"])
    return [*repeated, ("Vary", ", ".join(names))]


def _give(answer: StoredResponse, environ: Environ, start_response: Any, own: Headers) -> Iterable[bytes]:
    """Send the response in the coding that the client accepts, or 304 to a client that has it. `own`: headers of this response alone."""
    coding = _coding(environ.get("HTTP_ACCEPT_ENCODING", ""))
    tag = f'W/"{answer.tag}"' if coding else f'"{answer.tag}"'
    headers = [*answer.headers, ("ETag", tag), *own]
    if _names_tag(environ.get("HTTP_IF_NONE_MATCH", ""), answer.tag):
        start_response("304 Not Modified", [header for header in headers if header[0].lower() != "content-type"])
        return []
    body = answer.packed(coding)
    if coding:
        headers.append(("Content-Encoding", coding))
    headers.append(("Content-Length", str(len(body))))
    start_response("200 OK", headers)
    return [body]


@lru_cache(maxsize=500)
def _coding(accepted: str) -> str:
    """Return the best coding that a client accepts: "br", "gzip", or "" for none."""
    accepts = {}
    for part in accepted[:200].lower().split(","):
        name, _, weight = part.partition(";")
        accepts[name.strip()] = weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return next((name for name in ("br", "gzip") if accepts.get(name, accepts.get("*", False))), "")


def _names_tag(if_none_match: str, tag: str) -> bool:
    """Return True if the ETags of If-None-Match include this one."""
    if if_none_match == "*":
        return True
    return any(part.strip().removeprefix("W/") == f'"{tag}"' for part in if_none_match.split(","))
