"""Connections to PostgreSQL that die without a word: no FIN, no RST, as behind a balancer or a firewall that has forgotten them."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from celery.app.trace import build_tracer
from django.db.utils import ConnectionHandler, OperationalError
from kombu import Connection

from league import tasks
from league.celery import app, broker_options
from league.service import env
from league.service.cache import GuardedCache
from tests.support.cable import Cable
from tests.support.postgres import PostgresServer
from tests.support.processes import wait_for
from tests.support.redis import RedisServer


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


def test_each_connection_to_redis_is_watched_by_the_kernel(redis_server: RedisServer) -> None:
    url = redis_server.urls["web"]
    with Connection(url, transport_options=broker_options(url, Path())) as link:
        hints = link.default_channel.client
        cache = GuardedCache(url, {})._cache.get_client()
        for client in (hints, cache):
            connection = client.connection_pool.get_connection()
            line = connection._sock
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            for option, value in env.NOTICE_LOSS_OF_REDIS["socket_keepalive_options"].items():
                assert line.getsockopt(socket.IPPROTO_TCP, option) == value
            assert 0 < line.gettimeout() <= 1
            client.connection_pool.release(connection)


@pytest.fixture
def cable(postgres_server: PostgresServer) -> Iterator[Cable]:
    cable = Cable({5432: postgres_server.socket})
    yield cable
    cable.close()


@pytest.mark.slow
def test_a_connection_that_dies_without_a_word_is_an_error_and_no_hang(postgres_url: str, cable: Cable) -> None:
    """Without the settings each of the three hangs for minutes, most for a quarter of an hour and more."""
    url = cable.address(postgres_url, 5432)
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


def test_a_task_without_a_database_is_logged_without_a_traceback(monkeypatch, caplog) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("the database system is shutting down")

    own = {name: task for name, task in app.tasks.items() if name.startswith("league.tasks.")}
    assert own.keys() >= {tasks.play_match.name, tasks.advance_tournament.name}
    for name, task in own.items():
        monkeypatch.setattr(task, "run", fail)
        caplog.clear()
        with caplog.at_level("INFO", "celery.app.trace"):
            build_tracer(name, task, app=app)("1", (), {}, {"id": "1", "hostname": "h"})
        assert [(line.levelname, line.exc_text) for line in caplog.records] == [("INFO", None)], name
