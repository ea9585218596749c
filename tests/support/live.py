"""Real worker and scheduler processes on the database of a test."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from league.models import Match
from tests.support.processes import Process, wait_for
from tests.support.runtimes import lend


def database_url() -> str:
    """Return the DATABASE_URL of this test's database."""
    what = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite://{Path(what['NAME']).resolve()}"
    user = f"{quote(what['USER'])}:{quote(what['PASSWORD'])}@" if what["USER"] else ""
    return f"postgresql://{user}{what['HOST']}:{what['PORT']}/{what['NAME']}"


class LiveLeague:
    """A state folder, and the processes that use it. The users of bots may enter the folder."""

    def __init__(self, **variables: str) -> None:
        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="live-", dir=settings.STATE_DIR))
        self.folder.chmod(0o755)
        lend(self.folder / "sandbox")
        self.environment = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "STATE_DIR": str(self.folder),
            "BROKER_URL": "filesystem://",
            "SECRET_KEY": "only for this test",
            "LEASE_S": "30",  # A worker on a busy machine must not count as dead.
            "RECONCILE_S": "2",
            "PYTHONUNBUFFERED": "1",
            **variables,
        }
        self.processes: list[Process] = []

    def start(self, *words: str, **variables: str) -> Process:
        """Start `manage.py` with these arguments, and with environment variables for this process alone."""
        log = self.folder / f"{len(self.processes)}-{words[0]}.log"
        command = [sys.executable, "manage.py", *words]
        environment = {**self.environment, **variables}
        process = Process(" ".join(words), command, log, env=environment, cwd=settings.BASE_DIR)
        self.processes.append(process)
        return process

    def wait_until(self, fact: Callable[[], object], what: str, seconds: float = 400) -> None:
        """Wait for a fact; on a timeout, show the matches and the logs."""
        try:
            wait_for(fact, what, seconds, every=0.2)
        except TimeoutError as late:
            rows = list(Match.objects.values_list("public_id", "status", "attempts", "reason"))
            raise AssertionError(f"{late}\n{rows}\n{self.logs()}") from None

    def logs(self) -> str:
        """Return the ends of all logs."""
        return "\n".join(f"--- {process.name}\n{process.tail(60)}" for process in self.processes)

    def close(self) -> None:
        """End every process and remove the folder."""
        for process in reversed(self.processes):
            process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
