"""Check whether a process of the league is healthy: `healthcheck.py web|scheduler|worker [ready]`. Exit code 0, or 1 and a reason.

For scheduler and worker it checks whether all loops of the processes in this container still turn, because only a stuck loop requires a restart.
With `ready` it also reports a failing loop, which every loop is while the database is down, and a worker that refuses to play.
"""

from __future__ import annotations

import os
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from league.service import alive

KINDS = ("web", "scheduler", "worker")


def web() -> str:
    """Return why the web or its database does not answer, or ""."""
    from league.service.env import envlist

    port = os.environ.get("PORT", "8000")
    host = envlist("ALLOWED_HOSTS", ["localhost"])[0].lstrip(".*") or "localhost"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/readyz", headers={"Host": host})
    # Scheme and host are fixed above.
    with urllib.request.urlopen(request, timeout=8) as answer:  # noqa: S310
        return "" if answer.status == 200 else f"/readyz answered {answer.status}"


def trouble(kind: str, *, ready: bool) -> str:
    """Return what is wrong, or ""."""
    try:
        return web() if kind == "web" else alive.trouble(kind, ready=ready)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    kind, *words = sys.argv[1:] or [""]
    if kind not in KINDS or words not in ([], ["ready"]):
        sys.exit(f"usage: healthcheck.py {'|'.join(KINDS)} [ready]")
    if reason := trouble(kind, ready=bool(words)):
        sys.exit(f"unhealthy: {reason}")
