"""Listeners on the real web server: they hear of changes, resume, are bounded, and are dropped if they do not read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.test import Client

from league.models import BotVersion
from league.service import live, topics
from league.service.live import Hub, Wanted
from tests.support import migrated
from tests.support.league import accepted, later, running, started
from tests.support.processes import Process, free_port, wait_for

Serve = Callable[[str], tuple[Process, int]]
INSERT = "INSERT INTO league_change (key, number) VALUES ('events', 1), ('ratings:3', 2)"


class Stream:
    """A listener, as a browser is one."""

    def __init__(self, port: int, query: str, **headers: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        lines = [f"GET /live?{query} HTTP/1.1", "Host: localhost", *(f"{k}: {v}" for k, v in headers.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        while line := self.file.readline().decode().strip():
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value

    def event(self) -> tuple[str, dict[str, int]] | None:
        """Return the id and the data of the next event; None at the end of the stream."""
        fields: dict[str, str] = {}
        while line := self.file.readline().decode():
            if line == "\n" and "data" in fields:
                assert fields["event"] == "change"
                return fields["id"], json.loads(fields["data"])
            name, _, value = line.strip().partition(": ")
            fields[name] = value
        return None

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start the real site with one thread for requests, on this database; the process and its port."""
    begun = []

    def start(url: str) -> tuple[Process, int]:
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", "league.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "1"]
        command += ["--worker-class", "league.service.web_worker.BufferingWorker", "--no-control-socket"]
        environment = os.environ | {
            "DATABASE_URL": url,
            "SECRET_KEY": "of nobody",
            "HTTPS": "0",
            "STATE_DIR": str(tmp_path),
        }
        environment |= {"LIVE_PER_ADDRESS": "3", "BROKER_URL": "filesystem://"}
        process = Process("gunicorn", command, tmp_path / "log", env=environment, cwd=settings.BASE_DIR)
        begun.append(process)
        process.wait_until(lambda: answers(port, "healthz") == 200, "the first answer", 120)
        return process, port

    yield start
    for process in begun:
        process.stop()


