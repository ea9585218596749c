"""Clients that begin a request and do not finish it."""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

HEADS = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-More: "
BODIES = b"POST /api/v1/forecast HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
TRICKLE_S = 4.0  # Seconds between two bytes of a connection.


@contextmanager
def half_sent(port: int, number: int = 50) -> Iterator[None]:
    """Hold open `number` requests with incomplete headers, as many with an incomplete body, and as many connections without any data."""
    with ExitStack() as stack:
        for begun in (HEADS, BODIES, b""):
            for _ in range(number):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
                client.sendall(begun)
        yield


class Flood:
    """A client that keeps many connections open: some send a byte now and then, some send nothing. It opens each again that is closed."""

    def __init__(self, port: int, trickling: int = 2000, idle: int = 500) -> None:
        self.port, self.closed, self._over = port, 0, threading.Event()
        kinds = [HEADS, BODIES] * (trickling // 2) + [b""] * idle
        self._threads = [threading.Thread(target=self._run, args=[kinds[part::8]], daemon=True) for part in range(8)]

    def __enter__(self) -> Flood:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, kinds: list[bytes]) -> None:
        with selectors.DefaultSelector() as ends, ExitStack() as stack:
            links: list[socket.socket | None] = [None] * len(kinds)
            for number in itertools.cycle(range(len(kinds))):
                if self._over.is_set():
                    return
                begun, link = kinds[number], links[number]
                with suppress(OSError):
                    if link is None:
                        link = links[number] = socket.create_connection(("127.0.0.1", self.port), timeout=5)
                        stack.callback(link.close)
                        ends.register(link, selectors.EVENT_READ, number)
                        link.sendall(begun)
                    elif begun:
                        link.sendall(b"x")
                for key, _ in ends.select(0):
                    ends.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
                    links[key.data] = None
                    self.closed += 1
                time.sleep(TRICKLE_S / len(kinds))


def ask_from(address: str, port: int, path: str, host: str = "localhost") -> tuple[int, float]:
    """Ask for a page from another address of this machine. Return the status and the seconds until the first byte."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0)) as link:
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        head = link.recv(100)
    return int(head.split()[1]) if head else 0, time.monotonic() - began
