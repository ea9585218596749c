"""The league in production, started without containers: the commands of docker-compose.yml on a real PostgreSQL and Redis.

Everything runs in an environment with only production's packages (tests.support.production). Addresses and folders are replaced; commands, variables
and secrets are those of the file, so a test that plays a tournament here shows that the file has the right ones.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tests.support import compose, production
from tests.support.compose import SECRETS, TOP
from tests.support.processes import Process, free_port
from tests.support.runtimes import lend

HOST = "league.test"


def base_environment(python: Path = Path(sys.executable)) -> dict[str, str]:
    """Return the environment variables that any command needs, with the programs beside `python` first on PATH, but no settings of a league."""
    inherited = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**inherited, "PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}


class Stack:
    """Processes of one league. Start services by their names in docker-compose.yml."""

    def __init__(self, *, database_url: str, broker_urls: Mapping[str, str], **settings: str) -> None:
        """broker_urls: the address of the broker for each user (`RedisServer.urls`)."""
        self.python = production.python()
        self.folder = Path(tempfile.mkdtemp(prefix="tute-stack-"))
        self.folder.chmod(0o711)  # For root, bots run under users of their own, who must reach their runtime.
        self.database_url = database_url
        self.port = free_port()
        self.settings = {
            "ALLOWED_HOSTS": HOST,
            "LEASE_S": "30",  # A worker on a busy machine must not count as dead.
            "RECONCILE_S": "2",
            "LADDERS": "0",  # Only matches that a test requests are played.
            "LOG_LEVEL": "INFO",
            **settings,
        }
        self.processes: list[Process] = []
        self._reading: psycopg.Connection | None = None  # The connection of `rows`.
        parts = urlsplit(database_url)
        passwords = {role: secrets.token_hex(12) for role in ("web", "runner")}

        def address(role: str) -> str:
            return parts._replace(netloc=f"tute_{role}:{passwords[role]}@{parts.hostname}:{parts.port}").geturl()

        self._write_secrets(
            secret_key=secrets.token_hex(48),
            runner_secret_key=secrets.token_hex(48),
            database_url=database_url,
            web_database_url=address("web"),
            web_password=passwords["web"],
            runner_database_url=address("runner"),
            runner_password=passwords["runner"],
            mail_url="",  # No mail server, as docker/prepare leaves it.
            **{f"{user}_broker_url": url for user, url in broker_urls.items()},
        )

    def _write_secrets(self, **values: str) -> None:
        place = self.folder / "secrets"
        place.mkdir(mode=0o700)
        for name, value in values.items():
            (place / name).write_text(value)

    # ---- processes

    def environment(self, service: compose.Service) -> dict[str, str]:
        """Return the service's environment from the file, with the folders of this stack."""
        state = self.folder / f"state-{service.name}"
        if service.name == "worker":
            lend(state / "sandbox")
        exchanged = {
            name: value.replace(SECRETS, f"{self.folder}/secrets/").replace("/var/lib/tute", str(state))
            for name, value in service.environment.items()
        }
        # All tests of this machine, and all else that runs on it, share the users of bots.
        if "MACHINE_DIR" in exchanged:
            exchanged["MACHINE_DIR"] = os.environ.get("MACHINE_DIR", "")
        temporary = self.folder / f"tmp-{service.name}"  # A container has a /tmp of its own.
        temporary.mkdir(exist_ok=True)
        temporary.chmod(0o1777)
        own = {"PORT": str(self.port), "TMPDIR": str(temporary)}
        return {**base_environment(self.python), **self.settings, **exchanged, **own}

    def command(self, service: compose.Service) -> list[str]:
        """Return the service's command, on this stack's port and folder."""
        return [
            word.replace("0.0.0.0:8000", f"127.0.0.1:{self.port}").replace("=/tmp", f"={self.folder}")
            for word in service.command
        ]

    def start(self, name: str, **variables: str) -> Process:
        """Start one service, with environment variables for this process alone. A second call starts a second process."""
        service = compose.service(name)
        log = self.folder / f"{name}-{len(self.processes)}.log"
        environment = {**self.environment(service), **variables}
        process = Process(name, self.command(service), log, env=environment, cwd=TOP)
        self.processes.append(process)
        return process

    def run(self, name: str, timeout: float = 400) -> str:
        """Run a service that ends by itself, such as `migrate`; return its output."""
        service = compose.service(name)
        return self._run(self.command(service), self.environment(service), timeout)

    def grant(self) -> None:
        """Create the roles and grant them their rights, as the service `migrate` does at its end. The database must be migrated."""
        script = str(TOP / "docker" / "grant_roles.py")
        self._run([str(self.python), script], self.environment(compose.service("migrate")), 400)

    def manage(self, *arguments: str, timeout: float = 400) -> str:
        """Run manage.py in the web's environment; return its output."""
        return self.program("manage.py", *arguments, timeout=timeout)

    def program(self, *words: str, timeout: float = 400) -> str:
        """Run Python with these arguments in the web's environment; return its output."""
        return self._run([str(self.python), *words], self.environment(compose.service("web")), timeout)

    def _run(self, command: list[str], environment: Mapping[str, str], timeout: float) -> str:
        process = subprocess.run(command, env=environment, cwd=TOP, capture_output=True, text=True, timeout=timeout)
        if process.returncode:
            raise RuntimeError(
                f"{' '.join(command)} ended with code {process.returncode}:\n{process.stdout}{process.stderr}"
            )
        return process.stdout

    def check(self, name: str, *, live: bool = False) -> tuple[bool, str]:
        """Run the service's health check as the container would. live: only check whether the process must be started again."""
        service = compose.load()["services"][name]
        command = [word for word in service["healthcheck"]["test"][1:] if not (live and word == "ready")]
        environment = self.environment(compose.service(name))
        process = subprocess.run(command, env=environment, cwd=TOP, capture_output=True, text=True, timeout=120)
        return process.returncode == 0, process.stderr.strip()

    def close(self) -> None:
        """End every process, in the reverse order of starting, and remove the folder."""
        for process in reversed(self.processes):
            process.stop()
        if self._reading is not None:
            self._reading.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the league, as its database and as a client sees it

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query, without the league's own code.

        Each query is a transaction of its own. The connection stays open, because callers poll; if it was cut, a new one is made.
        """
        if self._reading is not None:
            try:
                return self._reading.execute(query.encode(), values).fetchall()
            except psycopg.OperationalError:  # The server or the database was away since the last query.
                self._reading.close()
        self._reading = psycopg.connect(self.database_url, autocommit=True)
        return self._reading.execute(query.encode(), values).fetchall()

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send one request to the web as a TLS proxy would forward it; return status and JSON (or text)."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body, method=method)
        for name, value in {"Host": HOST, "Accept": "application/json", **(headers or {})}.items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        try:
            return status, json.loads(text)
        except json.JSONDecodeError:
            return status, text

    def call(self, method: str, path: str, token: str, data: object = None, number: str = "") -> Any:
        """Make one API call with JSON in and out and this request id. An error status raises AssertionError, which shows the answer."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "X-Request-ID": number}
        status, answer = self.request(
            method, f"/api/v1{path}", None if data is None else json.dumps(data).encode(), headers
        )
        assert 200 <= status < 300, (method, path, status, answer)
        return answer

    def upload(self, token: str, bot: str, source: bytes, number: str = "") -> Any:
        """POST one source file as a version of `bot`, as a form of a browser or curl. number: the request id, if any."""
        edge = secrets.token_hex(8)
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{bot}.py"\r\n'
        body = head.encode() + b"Content-Type: text/x-python\r\n\r\n" + source + f"\r\n--{edge}--\r\n".encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={edge}"}
        headers["X-Request-ID"] = number
        status, answer = self.request("POST", f"/api/v1/bots/{bot}/versions", body, headers)
        assert status == 201, (status, answer)
        return answer

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the log lines of a service's processes, if LOG_FORMAT is json."""
        logs = [process.log.read_text() for process in self.processes if process.name == name]
        return [json.loads(line) for log in logs for line in log.splitlines() if line.startswith("{")]

    def logs(self) -> str:
        """Return the ends of all logs, for the message of a failing test."""
        return "\n".join(f"--- {process.name} ({process.pid})\n{process.tail(25)}" for process in self.processes)
