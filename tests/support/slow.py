"""Clients that begin a request and do not finish it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

HEADS = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-More: "
BODIES = b"POST /api/v1/forecast HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"


@contextmanager
def half_sent(port: int, number: int = 50) -> Iterator[None]:
    """Hold open `number` requests with incomplete headers, as many with an incomplete body, and as many connections without any data."""
    with ExitStack() as stack:
        for begun in (HEADS, BODIES, b""):
            for _ in range(number):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
                client.sendall(begun)
        yield
