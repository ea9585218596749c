"""The first requests of a fresh process: several at once for each address, as a browser or a crowd sends them.

`python -m tests.support.first_requests ADDRESS...` prints one line for each answer that is no 200.
"""

from __future__ import annotations

import sys
import threading
from typing import Any
from wsgiref.util import setup_testing_defaults

from league.wsgi import application

AT_ONCE = 8
SWITCH_S = 1e-4  # Threads take turns as often as they can.


def ask(path: str, together: threading.Barrier) -> None:
    """Send one request when all threads are ready."""
    environ: dict[str, Any] = {"PATH_INFO": path, "SERVER_NAME": "localhost", "REMOTE_ADDR": "127.0.0.1"}
    setup_testing_defaults(environ)
    together.wait()
    answer = application(environ, lambda status, *_: status.startswith("200") or print(path, status))
    b"".join(answer)
    if hasattr(answer, "close"):
        answer.close()


if __name__ == "__main__":
    sys.setswitchinterval(SWITCH_S)
    for address in sys.argv[1:]:
        barrier = threading.Barrier(AT_ONCE)
        threads = [threading.Thread(target=ask, args=[address, barrier]) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
