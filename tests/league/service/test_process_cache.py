"""Values of the process cache are as new as their change counters."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from league.domain.matches import matches
from league.domain.tournaments import standings
from league.models import Match
from league.service import changes
from league.service.process_cache import ProcessCache, clear
from tests.support import league


@pytest.mark.django_db(transaction=True)
def test_a_cached_table_equals_a_new_one(ana, berto) -> None:
    """After each match, and after one that is voided; while nothing changes the matches are not read."""
    versions = [league.accepted(owner, f"bot-{number}") for number, owner in enumerate((ana, berto, ana))]
    cup = league.started(ana, versions)
    clear()

    def compare() -> None:
        cached = standings.standings(cup)
        entries = [row.entry for row in cached.rows]
        met = standings.meetings(cup, entries[:2], entries[1:], played=cached.played)
        with transaction.atomic():  # the cache is not used here
            new = standings.standings(cup)
            assert met == standings.meetings(cup, entries[:2], entries[1:])
        assert (cached.rows, dict(cached.cells), cached.statuses) == (new.rows, dict(new.cells), new.statuses)

    compare()
    rows = list(Match.objects.filter(tournament=cup).order_by("id"))
    for match in rows:
        league.play(match)
        compare()
    rows[0].refresh_from_db()
    matches.void(rows[0], why="a test", actor="operator")
    compare()
    with CaptureQueriesContext(connection) as queries:
        table = standings.standings(cup)
        entries = [row.entry for row in table.rows]
        assert standings.meetings(cup, entries, entries, played=table.played)
    assert len(queries) == 2
    assert not [query for query in queries if "league_party" in query["sql"]]


@pytest.mark.django_db(transaction=True)
def test_heavy_values_go_and_a_transaction_keeps_nothing(ana) -> None:
    calls: list[str] = []

    def make(old: str | None) -> str:
        calls.append(f"{len(calls)} after {old}")
        return calls[-1]

    cache: ProcessCache[str, str] = ProcessCache(2)
    assert [cache.get(key, changes.BOTS, make) for key in "aabca"] == [
        *["0 after None"] * 2,
        *("1 after None", "2 after None", "3 after None"),
    ]
    with transaction.atomic():
        assert cache.get("a", changes.BOTS, make) == "4 after None"
    assert cache.get("a", changes.BOTS, make) == "3 after None"
    league.accepted(ana, "another")
    assert cache.get("a", changes.BOTS, make) == "5 after 3 after None"
