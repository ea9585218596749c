"""Leagues of earlier releases, stored for tests of upgrades: `python -m tests.support.upgrades 215356c0` makes those of a commit.

It checks the commit out into a worktree of its own and lets its code make two leagues, which it writes below KEPT:

* one that was played: its `demo` on PostgreSQL, a player with a key and a tournament that waits (COMMIT.sql.gz), and all answers of its API
  (tests/support/answers.py; COMMIT.json.gz);
* one with rows in every table (tests/support/full.py), on each database: COMMIT.postgresql.gz and COMMIT.sqlite.gz.

The libraries are those of this Python; for a release that needs others, run it with a Python that has them.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.compose import TOP
from tests.support.migrated import dump
from tests.support.postgres import PostgresServer
from tests.support.stack import base_environment

KEPT = TOP / "tests" / "league" / "upgrades"
DEMO = ("demo", "--seed=7", "--boards=2", "--game=partnership", "--game=cabrero", "--slots=1", "--no-serve")
LATER = ("create_tournament", "Later", "--owner=ana", "--game=partnership", "--boards=2", "--start")
BOTS = ("--bot=random", "--bot=greedy", "--bot=counting")


@dataclass(frozen=True)
class Release:
    """The code of a release, running on one database."""

    code: Path
    database_url: str
    state_dir: Path

    def python(self, *words: str) -> str:
        """Run Python with this code; return its output."""
        settings = {"DATABASE_URL": self.database_url, "STATE_DIR": str(self.state_dir), "SECRET_KEY": "of a trial" * 6}
        settings |= {"HTTPS": "0", "AUDIT_PERCENT": "0", "PYTHONPATH": str(self.code), "LOG_LEVEL": "ERROR"}
        environment = {**base_environment(), **settings}
        process = subprocess.run(
            [sys.executable, *words], env=environment, cwd=self.code, capture_output=True, text=True, timeout=600
        )
        if process.returncode:
            raise RuntimeError(
                f"{' '.join(words)} ended with code {process.returncode}:\n{process.stdout}{process.stderr}"
            )
        return process.stdout

    def manage(self, *words: str) -> str:
        """Run manage.py."""
        return self.python("manage.py", *words)

    def fill(self) -> None:
        """Make a league with rows in every table."""
        self.manage("migrate", "--verbosity=0")
        self.python("-P", str(TOP / "tests" / "support" / "full.py"))

    def api_answers(self, token: str) -> dict[str, Any]:
        """Return all API answers of the league."""
        answers: dict[str, Any] = json.loads(self.python("-P", str(TOP / "tests" / "support" / "answers.py"), token))
        return answers


def make(commit: str) -> None:
    """Make the leagues of a commit and store them."""
    server = PostgresServer()
    with tempfile.TemporaryDirectory(prefix="tute-release-") as folder:
        place = Path(folder)
        place.chmod(0o711)  # As root, bots have users of their own.
        code = place / "code"
        git = ["git", "-C", str(TOP), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(code), commit], check=True)
        try:
            release = Release(code, server.create_database(), place / "state")
            release.manage(*DEMO)
            release.manage("create_player", "ana", "--no-password")
            token = release.manage("create_token", "ana").strip()
            release.manage(*LATER, *BOTS)
            content = json.dumps({"token": token, **release.api_answers(token)})
            _write(KEPT / f"{commit}.json.gz", content)
            _write(KEPT / f"{commit}.sql.gz", dump(server, release.database_url, "--no-owner", "--no-privileges"))
            full = Release(code, server.create_database(), place / "state")
            full.fill()
            _write(KEPT / f"{commit}.postgresql.gz", dump(server, full.database_url, "--no-owner", "--no-privileges"))
            file = place / "league.sqlite3"
            Release(code, f"sqlite://{file}", place / "state").fill()
            with sqlite3.connect(file) as connection:
                _write(KEPT / f"{commit}.sqlite.gz", "\n".join(connection.iterdump()))
        finally:
            subprocess.run([*git, "remove", "--force", str(code)], check=True)
            server.close()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path.relative_to(TOP)}: {path.stat().st_size // 1024} kB")


def read(name: str) -> str:
    """Return the text of a stored file."""
    return gzip.decompress((KEPT / f"{name}.gz").read_bytes()).decode()


if __name__ == "__main__":
    os.environ.pop("DATABASE_URL", None)
    make(sys.argv[1])
