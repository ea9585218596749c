"""The commit that moves a table wakes whoever waits for it, in this process and in the web process."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection

import pytest
from django.db import connection, transaction

from league.domain.bots import house
from league.domain.core import transitions
from league.domain.tables import seating
from league.models import Table
from league.service import changes, listening, live, topics
from league.service.listening import LISTENER
from league.service.live import Hub, Wanted
from tests.support.league import NOW, accepted
from tests.support.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
NEVER_S = 3600.0


@pytest.fixture
def row(ana) -> Table:
    """A queued table."""
    accepted(house.player(now=NOW), "greedy")
    return seating.sit(ana, "partnership", "greedy", now=NOW)


@pytest.fixture
def _no_polling(monkeypatch) -> None:
    """Let nobody look at the table by themselves within the time of a test."""
    monkeypatch.setattr(live, "PACE_S", NEVER_S)


def pull(name: str, row: Table, reason: str = "", side: str = "") -> None:
    """Move a row and notify everybody, or one side."""
    with transaction.atomic():
        Table.objects.filter(pk=row.pk).update(reason=reason or name)
        listening.notify(name, side)


def test_a_subscription_receives_its_own_and_whatever_a_lost_connection_missed(row) -> None:
    name = transitions.subject(row)
    with LISTENER.subscribe(name) as subscription:
        wait_for(lambda: LISTENER.is_listening, "the thread listens", 60)
        assert subscription.wait(60), "the first connection may have missed something"
        pull(name, row)
        assert subscription.wait(60)
        if connection.vendor == "postgresql":
            pull("table:other", row)
            pull("table:last", row)
            with LISTENER.subscribe("table:last") as last:  # the notification before it has arrived by then
                pull("table:last", row)
                assert last.wait(60)
            assert not subscription.wait(0)
            with LISTENER.subscribe(name, listening.WORKER) as worker, LISTENER.subscribe("table:last") as last:
                for side, woken in ((listening.PAGES, (True, False)), (listening.WORKER, (False, True))):
                    pull(name, row, side=side)
                    pull("table:last", row)
                    assert last.wait(60)
                    assert (subscription.wait(0), worker.wait(0)) == woken, side
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%'")
            assert subscription.wait(60), "and so may the next one"
            pull(name, row)
            assert subscription.wait(60)
    LISTENER.close()
    assert not LISTENER.is_listening, "no subscription: no thread, no connection"


def test_a_change_of_another_table_wakes_nobody(row, berto) -> None:
    other = seating.sit(berto, "partnership", "greedy", now=NOW)
    with LISTENER.subscribe(transitions.subject(row)) as own, LISTENER.subscribe(transitions.subject(other)) as theirs:
        wait_for(lambda: LISTENER.is_listening, "the thread listens", 60)
        for number in range(4):
            theirs.wait(0)
            if number == 3:  # The first changes make both known.
                own.wait(0)
            pull(transitions.subject(other), other, str(number))
            assert theirs.wait(60)
        assert not own.wait(0)


@pytest.mark.usefixtures("_no_polling")
def test_a_page_hears_of_its_table_at_once(row) -> None:
    def read(names: Collection[str]) -> changes.Counts:
        try:
            return topics.read(names)
        finally:
            connection.close()

    hub = Hub(read)
    theirs, browser = socket.socketpair()
    browser.settimeout(60)
    topic = topics.of_table(row.public_id)
    try:
        hub.adopt(theirs, Wanted("a", (topic,), (0,)))
        assert b"retry" in browser.recv(2**16)
        Table.objects.filter(pk=row.pk).update(turn=9, question=6)
        heard = b""
        while b"data" not in heard:
            pull(topic, row)
            heard += browser.recv(2**16)
        assert f'data: {{"{topic}":7}}'.encode() in heard
        assert set(re.findall(r"\d+", heard.decode().replace(row.public_id, ""))) == {"7"}, (
            "the event does not show its number in the database"
        )
    finally:
        hub.close()
        browser.close()
