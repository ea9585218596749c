"""Pages and lists are the same on another machine, and for any order of rows in the database."""

from __future__ import annotations

import re

import pytest

from league.domain.people import players
from league.domain.ratings import daily, ratings
from league.domain.tournaments import events
from league.models import PlaceOfDay, Pool, Rating
from league.service import process_cache
from tests.support import league
from tests.support.machines import other_machine

NAMES = (
    "rufo",
    "luna",
    "sol",
    "zoe",
    "vega",
)  # the first three beat one another in a ring and the last two, who are equal: two ties


@pytest.fixture
def rated(ana) -> Pool:
    owners = [ana, *(players.create(f"owner-{number}", now=league.NOW) for number in range(4))]
    versions = [league.accepted(owner, name) for owner, name in zip(owners, NAMES, strict=True)]
    cup = league.started(ana, versions, boards=2, name="Ring")
    for match in cup.matches.order_by("pk"):
        own, other = (NAMES.index(slug) for slug in slugs_of(match))
        first = (other - own) % 3 == 1 if max(own, other) < 3 else own < other
        league.play(match, winner=None if min(own, other) > 2 else 0 if first else 1)
    ratings.refresh(cup.pool, now=league.NOW)
    daily.keep(now=league.later(86_400))
    return cup.pool


def slugs_of(match) -> list[str]:
    return list(match.parties.order_by("number").values_list("version__bot__slug", flat=True))


def shown(client, pool: Pool) -> dict[str, str]:
    """The pages and lists on which fitted values decide or stand."""
    process_cache.clear()
    pages = [
        "/",
        "/overall/",
        "/g/partnership/",
        "/g/partnership/ratings.csv",
        "/bots/sol/",
        "/bots/vega/",
        "/players/ana/",
        "/t/ring/",
    ]
    lists = [f"pools/{pool.pk}/leaderboard", "overall"]
    texts = {}
    for address in (*pages, *(f"/api/v1/{name}" for name in lists)):
        answer = client.get(address)
        assert answer.status_code == 200, address
        texts[address] = re.sub(r'data-since="[\d.]+"', "", answer.content.decode())  # It depends on earlier writes
    return texts


def seeds(pool: Pool) -> list[str]:
    """The bots as they would be seeded in an event."""
    plan = events._read({"name": "Open", "game": pool.game, "stages": [{"format": "round_robin"}]})
    line = [row.version for row in pool.ratings.select_related("version__bot").order_by("version_id")]
    return [version.bot.slug for version in events._sort_by_rating(plan, line)]


def turned_round(model: type[Rating] | type[PlaceOfDay]) -> None:
    """Write the rows again, the last one first."""
    rows = list(model._default_manager.order_by("-pk"))
    model._default_manager.all().delete()
    for row in rows:
        row.pk = None
    model._default_manager.bulk_create(rows)


@pytest.mark.slow
@pytest.mark.usefixtures("_one_moment")
def test_pages_are_the_same_on_another_machine_with_the_rows_turned_round(rated: Pool, client) -> None:
    here, order = shown(client, rated), seeds(rated)
    elo = dict(rated.ratings.values_list("version__bot__slug", "elo"))
    assert elo["rufo"] == elo["luna"] == elo["sol"], "else the test shows nothing"
    assert order[:3] == ["rufo", "luna", "sol"]

    with other_machine(1):
        ratings.refresh(rated, rebuild=True, now=league.NOW)
        turned_round(Rating)
        turned_round(PlaceOfDay)
        elsewhere = shown(client, rated)

        assert seeds(rated) == order
    for address, text in here.items():
        assert elsewhere[address] == text, address


def test_rises_of_one_size_are_told_in_the_order_of_names(rated: Pool) -> None:
    PlaceOfDay.objects.update(rise=12.0)

    def risen() -> list[str]:
        return [rise.bot for rise in daily.rises([rated], 5, now=league.later(2 * 86_400))]

    assert risen() == sorted(NAMES)
    turned_round(PlaceOfDay)
    assert risen() == sorted(NAMES)