def answers(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_listeners_hold_no_thread_hear_what_changes_and_go_on_where_they_were(serve: Serve, tmp_path: Path) -> None:
    place = tmp_path / "league.sqlite3"
    shutil.copyfile(migrated.sqlite_file(), place)
    process, port = serve(f"sqlite://{place}")
    first = Stream(port, "topic=events&topic=ratings:3")
    assert (first.status, first.headers["content-type"]) == (200, "text/event-stream")
    assert first.headers["x-accel-buffering"] == "no"
    assert first.headers["cache-control"] == "no-store"
    assert "content-length" not in first.headers
    assert "content-encoding" not in first.headers
    assert first.event() == ("0.0", {"events": 0, "ratings:3": 0}), "whoever knows nothing is told everything"
    knows = Stream(port, "topic=ratings:3&since=0")
    with sqlite3.connect(place) as rows:
        rows.execute(INSERT)
    assert first.event() == ("1.2", {"events": 1, "ratings:3": 2})
    assert knows.event() == ("2", {"ratings:3": 2}), "nothing before: it knew"

    # After an absence only changes are sent
    first.close()
    with sqlite3.connect(place) as rows:
        rows.execute("INSERT INTO league_change (key, number) VALUES ('events', 1)")
    again = Stream(port, "topic=events&topic=ratings:3", **{"Last-Event-ID": "1.2"})
    assert again.event() == ("2.2", {"events": 2})

    third = Stream(port, "topic=events&since=2")
    assert wait_for(lambda: answers(port, "live?topic=events") == 429, "no fourth one from this address", 60)
    assert answers(port, "version") == 200, "the one thread is free"
    third.close()
    assert wait_for(lambda: answers_stream(port), "room again", 60)

    process.popen.send_signal(signal.SIGTERM)
    assert again.event() is None, "the end, at once"
    assert process.popen.wait(60) == 0
    assert "Traceback" not in process.tail(200)


def answers_stream(port: int) -> bool:
    stream = Stream(port, "topic=events")
    try:
        return stream.status == 200
    finally:
        stream.close()


@pytest.mark.slow
def test_postgresql_goes_and_comes_back_and_listeners_stay(serve: Serve) -> None:
    server = migrated.server()
    try:
        url = migrated.create_database(server)
        _, port = serve(url)
        stream = Stream(port, "topic=events")
        assert stream.event() == ("0", {"events": 0})
        server.restart(signal.SIGQUIT)
        with psycopg.connect(url) as rows:
            rows.execute(INSERT)
        assert stream.event() == ("1", {"events": 1})
        server.restart(signal.SIGINT)
        late = Stream(port, "topic=events&since=0")
        assert late.event() == ("1", {"events": 1})
    finally:
        server.close()


def test_who_does_not_read_is_dropped_and_the_others_go_on() -> None:
    """A reader that makes every look another version; pairs of real sockets."""
    looks = iter(range(10**9))
    many = tuple(f"tournament:{10**17 + i}" for i in range(topics.MOST))
    hub = Hub(lambda names: dict.fromkeys(names, next(looks)))
    ours, slow = socket.socketpair()
    for end in (ours, slow):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    theirs, reads = socket.socketpair()
    late, _ = socket.socketpair()
    reads.settimeout(60)
    before, live.PACE_S = live.PACE_S, 0.001
    try:
        hub.adopt(ours, Wanted("a", many, (None,) * len(many)))
        hub.adopt(theirs, Wanted("b", many, (None,) * len(many)))
        wait_for(lambda: len(hub) == 2, "both", 60)

        def read_on() -> bool:
            assert reads.recv(2**20)
            return len(hub) == 1

        wait_for(read_on, "the slow one is dropped", 120, every=0)
        assert reads.recv(2**20)
    finally:
        live.PACE_S = before
        hub.close()
    assert len(hub) == 0
    slow.close()
    while reads.recv(2**20):
        pass
    hub.adopt(late, Wanted("b", many, (None,) * len(many)))
    assert late.fileno() == -1, "a closed hub takes nobody"


def test_topics_follow_rows(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "one"), accepted(berto, "two")], boards=2)
    match = cup.matches.get()
    bot = accepted(ana, "three").bot_id
    names = [topics.of_match(match.public_id), topics.of_bot(bot), "matches", "match:nobody", "bot:999999"]
    versions = [topics.read(names)]
    assert [versions[0][name] for name in names[3:]] == [0, 0]

    def changed() -> set[str]:
        versions.append(topics.read(names))
        return {name for name in names if versions[-1][name] != versions[-2][name]}

    assert changed() == set()
    assert running(now=later(1)).pk == match.pk
    assert changed() == {names[0], "matches"}
    type(match).objects.filter(pk=match.pk).update(progress=40)
    assert changed() == {names[0]}
    BotVersion.objects.filter(bot=bot).update(status="rejected")
    assert changed() == {names[1]}


def test_without_a_hub_the_answer_ends_and_what_nobody_can_follow_is_refused(client: Client, db: None) -> None:
    events, matches = topics.read(["events", "matches"]).values()
    answer = client.get(f"/live?topic=events&topic=matches&since={events}.{matches + 7}")
    lines = answer.content.decode().splitlines()
    assert lines[0].startswith("retry: ")
    assert lines[2:4] == [f"id: {events}.{matches}", "event: change"]
    assert json.loads(lines[4].removeprefix("data: ")) == {"matches": matches}
    assert "data" not in client.get("/live?topic=events", headers={"Last-Event-ID": str(events)}).content.decode()
    for query in (
        "",
        "topic=",
        "topic=secrets",
        "topic=match:a'b",
        "topic=tournament:x",
        "&".join(f"topic=bot:{i}" for i in range(9)),
    ):
        assert client.get(f"/live?{query}").status_code == 400, query
    assert client.post("/live?topic=events").status_code == 405
    # Odd words are no versions: everything is sent
    for since in ("x", "1.2.3", "-1", "1" * 30):
        assert f'"events":{events}' in client.get("/live", {"topic": "events", "since": since}).content.decode(), since
