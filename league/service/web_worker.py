"""What answers in each process of the web server: gunicorn starts, watches and replaces the processes, waitress reads in them.

gunicorn's own threads read for themselves: who sends half of a request holds a thread for as long as they like. waitress collects the
requests of all connections in one loop and gives a thread only what has come whole; a slow reader gets the answer from a buffer.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.server import create_server

CONNECTIONS = 500  # of one process; more of them wait to be accepted
SILENT_S = 30  # a connection that sends nothing for so long is closed, half of a request or none
MOST_BODY = 16 * 2**20  # bytes; an upload has at most 10 MiB
MOST_HEADERS = 64 * 2**10
LOOP_S = 1.0  # seconds after which the loop looks whether it is to stop

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class BufferingWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """`gunicorn --worker-class league.service.web_worker.BufferingWorker --threads 4`."""

    def run(self) -> None:
        """Answer until told to stop or until the parent is gone; then finish what has begun."""
        connections: dict[int, Any] = {}
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
