"""The number of queries of a read does not grow with its rows."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.api.http import output
from league.domain.core import clock
from league.domain.people import players
from league.domain.ratings import ratings
from league.domain.tournaments import circuits, tournaments
from league.models import Circuit, EntryRequest, Player, Tournament
from tests.league.api.client import Api
from tests.league.api.conftest import api_of
from tests.support import league
from tests.support.parts import mostly_slow

# address: queries
LISTS = {
    "players": 1,
    "bots": 1,
    "versions": 1,
    "bots/a-0/versions": 2,
    "versions/{version}/audits": 2,
    "versions/{version}/ratings": 2,
    "bots/a-0/versus/a-1": 4,
    "bots/a-0/leagues": 2,
    "bots/a-0/judged": 2,
    "tournaments": 2,
    "tournaments/{cup}/entries": 2,
    "tournaments/{cup}/standings": 4,
    "tournaments/{cup}/rounds": 6,
    "tournaments/{cup}/bracket": 1,
    "tournaments/open-0/requests": 2,
    "circuits": 2,
    "circuits/liga-0/seasons": 3,
    "circuits/liga-0/requests": 2,
    "formats": 0,
    "matches": 2,
    "matches?player=p-0": 2,
    "matches/{match}": 3,
    "matches/{match}/boards": 3,
    "boards?match={match}": 2,
    "pools": 1,
    "pools/{pool}/leaderboard": 3,
    "pools/{pool}/leaderboard?at=2030-01-01T00:00:00Z": 7,
    "pools/{pool}/history": 2,
    "overall": 5,
    "queue": 3,
    "games": 0,
    "games/partnership/choices": 2,
}


def grow(rows: int) -> dict[str, object]:
    """A league with at least `rows` of everything."""
    versions = [
        league.accepted(players.create(f"p-{number}", now=league.NOW), f"a-{number}", games=("partnership",))
        for number in range(rows + 1)
    ]
    for _ in range(rows - 1):
        league.uploaded(versions[0].bot.owner, "a-0")
    owner = versions[0].bot.owner
    for number in range(rows):
        tournaments.create(owner, f"Open {number}", "corriente", boards=1, now=league.NOW)
        circuits.create(
            owner, f"Liga {number}", "partnership", days="fri", at="20:00", time_zone="UTC", now=league.NOW
        ).bots.set(version.bot for version in versions)
    open_cup, liga = Tournament.objects.get(slug="open-0"), Circuit.objects.get(slug="liga-0")
    for number, version in enumerate(versions[1:], 1):
        liga.seasons.create(number=number, due=league.later(number), opened=league.NOW)
        EntryRequest.objects.create(bot=version.bot, asker=owner, created=league.NOW, tournament=open_cup)
        EntryRequest.objects.create(bot=version.bot, asker=owner, created=league.NOW, circuit=liga)
    cup = league.started(owner, versions, boards=rows, name="Played")
    for match in cup.matches.order_by("id"):
        league.play(match)
    ratings.refresh(cup.pool, now=league.NOW)
    return {
        "cup": cup.slug,
        "match": cup.matches.order_by("id")[0].public_id,
        "pool": cup.pool_id,
        "version": versions[0].pk,
    }


def count(path: str) -> int:
    """Return the number of queries of an anonymous read that succeeds."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert Api().get(path).status_code == 200
    return len(queries)


@pytest.mark.parametrize("rows", mostly_slow([1, 3], (1).__eq__))
def test_query_counts_are_constant(db, rows, monkeypatch):
    names = grow(rows)
    monkeypatch.setattr(clock._Clock, "reading", None)
    clock.present()  # a server's clock is asked once a minute: not in the middle of this

    assert {path: count(path.format(**names)) for path in LISTS} == LISTS


@pytest.mark.slow
def test_answers_are_as_the_framework_makes_them(db, monkeypatch):
    """A serializer's plan, computed once for its class, gives the same answer as its fields one by one."""
    names = grow(3)
    owner = api_of(Player.objects.get(name="p-0"))
    paths = [
        path.format(**names) for path in [*LISTS, "me", "bots/a-0", "tournaments/{cup}", "pools/{pool}", "games/brisca"]
    ]
    frozen = clock.present()
    monkeypatch.setattr(clock, "present", lambda: frozen)

    def read() -> list[bytes]:
        cache.clear()
        return [api.get(path).content for api in (Api(), owner) for path in paths]

    quick = read()
    with monkeypatch.context() as slow:
        slow.delattr(output.Out, "to_representation")
        assert read() == quick
