"""Connections of a whole league that die without a word: its processes and open pages go on by themselves, and nothing is lost."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.ops.test_stack import BOARDS, LONG, a_cup, counted_once, enter_small, finish
from tests.support.cable import Cable
from tests.support.postgres import PostgresServer
from tests.support.processes import wait_for
from tests.support.redis import RedisServer
from tests.support.stack import HOST, Stack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
SOON = 150.0  # Seconds for what takes half a minute on an idle machine, and a quarter of an hour without the settings
PORTS = 5432, 6379
DUTY = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "league.settings"
django.setup()
from django_celery_beat.models import IntervalSchedule, PeriodicTask
every = IntervalSchedule.objects.create(every=1, period="seconds")
PeriodicTask.objects.create(name="often", task="league.tasks.mark_idle", interval=every)
"""


class Severed:
    """A league whose every connection to its servers passes a cable."""

    def __init__(self, url: str, postgres: PostgresServer, redis: RedisServer) -> None:
        self.cable = Cable(dict(zip(PORTS, (postgres.socket, redis.socket), strict=True)))
        self.url = url
        try:
            urls = {user: self.cable.address(address, PORTS[1]) for user, address in redis.urls.items()}
            self.stack = Stack(database_url=self.cable.address(url, PORTS[0]), broker_urls=urls)
            self.stack._reading = psycopg.connect(url, autocommit=True)  # The test itself reads without the cable.
        except BaseException:
            self.cable.close()
            raise

    def ask(self, query: str) -> tuple[object, ...]:
        """Return a row of the database itself, without the cable."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row

    def is_each_thread_back(self) -> bool:
        """Return True if the site answers more requests at once than it has threads."""

        def ask(_: int) -> int:
            try:
                return self.stack.request("GET", "/readyz")[0]
            except OSError:
                return 0

        with ThreadPoolExecutor(16) as pool:
            return set(pool.map(ask, range(16))) == {200}


@pytest.fixture
def severed(
    migrated_postgres_url: str, postgres_server: PostgresServer, redis_server: RedisServer
) -> Iterator[Severed]:
    league = Severed(migrated_postgres_url, postgres_server, redis_server)
    try:
        league.stack.grant()
        yield league
    finally:
        league.stack.close()
        league.cable.close()


class Stream:
    """An open page that listens for changes."""

    def __init__(self, stack: Stack) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=SOON)
        self.link.request("GET", "/live?topic=matches", headers={"Host": HOST, "Accept": "text/event-stream"})
        self.answer = self.link.getresponse()
        assert self.answer.status == 200

    def hear(self) -> None:
        """Wait for a change."""
        while not self.answer.readline().startswith(b"event: change"):
            pass


@pytest.mark.parametrize("how", ["cut", "forgotten"])
def test_a_league_goes_on_after_its_connections_died_without_a_word(severed: Severed, how: str) -> None:
    stack = severed.stack
    for service in ("web", "scheduler", "worker", "worker"):
        stack.start(service)
    enter_small(stack, 2)  # A match a cup; the other worker waits
    stack.program("-c", DUTY)
    wait_for(severed.is_each_thread_back, f"the site\n{stack.logs()}", LONG)
    often = "SELECT total_run_count FROM django_celery_beat_periodictask WHERE name = 'often'"
    wait_for(lambda: severed.ask(often) > (0,), f"the calendar\n{stack.logs()}", LONG)
    stream = Stream(stack)
    a_cup(stack, boards=2 * BOARDS)  # On a quiet machine a match of half as many may be over before it is seen.
    stream.hear()
    playing = "SELECT count(*) FROM league_match WHERE kind = 'tournament' AND status = 'running' AND progress > 0"
    wait_for(lambda: severed.ask(playing)[0], f"a match that is being played\n{stack.logs()}", LONG, every=0.05)

    if how == "cut":
        severed.cable.cut()
        time.sleep(40)  # Longer than any connection lives without an answer.
        severed.cable.mend()
    else:
        severed.cable.forget()
    now, began = severed.ask("SELECT now()"), time.monotonic()
    runs = severed.ask(often)

    def is_back(query: str, since: tuple[object, ...] = now) -> Callable[[], bool]:
        return lambda: severed.ask(query) > since

    for part, check in {
        "scheduler": is_back("SELECT max(seen) FROM league_scheduler"),
        "worker": is_back("SELECT min(seen) FROM league_worker"),
        "calendar": is_back(often, runs),
        "web": severed.is_each_thread_back,
    }.items():
        wait_for(check, f"the {part}\n{stack.logs()}", SOON)
        print(f"{part} is back after {time.monotonic() - began:.0f} s")
    a_cup(stack, "Second cup", boards=1)
    stream.hear()
    print(f"the page hears again after {time.monotonic() - began:.0f} s")
    finish(stack)
    counted_once(stack, tournaments=2)
    assert severed.ask("SELECT count(*) FROM league_match WHERE status = 'void'") == (0,)
