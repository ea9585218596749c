"""Redis may go: what counts the requests goes on without it, bounded in time and memory, and comes back by itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from league.domain.people import tokens
from league.service import cache as service
from tests.support.processes import wait_for
from tests.support.redis import RedisServer

CALL_S, SLOW_S = service.WITHIN_S, service.SLOW_S
FEW = {"anon": (5, 3600), "user": (5, 3600), "upload": (5, 3600)}


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """A server of their own, since these tests mistreat it."""
    redis = RedisServer()
    yield redis
    redis.close()


@pytest.fixture
def league(server: RedisServer, settings: Any, db: None, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The site with its counters in that Redis, five requests allowed. As patient as a busy machine needs, until the trouble begins."""
    monkeypatch.setattr(service, "WITHIN_S", 5.0)
    monkeypatch.setattr(service, "SLOW_S", 5.0)
    service.guard.cache_clear()
    server.empty()
    shared = {"BACKEND": "league.service.cache.GuardedCache", "LOCATION": server.urls["web"], "KEY_PREFIX": "tute"}
    settings.CACHES = {"default": shared}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": FEW}
    cache._local.clear()
    return Client(raise_request_exception=False)


def keys(server: RedisServer) -> int:
    """Return the number of keys on the server."""
    with server.client() as client:
        return int(client.dbsize())


@pytest.mark.parametrize(
    ("go", "come"),
    [
        (RedisServer.stop, RedisServer.start),
        (RedisServer.hang, RedisServer.go_on),
        (RedisServer.fill, RedisServer.have_room),
    ],
    ids=["down", "hung", "full"],
)
def test_the_api_counts_on_without_redis(
    server: RedisServer,
    league: Client,
    go: Callable[[RedisServer], None],
    come: Callable[[RedisServer], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(service, "REST_S", 3600.0)
    assert league.get("/api/v1/games").status_code == 200
    assert keys(server) == 1
    assert server.denied() == []
    monkeypatch.setattr(service, "WITHIN_S", 0.1)
    calls: list[Any] = []
    pool = service.guard((server.urls["web"],))._pool
    submit = pool.submit
    monkeypatch.setattr(pool, "submit", lambda ask: calls.append(ask) or submit(ask))
    go(server)
    try:
        answers = [league.get("/api/v1/games") for _ in range(8)]
        # The first request alone finds out: by its look at the counter or, where only memory lacks, by the note that follows.
        assert len(calls) in (1, 2)
    finally:
        come(server)
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
    assert answers[-1]["Content-Type"].startswith("application/problem+json")
    assert league.get("/").status_code == 200
    messages = [record.getMessage() for record in caplog.records if record.name == "league.cache"]
    assert len(messages) == 1, messages
    assert "counts requests by itself" in messages[0]


class Deaf(threading.Thread):
    """Takes connections as a Redis that hangs: by its system, without ever saying a word. Counts them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.listening.getsockname()[1]}/0"
        self.kept: list[socket.socket] = []
        self.start()

    def run(self) -> None:
        with suppress(OSError):
            while True:
                self.kept.append(self.listening.accept()[0])

    def close(self) -> None:
        for open_socket in (self.listening, *self.kept):
            with suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)
            open_socket.close()
        self.join(30)


@pytest.fixture
def deaf() -> Iterator[Deaf]:
    listener = Deaf()
    yield listener
    listener.close()


def test_only_the_first_request_waits_for_a_redis_that_hangs_and_only_once(
    league: Client, deaf: Deaf, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WITHIN_S", 0.1)
    monkeypatch.setattr(service, "REST_S", 3600.0)
    settings.CACHES = {"default": {"BACKEND": "league.service.cache.GuardedCache", "LOCATION": deaf.url}}
    for _ in range(4):
        assert league.get("/api/v1/games").status_code == 200
        assert league.get("/").status_code == 200
    assert len(deaf.kept) == 1  # a wait is an attempt to connect: there is no connection to be had


def test_no_request_waits_longer_than_200_ms_for_any_redis(
    league: Client, ana: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request makes more calls than these two limits allow, all but one of them as slow as a call may be."""
    calls: list[int] = []
    real = service.Guard.call

    def overheard(self: service.Guard, *words: Any) -> Any:
        calls[-1] += 1
        return real(self, *words)

    monkeypatch.setattr(service.Guard, "call", overheard)
    headers = {"HTTP_AUTHORIZATION": f"Bearer {tokens.create(ana, 'laptop')[1]}"}
    words = {"password": "tres reyes magos"}
    for ask in (
        lambda: league.get("/api/v1/games"),
        lambda: league.get("/api/v1/me", **headers),
        lambda: league.get("/api/v1/me", HTTP_AUTHORIZATION="Bearer of bad news"),
        lambda: league.post("/api/v1/bots/rufo/versions", {"games": "partnership"}, **headers),
        lambda: league.post("/accounts/login/", {"username": "ana", **words}),
        lambda: league.post("/accounts/signup/", {"name": "dora", **words}),
        lambda: Client().post("/accounts/login/", {"username": "dora", **words}),
        lambda: league.get("/"),
    ):
        calls.append(0)
        assert ask().status_code < 500
    assert (min(calls), max(calls)) == (2, 6)
    assert CALL_S + (max(calls) - 1) * SLOW_S <= 0.2


def test_redis_is_asked_again_when_it_is_back(
    server: RedisServer, league: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(service, "REST_S", 0.0)
    server.stop()
    try:
        assert league.get("/api/v1/games").status_code == 200
    finally:
        server.start()
    wait_for(lambda: cache.add("a", 1) and keys(server), "the first key in Redis", 60)
    assert caplog.messages[-1].startswith("Redis answers again")


def test_a_redis_that_forgets_everything_lets_nobody_pass_for_ever(server: RedisServer, league: Client) -> None:
    statuses = []
    for number in range(8):
        statuses.append(league.get("/api/v1/games").status_code)
        if number == 3:
            server.empty()
    assert statuses == [200] * 8
    assert [league.get("/api/v1/games").status_code for _ in range(3)] == [200, 429, 429]


def test_a_slow_redis_is_as_good_as_away(server: RedisServer, league: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SLOW_S", 0.0)
    assert cache.add("slow", 1)
    assert keys(server) == 1
    assert cache.add("other", 1)
    assert cache.incr("other") == 2
    assert keys(server) == 1


def test_the_count_in_the_process_is_bounded(
    server: RedisServer, league: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache._local, "_max_entries", 50)
    monkeypatch.setattr(service, "REST_S", 3600.0)
    server.stop()
    try:
        for number in range(500):
            cache.add(f"key{number}", 1)
    finally:
        server.start()
    assert len(cache._local._cache) <= 50
    with pytest.raises(ValueError, match="not found"):
        cache.incr("key0")
