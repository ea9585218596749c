"""Connections to PostgreSQL that die without a word: no FIN, no RST, as behind a balancer or a firewall that has forgotten them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db.utils import ConnectionHandler, OperationalError

from league.service import env
from tests.support import debian
from tests.support.postgres import PostgresServer
from tests.support.processes import wait_for

HOW_TO_GET_ONE = (
    "Install iproute2, and run the tests as root: a network that can be cut is made of two network namespaces."
)
# Between the network and the socket file of a server; it runs in a network namespace of its own.
RELAY = """
import socket, sys, threading
def carry(one, other):
    while data := one.recv(65536):
        other.sendall(data)
listener = socket.create_server(("0.0.0.0", 5432))
print("ready", flush=True)
while True:
    near = listener.accept()[0]
    far = socket.socket(socket.AF_UNIX)
    far.connect(sys.argv[1])
    for pair in ((near, far), (far, near)):
        threading.Thread(target=carry, args=pair, daemon=True).start()
"""


def connect(url: str) -> psycopg.Connection:
    """Return a new connection as Django makes it, with the settings of a league."""
    database = ConnectionHandler({"default": env.database(url)})["default"]
    connection = database.get_new_connection(database.get_connection_params())
    assert isinstance(connection, psycopg.Connection)
    return connection


def test_each_connection_is_watched_by_the_kernel(postgres_url: str) -> None:
    with connect(postgres_url) as connection, socket.socket(fileno=os.dup(connection.fileno())) as line:
        watched = {
            "keepalives": line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
            "keepalives_idle": line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
            "keepalives_interval": line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
            "keepalives_count": line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT),
            "tcp_user_timeout": line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT),
        }
    assert {name: str(value) for name, value in watched.items()} == {
        name: value for name, value in env.NOTICE_LOSS.items() if name != "connect_timeout"
    }


class Cable:
    """A network of two ends, of which the far one leads to a PostgreSQL server. `cut` drops whatever is sent from then on."""

    def __init__(self, server: PostgresServer) -> None:
        self._ip = debian.find("iproute2", debian.on_path("ip"), HOW_TO_GET_ONE)
        self._near = f"tute{os.getpid() % 100_000}"
        # A network that documentation has for itself
        self.host, self._ours = "198.51.100.2", "198.51.100.1/30"
        words = ["unshare", "--net", sys.executable, "-c", RELAY, f"{server.folder}/.s.PGSQL.{server.port}"]
        self._relay = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._relay.stdout is not None
        assert self._relay.stdout.readline() == "ready\n"
        try:
            self._say("link", "add", self._near, "type", "veth", "peer", "name", "far", "netns", str(self._relay.pid))
            self._say("address", "add", self._ours, "dev", self._near)
            self._say("link", "set", self._near, "up")
            self._far("address", "add", f"{self.host}/30", "dev", "far")
            self._far("link", "set", "far", "up")
        except BaseException:
            self.close()
            raise

    def _say(self, *words: str) -> None:
        subprocess.run([self._ip, *words], check=True)

    def _far(self, *words: str) -> None:
        subprocess.run(["nsenter", "--net", "--target", str(self._relay.pid), self._ip, *words], check=True)

    def cut(self) -> None:
        self._far("link", "set", "far", "down")

    def close(self) -> None:
        self._relay.kill()
        self._relay.wait()
        with suppress(subprocess.CalledProcessError):  # it may have gone with the other end
            self._say("link", "delete", self._near)


@pytest.fixture
def cable(postgres_server: PostgresServer) -> Iterator[Cable]:
    cable = Cable(postgres_server)
    yield cable
    cable.close()


@pytest.mark.slow
def test_a_connection_that_dies_without_a_word_is_an_error_and_no_hang(postgres_url: str, cable: Cable) -> None:
    """Without the settings each of the three hangs for minutes, most for a quarter of an hour and more."""
    parts = urlsplit(postgres_url)
    url = parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@{cable.host}:5432").geturl()
    waiting, idle = connect(url), connect(url)
    query = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(600)'"

    def answer() -> None:
        waiting.execute("SELECT pg_sleep(600)")

    with ThreadPoolExecutor(1) as pool, psycopg.connect(postgres_url, autocommit=True) as beside:
        answered = pool.submit(answer)
        wait_for(lambda: beside.execute(query).fetchone() == (1,), "the statement to run", 60)
        cable.cut()
        for fails in (answered.result, lambda: idle.execute("SELECT 1"), lambda: connect(url)):
            with pytest.raises((psycopg.OperationalError, OperationalError)):
                fails()
