"""A WSGI application without Django: /wait waits for the file of WAIT_FOR, /broken breaks, /large is large; all other paths answer the process id."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer the request."""
    file = Path(os.environ["WAIT_FOR"])
    if environ["PATH_INFO"] == "/wait":
        file.with_suffix(".begun").touch()
        while not file.exists():
            time.sleep(0.01)
    if environ["PATH_INFO"].endswith("/broken"):
        raise ValueError("as the test asked")
    if environ["PATH_INFO"] == "/large":
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(64 << 20))])
        return (b"x" * (1 << 20) for _ in range(64))
    body = environ["wsgi.input"].read() or str(os.getpid()).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
