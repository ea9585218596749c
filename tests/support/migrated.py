"""Migrated databases for tests: all migrations run once on SQLite and once on each version of PostgreSQL, and tests copy the results.

The results stay in var/test/migrated until a migration, a model, a trigger or Django changes, so that the next run begins with them, too.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tests.support.compose import TOP
from tests.support.postgres import PostgresServer, programs

KEPT = TOP / "var" / "test" / "migrated"
NAME = "migrated"  # The database that each server has
LIBRARIES = ("Django", "django-celery-beat", "django-timezone-field")


def _digest() -> str:
    """Return a hash of everything on which the migrated database depends."""
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    # The migrations and models, their steps, and the triggers that are installed after a migration
    service = [TOP / "league" / "service" / name for name in ("changes.py", "migrating.py")]
    for path in (*sorted((TOP / "league").glob("m*/*.py")), *service):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:20]


@contextlib.contextmanager
def _stored(ending: str) -> Iterator[Path]:
    """Yield the path of a stored result, under a lock, so that only one process creates it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    place = KEPT / f"{_digest()}{ending}"
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            for old in KEPT.glob(f"*{ending}"):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        yield place


def _migrate(url: str) -> None:
    """Run all migrations on an empty database, with the code of this tree."""
    with tempfile.TemporaryDirectory(prefix="tute-migrated-") as state:
        inherited = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "PATH", "TMPDIR")}
        environment = {**inherited, "DATABASE_URL": url, "STATE_DIR": state, "SECRET_KEY": "of nobody", "HTTPS": "0"}
        command = [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"]
        subprocess.run(command, env=environment, cwd=TOP, check=True)


def sqlite_file() -> Path:
    """Return a file to copy: the league on SQLite, migrated and empty."""
    with _stored(".sqlite3") as place:
        if not place.exists():
            making = place.with_suffix(".making")
            making.unlink(missing_ok=True)
            _migrate(f"sqlite://{making}")
            making.rename(place)
        return place


def server(source: str = "any", *, durable: bool = False) -> PostgresServer:
    """Start a server that has a migrated database: a copy of a stored one, because initdb and the tables take seconds of a core."""
    words = [str(programs(source) / "postgres"), "--version"]
    version = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    with _stored(f".{re.sub(r'[^a-zA-Z0-9.]+', '-', version.strip())}") as place:
        if not place.exists():
            first, making = PostgresServer(source, durable=True), KEPT / "making"
            try:
                _migrate(first.create_database(name=NAME))
                shutil.rmtree(making, ignore_errors=True)
                first.store(making)
            finally:
                first.close()
            making.rename(place)
    return PostgresServer(source, durable=durable, like=place)


def create_database(server: PostgresServer) -> str:
    """Return the address of a new database of a server of `server()`: migrated and empty."""
    return server.create_database(like=server.url(NAME))


def dump(server: PostgresServer, url: str, *words: str) -> str:
    """Dump a database as statements that any newer PostgreSQL can run; `words` are further arguments of pg_dump."""
    command = [str(server.bin / "pg_dump"), *words, "--inserts", url]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    # Remove what only psql understands, and settings that another version may not have.
    return re.sub(
        r"(?m)^(\\\w+.*|SET \w+_timeout = .*|SELECT pg_catalog.set_config\('search_path'.*)\n", "", process.stdout
    )
