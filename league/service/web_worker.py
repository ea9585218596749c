"""The worker of the web server: gunicorn, or the supervisor of `serve`, starts, watches and replaces the processes; waitress reads the requests.

gunicorn's own threads would each read from a client, and one that sends half a request would block a thread. waitress reads all connections in one
loop and gives threads whole requests only; slow clients get their responses from a buffer. The guard of the process (`league.service.web_guard`)
closes the connections of clients that are slower than that allows.

A request that waitress cannot read (`Parser`) goes to the application as well, with the reason in UNREAD of its environment, so it is refused in
the same words and form as all others.

A client that listens for changes (`league.service.live`) gets the head of the response; then the hub of the process takes over its connection. The
hub serves hundreds of connections in one thread.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, Task, ThreadedTaskDispatcher, WSGITask

from league.service import live, web_guard
from league.service.middleware import UNREAD
from league.service.watchdog import Watchdog

AT_ONCE = 256  # The most connections that the loop accepts before it serves the others.
MOST_BODY = 16 * 2**20  # The most bytes of a body; an upload has at most 10 MiB
MOST_HEADERS = 64 * 2**10
LOOP_S = 1.0  # Time between two checks whether the loop shall stop.
STUCK_S = 120  # A process in which no thread took the next of the waiting requests for this long ends.

FIRST_LINE = re.compile(rb"\s*[A-Z]+ (/[!-~]*)")
MOST_PATH = 2000
INTERNAL = 500
OF_PROXIES = ("HTTP_X_FORWARDED_", "HTTP_X_REQUEST_ID")
KEPT_HEADERS = ("ACCEPT_LANGUAGE", "HOST")  # Headers that are still read from a request that could not be parsed.
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class BufferingWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """`gunicorn --worker-class league.service.web_worker.BufferingWorker --threads 4`."""

    def run(self) -> None:
        """Answer requests until a signal stops the worker or its parent has died; then finish the requests that have started."""
        connections: dict[int, Any] = {}
        self.watchdog = Watchdog()
        ClientConnection.hub = live.Hub(alive=partial(self.watchdog.note, "live", STUCK_S))
        guard = web_guard.ConnectionGuard(
            lambda: [link for link in connections.values() if isinstance(link, ClientConnection)], settings.PROXIES
        )
        limits = Adjustments(
            backlog=self.cfg.backlog,
            max_request_body_size=MOST_BODY,
            max_request_header_size=MOST_HEADERS,
            clear_untrusted_proxy_headers=False,  # `LiveTask` does that.
            ident=None,
        )
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(self.cfg.threads)
        application = self._counted(self.wsgi)
        for listener in self.sockets:
            server = GuardedServer(application, connections, listener.sock, dispatcher, limits)
            server.guard = guard
        self.watchdog.start()  # gunicorn's own watches the loop below.
        while self.alive and self.ppid == os.getppid():
            self.notify()
            if not dispatcher.queue:
                self.watchdog.note("requests", STUCK_S)
            wasyncore.loop(LOOP_S, use_poll=True, map=connections, count=1)
            guard.sweep(time.monotonic())
        self._finish(dispatcher, connections)

    def _finish(self, dispatcher: Any, connections: dict[int, Any]) -> None:
        for server_socket in [link for link in connections.values() if getattr(link, "accepting", False)]:
            server_socket.accepting = (
                False  # Keep it open: closing it would also close the pipe by which threads wake this loop.
            )
        ClientConnection.hub.close()
        self.watchdog.forget("live")
        until = time.monotonic() + self.cfg.graceful_timeout
        while time.monotonic() < until and any(map(_busy, list(connections.values()))):
            self.notify()
            wasyncore.loop(0.1, use_poll=True, map=connections, count=1)
        dispatcher.shutdown(timeout=1)
        wasyncore.close_all(connections, ignore_all=True)

    def _counted(self, application: Application) -> Application:
        """Return `application` with gunicorn's access log, and stop the process after the most requests that it may answer."""

        def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            self.watchdog.note("requests", STUCK_S)
            self.nr += 1
            if self.nr == self.max_requests:
                self.log.info("Stopping after %s requests: %s", self.nr, self)
                self.alive = False
            respond: Application = partial(self._logged, application) if self.log.access_log_enabled else application
            body = respond(environ, start_response)
            if environ["REQUEST_METHOD"] != "HEAD":
                return body
            if hasattr(body, "close"):
                body.close()
            return []  # waitress would send the body, and the client, or a proxy, take it for the answer to the next request.

        return answer

    def _logged(self, application: Application, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        began = time.monotonic()

        def log_and_start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            took = datetime.timedelta(seconds=time.monotonic() - began)
            length = next((value for name, value in headers if name.lower() == "content-length"), None)
            request_headers = [
                (name[5:].replace("_", "-"), value) for name, value in environ.items() if name.startswith("HTTP_")
            ]
            environ.setdefault("RAW_URI", environ.get("REQUEST_URI", environ["PATH_INFO"]))
            self.log.access(
                SimpleNamespace(status=status, headers=headers, sent=length), request_headers, environ, took
            )
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        return application(environ, log_and_start)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """End at once, on SIGINT and SIGQUIT."""
        self.alive = False
        sys.exit(0)


def _busy(connection: Any) -> bool:
    """Return True while the application computes a response or waitress sends it."""
    return bool(getattr(connection, "requests", None) or getattr(connection, "total_outbufs_len", 0))


class RequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A parser that keeps the start of a request, so that it can be refused properly if the rest cannot be read."""

    start = b""

    def received(self, data: bytes) -> int:
        """Parse the next bytes."""
        if len(self.start) < MOST_PATH:
            self.start += data[: MOST_PATH - len(self.start)]
        return int(super().received(data))

    @property
    def place(self) -> str:
        """Return the requested path; "/" if it is unknown, too."""
        line = FIRST_LINE.match(self.start)
        return line[1].decode().partition("?")[0] if line else "/"


class LiveTask(WSGITask):  # type: ignore[misc]
    """The response to a request. If the application accepts a listener, only the head is sent, and the channel notes the listener."""

    environ: dict[str, Any] | None = None

    def get_environment(self) -> dict[str, Any]:
        """Return the environment with the hub of this process. It is the same dictionary at every call, so the listener can be read from it later."""
        if self.environ is None:
            environ = super().get_environment()
            if self.channel.client:  # Only a proxy of ours says for whom it asks.
                environ = {name: value for name, value in environ.items() if not name.startswith(OF_PROXIES)}
            self.environ = {**environ, live.HUB: self.channel.hub}
        return self.environ

    def build_response_header(self) -> bytes:
        """Return the head of the response. A listener's is one of HTTP/1.0, without length or chunks: the response lasts until one side closes."""
        listen_request = (self.environ or {}).get(live.LISTENER)
        if listen_request is not None and self.status.startswith("200"):
            self.version, self.content_length = "1.0", None
            self.remove_content_length_header()
            self.set_close_on_finish()
            self.channel.listen_request = listen_request
        return bytes(super().build_response_header())


class UnreadTask(WSGITask):  # type: ignore[misc]
    """The application's refusal of a request that could not be read. The connection is closed after it."""

    def __init__(self, channel: Any, unread: RequestParser) -> None:
        request = RequestParser(channel.adj)
        request.parse_header(f"GET {unread.place} HTTP/1.1\r\n".encode())
        request.headers |= {name: unread.headers[name] for name in KEPT_HEADERS if name in unread.headers}
        # Claim https, so that the request is not redirected
        request.headers |= {"X_FORWARDED_PROTO": "https", "CONNECTION": "close"}
        super().__init__(channel, request)
        self.why = unread.error

    def get_environment(self) -> dict[str, Any]:
        """Return the environment with the reason."""
        return {**super().get_environment(), "wsgi.url_scheme": "https", UNREAD: (self.why.code, self.why.body)}


class BrokenTask(ErrorTask):  # type: ignore[misc]
    """The response after an unexpected error in the application; for the API a problem document, in English."""

    def execute(self) -> None:
        """Answer 500."""
        request = self.channel.requests[0]
        if not request.place.startswith("/api/"):
            super().execute()
            return
        problem = json.dumps(
            {
                "type": "/api/v1/#broken",
                "title": "Internal error",
                "status": INTERNAL,
                "detail": "The error has been logged.",
                "what_to_do": "Send the request again in a minute.",
            }
        ).encode()
        self.status = f"{INTERNAL} Internal Server Error"
        self.response_headers.append(("Content-Type", "application/problem+json"))
        self.set_close_on_finish()
        self.content_length = len(problem)
        self.write(problem)


def _refusal(channel: Any, request: RequestParser) -> Task:
    return (BrokenTask if request.error.code == INTERNAL else UnreadTask)(channel, request)


class GuardedServer(TcpWSGIServer):  # type: ignore[misc]
    """A listening socket, whose guard decides which connections stay."""

    guard: web_guard.ConnectionGuard

    def __init__(self, application: Application, connections: Any, listener: Any, dispatcher: Any, limits: Any) -> None:
        place = (listener.family, listener.type, listener.proto, listener.getsockname())
        super().__init__(
            application,
            connections,
            _sock=listener,
            dispatcher=dispatcher,
            adj=limits,
            sockinfo=place,
            bind_socket=False,
        )

    def readable(self) -> bool:
        """Return True while connections are accepted."""
        return bool(self.accepting)

    def handle_accept(self) -> None:
        """Accept the connections that wait, so that a client that opens many does not keep the others waiting."""
        for _ in range(AT_ONCE):
            try:
                accepted = self.accept()
            except OSError:
                return  # The client has gone, or the process has no descriptor left.
            if accepted is None:
                return
            connection, address = accepted
            client = self.guard.client_of(str(address[0]))
            if not self.guard.make_room(client):
                connection.close()
                continue
            self.set_socket_options(connection)
            ClientConnection(self, connection, address, self.adj, map=self._map).client = client

    def add_task(self, task: Any) -> None:
        """Give a whole request to a thread."""
        task.begin_turn()
        super().add_task(task)


class ClientConnection(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = RequestParser
    task_class = LiveTask
    error_task_class = staticmethod(_refusal)
    hub: live.Hub
    listen_request: live.Wanted | None = None
    client = ""  # Its network address; "" for a proxy of ours.
    turn = web_guard.HEAD

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.begin_turn()
        super().__init__(*args, **kwargs)

    def begin_turn(self) -> None:
        """Let the time of the client begin again."""
        self.began, self.moved = time.monotonic(), 0

    @property
    def holds_thread(self) -> bool:
        """Return True if the thread with the answer waits until the client has read more."""
        return bool(self.requests) and self.total_outbufs_len > self.adj.outbuf_high_watermark

    def turn_now(self) -> str:
        """Return what the connection waits for."""
        if self.requests and not self.holds_thread:
            return web_guard.BUSY
        if self.total_outbufs_len:
            return web_guard.ANSWER
        return web_guard.BODY if self.request is not None and self.request.headers_finished else web_guard.HEAD

    def received(self, data: bytes) -> bool:
        """Parse the next bytes of requests."""
        self.moved += len(data)
        return bool(super().received(data))

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send bytes of an answer. Return how many the network has taken."""
        sent = int(super().send(data, do_close))
        self.moved += sent
        return sent

    def handle_close(self) -> None:
        """Close the connection; if it is a listener's, hand it over, now that its head has been sent."""
        listen_request, self.listen_request = self.listen_request, None
        if listen_request is not None and self.connected and not self.total_outbufs_len and not self.outbufs[0]:
            self.hub.adopt(self.socket.dup(), listen_request)
        super().handle_close()
