"""A real PgBouncer in transaction mode before the PostgreSQL of the tests: the machine's own, or Debian's package."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.support import debian
from tests.support.postgres import PostgresServer
from tests.support.processes import Process, free_port

HOW_TO_GET_ONE = (
    "Install your system's package (Debian: sudo apt-get install pgbouncer), so that `pgbouncer` is on PATH."
)
CONNECTIONS = 2  # Connections to the server, for any number of clients.


class PgBouncer:
    """A pooler that gives each transaction one of two connections, so that state kept in a session is lost to the next statement."""

    def __init__(self, server: PostgresServer) -> None:
        program = debian.find("pgbouncer", debian.on_path("pgbouncer"), HOW_TO_GET_ONE)
        self.server = server
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="tute-pgbouncer-"))
        (self.folder / "users").write_text(f'"tute" "{server.password}"\n')
        values = {
            "listen_addr": "127.0.0.1",
            "listen_port": self.port,
            "unix_socket_dir": "",
            "pool_mode": "transaction",
            "default_pool_size": CONNECTIONS,
            "max_client_conn": 200,
            "auth_type": "scram-sha-256",
            "auth_file": self.folder / "users",
        }
        lines = ["[databases]", f"* = host=127.0.0.1 port={server.port}", "[pgbouncer]"]
        settings = self.folder / "pgbouncer.ini"
        settings.write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in values.items())]) + "\n")
        if server.uid is not None:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, server.uid, server.uid)
        self.process = Process(
            "PgBouncer", [program, str(settings)], self.folder / "log", cwd=self.folder, uid=server.uid
        )
        try:
            self.process.wait_until(self._answers, "it answers")
        except BaseException:
            self.close()
            raise

    def url(self, direct: str) -> str:
        """Return the address, through this pooler, of the database that is at `direct`, in the form that the league reads."""
        parts = urlsplit(direct)
        return f"postgresql://tute:{self.server.password}@127.0.0.1:{self.port}{parts.path}?pool_mode=transaction"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.server.url("postgres").replace(f":{self.server.port}/", f":{self.port}/")).close()
        except psycopg.OperationalError:
            return False
        return True

    def close(self) -> None:
        """Stop the pooler and remove its folder."""
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
