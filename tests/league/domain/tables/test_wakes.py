"""Wake-ups: the effect of a table's commit on its waiters, in this process and in a worker, and the polling without them."""

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
from league.service import live, marks, topics, wakes
from league.service.live import Hub, Wanted
from league.service.wakes import EAR
from tests.support.league import NOW, accepted
from tests.support.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
NEVER_S = 3600.0


@pytest.fixture
def row(ana) -> Table:
    """A table that waits."""
    accepted(house.player(now=NOW), "greedy")
    return seating.sit(ana, "partnership", "greedy", now=NOW)


@pytest.fixture
def _only_wakes(monkeypatch) -> None:
    """Nobody looks by themselves within the time of a test."""
    monkeypatch.setattr(live, "PACE_S", NEVER_S)


def pull(name: str, row: Table) -> None:
    """Move a row, and say so."""
    with transaction.atomic():
        Table.objects.filter(pk=row.pk).update(reason=name)
        wakes.tell(name)


def test_a_bell_rings_for_its_own_and_after_the_database_was_away(row) -> None:
    name = transitions.subject(row)
    with EAR.attend(name) as bell:
        wait_for(lambda: EAR.hears, "wake-ups are heard", 60)
        assert bell.wait(60), "it rings when they are heard for the first time: what was before nobody has heard"
        pull(name, row)
        assert bell.wait(60)
        if connection.vendor == "postgresql":
            pull("table:other", row)
            pull("table:last", row)
            with EAR.attend("table:last") as last:  # Earlier wake-ups have been heard by then
                pull("table:last", row)
                assert last.wait(60)
            assert not bell.wait(0)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%'")
            assert bell.wait(60), "and when they are heard again"
            pull(name, row)
            assert bell.wait(60)
    EAR.close()
    assert not EAR.hears, "nobody waits: no thread, no connection"


@pytest.mark.usefixtures("_only_wakes")
def test_who_listens_to_a_page_is_told_of_a_table_at_once(row) -> None:
    def read(wanted: Collection[str]) -> marks.Versions:
        try:
            return topics.read(wanted)
        finally:
            connection.close()

    hub = Hub(read)
    theirs, browser = socket.socketpair()
    browser.settimeout(60)
    topic = topics.of_table(row.public_id)
    try:
        hub.adopt(theirs, Wanted("a", (topic,), (0,)))
        assert b"retry" in browser.recv(2**16)
        Table.objects.filter(pk=row.pk).update(turn=6)
        heard = b""
        while b"data" not in heard:
            pull(topic, row)
            heard += browser.recv(2**16)
        assert f'data: {{"{topic}":7}}'.encode() in heard
        assert set(re.findall(r"\d+", heard.decode().replace(row.public_id, ""))) == {"7"}, (
            "its number in the database is nobody's business"
        )
    finally:
        hub.close()
        browser.close()
