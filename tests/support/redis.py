"""A real Redis server for the tests: the machine's own, or else Debian's package.

Command and users are those of production (docker-compose.yml, docker/prepare).
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import redis

from tests.support import compose, debian
from tests.support.processes import Process, free_port

HOW_TO_GET_ONE = "Install Redis so that `redis-server` is on PATH (Debian: sudo apt-get install redis-server)."


def program() -> str:
    """Return the path of `redis-server`; install Debian's package where that is allowed. Raises DidNotStart if there is none."""
    return debian.find("redis-server", debian.on_path("redis-server"), HOW_TO_GET_ONE)


class RedisServer:
    """A server on a free port of 127.0.0.1. url: its address for operators, who may do anything; urls: its addresses for the league, by user."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tute-redis-"))
        self.port = free_port()
        users = self._prepare()
        self.socket = self.folder / "socket"
        ours = [program(), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        ours += ["--unixsocket", str(self.socket)]
        theirs = compose.service("redis").command[1:]
        self.command = ours + [word.replace(f"{compose.SECRETS}redis_acl", str(users)) for word in theirs]
        self.start()

    def _prepare(self) -> Path:
        """Create the secrets as docker/prepare does: addresses with passwords. Return the file of the users."""
        docker = self.folder / "docker"
        docker.mkdir()
        for name in ("prepare", "league.env.example"):
            shutil.copy(compose.TOP / "docker" / name, docker)
        subprocess.run([docker / "prepare"], check=True, capture_output=True)
        secrets = docker / "secrets"
        here = f"@127.0.0.1:{self.port}/"
        self.url = f"redis://:{(secrets / 'redis_password').read_text()}{here}0"
        self.urls = {
            user: (secrets / f"{user}_broker_url").read_text().replace("@redis:6379/", here)
            for user in ("web", "scheduler", "runner")
        }
        return secrets / "redis_acl"

    def client(self) -> redis.Redis:
        """Return a patient client of an operator."""
        return redis.Redis.from_url(self.url)

    def start(self) -> None:
        """Start the server. It is empty, because it stores nothing."""
        self.process = Process("Redis", self.command, self.folder / "log")
        try:
            self.process.wait_until(self._answers, "it answers")
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """Stop the server at once."""
        self.process.kill()

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_timeout=3) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False

    @property
    def version(self) -> str:
        """Return the server's version as it reports it."""
        with self.client() as client:
            return str(client.info("server")["redis_version"])

    def empty(self) -> None:
        """Delete everything, as if the server had just started."""
        with self.client() as client:
            client.flushall()

    def hang(self) -> None:
        """Stop answering, with all connections open."""
        self.process.popen.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Answer again."""
        self.process.popen.send_signal(signal.SIGCONT)

    def fill(self) -> None:
        """Refuse every command that takes memory."""
        with self.client() as client:
            client.config_set("maxmemory", 1)

    def have_room(self) -> None:
        """Accept every command again."""
        with self.client() as client:
            client.config_set("maxmemory", 0)

    def listeners(self) -> int:
        """Return the number of clients that wait for a message, or whose last command fetched one."""
        with self.client() as client:
            return sum(client_row["cmd"] == "brpop" for client_row in client.client_list())

    def denied(self) -> list[tuple[str, str]]:
        """Return user and command of each refusal since the start or the last call, except of the name that every client sends first."""
        with self.client() as client:
            refusals = [(entry["username"], entry["object"]) for entry in client.acl_log()]
            client.acl_log_reset()
        return [refusal for refusal in refusals if not refusal[1].startswith("client")]

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
