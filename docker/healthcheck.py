"""Is a process of the league at work? `healthcheck.py web|scheduler|worker`: exit code 0, or 1 and a reason.

Each check asks for an effect of the process that somebody else could see, not whether it exists.
"""

from __future__ import annotations

import os
import socket
import sys
import urllib.request
from datetime import UTC, datetime, timedelta

from league.service.env import envint, envlist, envstr

SILENT = timedelta(minutes=2)  # a worker reports itself every few seconds
BACKLOG = 60  # messages that the scheduler did not take: minutes of silence


def web() -> str:
    """It answers, and its database does."""
    port = os.environ.get("PORT", "8000")
    host = envlist("ALLOWED_HOSTS", ["localhost"])[0].lstrip(".*") or "localhost"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/readyz", headers={"Host": host})
    # Scheme and host are fixed above.
    with urllib.request.urlopen(request, timeout=8) as answer:  # noqa: S310
        return "" if answer.status == 200 else f"/readyz answered {answer.status}"


def scheduler() -> str:
    """What it tells itself every few seconds is also done: nothing piles up in its queue."""
    import redis

    with redis.Redis.from_url(envstr("BROKER_URL") or "", socket_timeout=5) as broker:
        waiting = broker.llen("upkeep")
    return "" if waiting < BACKLOG else f"{waiting} messages wait in the queue `upkeep`"


def worker() -> str:
    """Its row in the table of workers is fresh, and it does not refuse to play."""
    import psycopg

    with psycopg.connect(envstr("DATABASE_URL") or "", connect_timeout=5) as database:
        row = database.execute(
            "SELECT seen, refusal FROM league_worker WHERE name LIKE %s ORDER BY seen DESC LIMIT 1",
            [f"{socket.gethostname()[:60]}:%"],
        ).fetchone()
    if row is None:
        return "this worker has not reported itself to the league"
    seen, refusal = row
    if refusal:
        return f"this worker refuses to play: {refusal}"
    silent = datetime.now(UTC) - seen
    limit = max(SILENT, timedelta(seconds=envint("LEASE_S", 30)))
    return "" if silent < limit else f"this worker has been silent for {silent.total_seconds():.0f} s"


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
