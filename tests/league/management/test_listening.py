"""Whoever takes hints goes on after whatever a queue may hold. What becomes of the broker itself: tests/chaos."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from celery import shared_task, signals
from django.conf import settings
from django.db import connection, connections

from league import celery, tasks
from league.domain.core.loops import Loops
from league.management.commands.scheduler import DatabaseCalendar
from league.management.listening import HintListener
from tests.support.processes import wait_for
from tests.support.redis import RedisServer

QUEUE = "of this test"
taken: list[object] = []


@shared_task(name="tests.note")
def note(word: object) -> None:
    """Keep the word; no list can be kept."""
    taken.append({word})


@pytest.fixture
def loops() -> Iterator[Loops]:
    """Return the loops of a process; restore the signal handlers after the test."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    taken.clear()
    yield Loops()
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_a_listener_takes_what_it_knows_and_goes_on_after_all_else(
    loops: Loops, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with celery.app.connection_for_write() as link:
        channel = link.channel()
        channel.queue_purge(QUEUE)
        producer = celery.app.amqp.Producer(channel, auto_declare=False)

        def send(body: object, **headers: str) -> None:
            producer.publish(body, exchange="", routing_key=QUEUE, headers=headers, serializer="json", retry=False)

        send("nothing that Celery has made")
        send([[1], {}, {}], task="tests.unheard", id="1")
        send([[1], {}, {}], task="tests.forbidden", id="5")
        send([[1, 2, 3], {}, {}], task="tests.note", id="2")
        send([[[]], {}, {}], task="tests.note", id="3")
        send([["a hint"], {}, {}], task="tests.note", id="4")
    listener = HintListener(loops, stop=lambda: taken.append("stopped"))
    celery.app.amqp.queues.add(celery.make_queue(QUEUE))

    @shared_task(name="tests.forbidden")
    def forbidden(word: object) -> None:
        taken.append(word)

    @shared_task(name="tests.end")
    def end() -> None:
        signal.raise_signal(signal.SIGTERM)

    end.apply_async(queue=QUEUE)
    listener.run(QUEUE, [note, end])
    listener.close()

    assert taken == [{"a hint"}, "stopped"]
    assert loops.errors == {"hints": 5}
    # Celery's first worker in a process sets Django up again, and its log with it
    assert "tests.unheard" in capsys.readouterr().err + caplog.text
    assert loops.broker == ""


def test_a_listener_outlives_a_task_that_exits_and_ends_with_code_1_when_another_loop_is_lost(loops: Loops) -> None:
    @shared_task(name="tests.exit")
    def exit_() -> None:
        raise SystemExit(0)

    @shared_task(name="tests.lose")
    def lose() -> None:
        loops.lose("another", RuntimeError("gone"))

    celery.app.amqp.queues.add(celery.make_queue(QUEUE))
    exit_.apply_async(queue=QUEUE)
    lose.apply_async(queue=QUEUE)
    listener = HintListener(loops)
    listener.run(QUEUE, [exit_, lose])
    with pytest.raises(SystemExit, match="the loop 'another' is lost"):
        listener.close()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_celery_finds_no_connection_whose_file_it_would_close_by_number(loops: Loops) -> None:
    """It closes the file and then the connection, which closes that number again: by then it may be a socket of another thread."""
    findings: list[object] = []

    def look(**options: object) -> None:
        findings.append([hasattr(database.connection, "fileno") for database in connections.all(initialized_only=True)])

    @shared_task(name="tests.end_here")
    def end() -> None:
        signal.raise_signal(signal.SIGTERM)

    connection.ensure_connection()
    signals.worker_process_init.connect(look)
    try:
        celery.app.amqp.queues.add(celery.make_queue(QUEUE))
        end.apply_async(queue=QUEUE)
        HintListener(loops).run(QUEUE, [end])
    finally:
        signals.worker_process_init.disconnect(look)
    assert findings == [[False]]


def test_nobody_waits_for_a_broker_that_hangs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A hundred hints are queued before the first is sent; when it answers again, they reach it."""
    server = RedisServer()
    monkeypatch.setattr(tasks, "REST_S", 0.0)
    before = {name: celery.app.conf[name] for name in ("broker_url", "broker_transport_options")}
    options = celery.broker_options(server.url, settings.STATE_DIR)
    celery.app.conf.update(broker_url=server.url, broker_transport_options=options)
    try:
        all_queued = threading.Event()
        in_time: list[bool] = []
        real = tasks.Sender._send

        def send_when_all_are_told(*words: Any) -> None:
            in_time.append(all_queued.wait(60))
            all_queued.set()
            real(*words)

        monkeypatch.setattr(tasks.Sender, "_send", staticmethod(send_when_all_are_told))
        sender = tasks.Sender()
        server.hang()
        for _ in range(100):
            sender.send(pool=7)
        all_queued.set()
        wait_for(lambda: "no hint could be sent" in caplog.text, "a word in the log", 60)
        assert in_time
        assert all(in_time)  # else whoever tells a hint waits for its sending
        server.go_on()

        def arrives() -> bool:
            sender.send(pool=7)
            with server.client() as client:
                return bool(client.llen(celery.UPKEEP))

        wait_for(arrives, "a hint in Redis", 60)
        wait_for(lambda: "hints are sent again" in caplog.text, "a word in the log", 60)
        assert caplog.text.count("no hint could be sent") == 1
    finally:
        celery.app.conf.update(before)
        server.close()


@pytest.mark.django_db(transaction=True)
def test_the_calendar_needs_no_broker(loops: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    """Due entries run in the process, failures are counted, and entries that are not ours are left alone."""
    calls: list[object] = []
    monkeypatch.setattr(tasks.invariants, "check_all", lambda **options: calls.append(options))
    calendar = DatabaseCalendar(loops)
    assert {"check what must hold", "check everything"} <= set(calendar.schedule)

    assert not calendar.wants_data.is_set()
    calendar.apply_entry(calendar.schedule["publish data"])
    assert calendar.wants_data.is_set(), "another loop writes it"
    calendar.apply_entry(calendar.schedule["check what must hold"])
    assert len(calls) == 1
    ours = calendar.schedule["check everything"]
    ours.task = "celery.backend_cleanup"
    calendar.apply_entry(ours)
    assert len(calls) == 1
    assert loops.errors == {}
