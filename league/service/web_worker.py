"""What answers in each process of the web server: gunicorn starts, watches and replaces the processes, waitress reads in them.

What waitress cannot read (`parser`) goes to the application as well, with the reason in UNREAD of its environment: so it is refused in the words
and the form of everything else.

gunicorn's own threads read for themselves: who sends half of a request holds a thread for as long as they like. waitress collects the
requests of all connections in one loop and gives a thread only what has come whole; a slow reader gets the answer from a buffer.

Who listens for changes (`league.service.live`) is answered like everybody, up to the end of the head; then their connection is handed over to
the hub of the process, which holds hundreds of them in one thread.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer, create_server
from waitress.task import ErrorTask, Task, WSGITask

from league.service import live
from league.service.middleware import UNREAD

CONNECTIONS = 500  # of one process; more of them wait to be accepted
SILENT_S = 30  # a connection that sends nothing for so long is closed, half of a request or none
MOST_BODY = 16 * 2**20  # bytes; an upload has at most 10 MiB
MOST_HEADERS = 64 * 2**10
LOOP_S = 1.0  # seconds after which the loop looks whether it is to stop

FIRST_LINE = re.compile(rb"\s*[A-Z]+ (/[!-~]*)")
MOST_PATH = 2000
INTERNAL = 500
KEPT = ("ACCEPT_LANGUAGE", "HOST")  # headers of a request that is not read otherwise
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class BufferingWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """`gunicorn --worker-class league.service.web_worker.BufferingWorker --threads 4`."""

    def run(self) -> None:
        """Answer until told to stop or until the parent is gone; then finish what has begun."""
        connections: dict[int, Any] = {}
        TcpWSGIServer.channel_class = Channel
        Channel.hub = live.Hub()
        server = create_server(
            self._counted(self.wsgi),
            map=connections,
            sockets=[listener.sock for listener in self.sockets],
            threads=self.cfg.threads,
            backlog=self.cfg.backlog,
            connection_limit=CONNECTIONS,
            channel_timeout=SILENT_S,
            cleanup_interval=SILENT_S // 3,
            max_request_body_size=MOST_BODY,
            max_request_header_size=MOST_HEADERS,
            clear_untrusted_proxy_headers=False,  # the settings decide (TRUST_PROXY)
            asyncore_use_poll=True,
            ident=None,
        )
        while self.alive and self.ppid == os.getppid():
            self.notify()
            wasyncore.loop(LOOP_S, use_poll=True, map=connections, count=1)
        self._finish(server, connections)

    def _finish(self, server: Any, connections: dict[int, Any]) -> None:
        for listening in [one for one in connections.values() if getattr(one, "accepting", False)]:
            listening.accepting = False  # not closed: with it goes the pipe by which threads wake this loop
        Channel.hub.close()
        until = time.monotonic() + self.cfg.graceful_timeout
        while time.monotonic() < until and any(map(_busy, list(connections.values()))):
            self.notify()
            wasyncore.loop(0.1, use_poll=True, map=connections, count=1)
        server.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(connections, ignore_all=True)

    def _counted(self, application: Application) -> Application:
        """`application`, with gunicorn's line in the log of requests, and an end after as many as the process may answer."""

        def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            self.nr += 1
            if self.nr == self.max_requests:
                self.log.info("Stopping after %s requests: %s", self.nr, self)
                self.alive = False
            if not self.log.access_log_enabled:
                return application(environ, start_response)
            return self._logged(application, environ, start_response)

        return answer

    def _logged(self, application: Application, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        began = time.monotonic()

        def noted(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            took = datetime.timedelta(seconds=time.monotonic() - began)
            length = next((value for name, value in headers if name.lower() == "content-length"), None)
            asked = [(name[5:].replace("_", "-"), value) for name, value in environ.items() if name.startswith("HTTP_")]
            environ.setdefault("RAW_URI", environ.get("REQUEST_URI", environ["PATH_INFO"]))
            self.log.access(SimpleNamespace(status=status, headers=headers, sent=length), asked, environ, took)
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        return application(environ, noted)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """SIGINT, SIGQUIT: end at once."""
        self.alive = False
        sys.exit(0)


def _busy(connection: Any) -> bool:
    """Whether an answer is at work or on its way."""
    return bool(getattr(connection, "requests", None) or getattr(connection, "total_outbufs_len", 0))


class Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Remembers how a request begins, for what is said where the rest of it cannot be read."""

    begun = b""

    def received(self, data: bytes) -> int:
        """As the parser of waitress."""
        if len(self.begun) < MOST_PATH:
            self.begun += data[: MOST_PATH - len(self.begun)]
        return int(super().received(data))

    @property
    def place(self) -> str:
        """The path that it asked for, "/" where that is not known either."""
        found = FIRST_LINE.match(self.begun)
        return found[1].decode().partition("?")[0] if found else "/"


class LiveTask(WSGITask):  # type: ignore[misc]
    """Answers a request; where the application lets a listener in, only the head is sent, and the channel knows."""

    environ: dict[str, Any] | None = None

    def get_environment(self) -> dict[str, Any]:
        """With the hub of this process. One dictionary: what the application puts there is found again."""
        if self.environ is None:
            self.environ = {**super().get_environment(), live.HUB: self.channel.hub}
        return self.environ

    def build_response_header(self) -> bytes:
        """Of a listener without a length and without chunks, which only HTTP/1.0 has: the answer lasts until one of us hangs up."""
        wanted = (self.environ or {}).get(live.LISTENER)
        if wanted is not None and self.status.startswith("200"):
            self.version, self.content_length = "1.0", None
            self.remove_content_length_header()
            self.set_close_on_finish()
            self.channel.wanted = wanted
        return bytes(super().build_response_header())


class UnreadTask(WSGITask):  # type: ignore[misc]
    """Lets the application refuse a request that could not be read. The connection ends with it."""

    def __init__(self, channel: Any, unread: Parser) -> None:
        asks = Parser(channel.adj)
        asks.parse_header(f"GET {unread.place} HTTP/1.1\r\n".encode())
        asks.headers |= {name: unread.headers[name] for name in KEPT if name in unread.headers}
        asks.headers |= {"X_FORWARDED_PROTO": "https", "CONNECTION": "close"}  # no redirect: nothing of it is read
        super().__init__(channel, asks)
        self.why = unread.error

    def get_environment(self) -> dict[str, Any]:
        """With the reason."""
        return {**super().get_environment(), "wsgi.url_scheme": "https", UNREAD: (self.why.code, self.why.body)}


class BrokenTask(ErrorTask):  # type: ignore[misc]
    """What is said where the application itself has broken: of the API in its form, in English."""

    def execute(self) -> None:
        """500."""
        asked = self.channel.requests[0]
        if not asked.place.startswith("/api/"):
            super().execute()
            return
        told = json.dumps(
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
        self.content_length = len(told)
        self.write(told)


def _refusal(channel: Any, request: Parser) -> Task:
    return (BrokenTask if request.error.code == INTERNAL else UnreadTask)(channel, request)


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    task_class = LiveTask
    error_task_class = staticmethod(_refusal)
    hub: live.Hub
    wanted: live.Wanted | None = None

    def handle_close(self) -> None:
        """The end, or of a listener the moment to hand the connection over: its head is sent."""
        wanted, self.wanted = self.wanted, None
        if wanted is not None and self.connected and not self.total_outbufs_len and not self.outbufs[0]:
            self.hub.adopt(self.socket.dup(), wanted)
        super().handle_close()
