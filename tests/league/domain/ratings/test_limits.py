"""Resource leagues: versions that keep a limit, ranked among themselves by their ratings in the pool."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps

from league import migrations
from league.domain.core import paging
from league.domain.people import players
from league.domain.ratings import leaderboards, ratings, refits
from league.domain.ratings.leaderboards import BEST, Only
from league.models import Bot, BotVersion, Package, Party, Rating
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started

pytestmark = pytest.mark.django_db


@pytest.fixture
def cup(ana, berto, db):
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto):
    cira = players.create("cira", now=NOW)
    return started(ana, [accepted(ana, "rufo"), accepted(berto, "luna"), accepted(cira, "sol")], boards=2)


def decide(cup, winner: str, loser: str, *, cpu: dict[str, float | None], at: int = 0) -> None:
    match = cup.matches.filter(parties__version__bot__slug=winner).get(parties__version__bot__slug=loser)
    play(match, winner=match.parties.get(version__bot__slug=winner).number, now=later(at))
    for slug, seconds in cpu.items():
        Party.objects.filter(match=match, version__bot__slug=slug).update(max_cpu_s=seconds)


def slowest() -> dict[str, float | None]:
    return dict(Rating.objects.values_list("version__bot__slug", "slowest_s"))


def places(cup, limit: str) -> dict[str, int]:
    only = Only(limit=limit)
    page = leaderboards.read_page(cup.pool, only=only)
    read = {row.rating.version.bot.slug: row.place for row in page}
    whole = leaderboards.leaderboard(cup.pool, only=only)
    past = leaderboards.leaderboard(cup.pool, at=later(99), only=only)
    assert {row.rating.version.bot.slug: row.place for row in whole} == read
    assert {row.rating.version.bot.slug: row.place for row in past} == read
    return read


@pytest.mark.parametrize("large", [False, True])
def test_the_slowest_decision_of_all_counted_matches_decides(cup, settings, large) -> None:
    settings.RATINGS_AT_ONCE = 0 if large else 300
    decide(cup, "luna", "rufo", cpu={"luna": 0.016, "rufo": 0.015})
    refits.advance(cup.pool, now=NOW)
    decide(cup, "luna", "sol", cpu={"luna": 0.001, "sol": None}, at=1)
    refits.advance(cup.pool, now=later(1))
    assert slowest() == {"luna": 0.016, "rufo": 0.015, "sol": None}
    assert places(cup, "fast") == {"rufo": 1}
    decide(cup, "rufo", "sol", cpu={"rufo": 0.505, "sol": 0.506}, at=2)
    refits.advance(cup.pool, now=later(2))
    assert slowest() == {"luna": 0.016, "rufo": 0.505, "sol": 0.506}
    assert places(cup, "fast") == {}
    assert places(cup, "steady") == {"luna": 1, "rufo": 2}
    struck = cup.matches.filter(parties__version__bot__slug="sol").get(parties__version__bot__slug="rufo")
    type(struck).objects.filter(pk=struck.pk).update(rated=False)
    refits.advance(cup.pool, now=later(3))
    assert slowest() == {"luna": 0.016, "rufo": 0.015, "sol": None}, "a match that no longer counts is left out"
    Rating.objects.update(slowest_s=None)
    (migration,) = Path(migrations.__file__).parent.glob("*_open_bots.py")
    import_module(f"league.migrations.{migration.stem}").fill_in(apps, None)
    assert slowest() == {"luna": 0.016, "rufo": 0.015, "sol": None}, "an upgrade looks it up"
    ratings.refresh(cup.pool, rebuild=True, now=later(4))
    assert slowest() == {"luna": 0.016, "rufo": 0.015, "sol": None}


def test_places_are_counted_among_those_that_keep_the_limit(cup, ana) -> None:
    for winner, loser in (("luna", "rufo"), ("luna", "sol"), ("sol", "rufo")):
        decide(cup, winner, loser, cpu={})
    ratings.refresh(cup.pool, now=NOW)
    assert places(cup, "") == {"luna": 1, "sol": 2, "rufo": 3}
    assert places(cup, "small") == {"luna": 1, "sol": 2, "rufo": 3}
    luna = BotVersion.objects.get(bot__slug="luna")
    Package.objects.filter(pk=luna.package_id).update(size=1024 * 1024 + 1)
    assert places(cup, "small") == {"sol": 1, "rufo": 2}
    first = leaderboards.read_page(cup.pool, None, 1, only=Only(limit="small"))
    second = leaderboards.read_page(cup.pool, paging.read_cursor(first.after, BEST.kinds), 1, only=Only(limit="small"))
    assert [(row.place, row.rating.version.bot.slug) for row in (*first, *second)] == [(1, "sol"), (2, "rufo")]
    own = leaderboards.read_page(cup.pool, only=Only(owner="ana", limit="small"))
    assert [(row.place, row.rating.version.bot.slug) for row in own] == [(2, "rufo")]
    assert places(cup, "open") == {}
    BotVersion.objects.exclude(bot__slug="luna").update(opened=NOW, licence="MIT")
    assert places(cup, "open") == {"sol": 1, "rufo": 2}
    Bot.objects.filter(slug="sol").update(stopped=NOW)
    assert places(cup, "open") == {"rufo": 1}
