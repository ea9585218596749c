"""Is a process of the league at work? `healthcheck.py web|scheduler|worker`: exit code 0, or 1 and a reason.

Each check asks for an effect of the process that somebody else could see, not whether it exists.
"""

from __future__ import annotations

import os
import socket
import sys
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

from league.service.env import envint, envlist, envstr

SILENT = timedelta(minutes=2)  # a worker reports itself every few seconds
ROUNDS = 12  # of the scheduler that may fail to come, one after the other


def web() -> str:
    """It answers, and its database does."""
    port = os.environ.get("PORT", "8000")
    host = envlist("ALLOWED_HOSTS", ["localhost"])[0].lstrip(".*") or "localhost"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/readyz", headers={"Host": host})
    # Scheme and host are fixed above.
    with urllib.request.urlopen(request, timeout=8) as answer:  # noqa: S310
        return "" if answer.status == 200 else f"/readyz answered {answer.status}"


def scheduler() -> str:
    """It has put the queue right of late, and all its loops live."""
    row = mine("SELECT seen, trouble FROM league_scheduler")
    if row is None:
        return "this scheduler has not reported itself to the league"
    seen, trouble = row
    silent = (datetime.now(UTC) - seen).total_seconds()
    late = silent > ROUNDS * envint("RECONCILE_S", 10)
    return str(trouble) or (f"this scheduler has not put the queue right for {silent:.0f} s" if late else "")


def worker() -> str:
    """Its row in the table of workers is fresh, all its loops live, and it does not refuse to play."""
    row = mine("SELECT seen, trouble, refusal FROM league_worker")
    if row is None:
        return "this worker has not reported itself to the league"
    seen, trouble, refusal = row
    if refusal:
        return f"this worker refuses to play: {refusal}"
    silent = datetime.now(UTC) - seen
    late = silent > max(SILENT, timedelta(seconds=envint("LEASE_S", 30)))
    return str(trouble) or (f"this worker has been silent for {silent.total_seconds():.0f} s" if late else "")


def mine(table: str) -> tuple[Any, ...] | None:
    """The row of the process of this container, or host, that reported itself last."""
    import psycopg

    with psycopg.connect(envstr("DATABASE_URL") or "", connect_timeout=5) as database:
        statement = f"{table} WHERE name LIKE %s ORDER BY seen DESC LIMIT 1"
        return database.execute(statement.encode(), [f"{socket.gethostname()[:60]}:%"]).fetchone()


CHECKS = {check.__name__: check for check in (web, scheduler, worker)}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: healthcheck.py {'|'.join(CHECKS)}")
    try:
        trouble = CHECKS[sys.argv[1]]()
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"
    if trouble:
        sys.exit(f"unhealthy: {trouble}")
