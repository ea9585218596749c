"""A new revision of the ratings changes old tables once, pool by pool, whenever it is killed; pages and files say so."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from league.domain.ratings import publication, ratings, totals
from league.domain.upkeep import invariants, reconcile
from league.models import LeagueEvent, Pool, Rating, RatingPoint
from league.pure.rating.bradley_terry import REVISION, fit
from league.pure.rating.leaderboard import ELO
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started


@pytest.fixture
def old(ana, berto) -> list[Pool]:
    """Two pools with the tables that the first revision gave them."""
    return rows.once(make_old, ana, berto)


def make_old(ana, berto) -> list[Pool]:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola")]
    pools = []
    for game in ("partnership", "corriente"):
        cup = started(ana, versions, boards=12, game=game, name=game)
        play(cup.matches.get(), now=NOW)
        ratings.refresh(cup.pool, now=NOW)
        before = fit(totals.read_stored(cup.pool), prior_sd=2.0)
        for version, theta in zip(before.bots, before.theta.tolist(), strict=True):
            Rating.objects.filter(pool=cup.pool, version=version).update(elo=1000 + ELO * theta)
        pools.append(cup.pool)
    Pool.objects.update(ratings_revision=None)
    return sorted(pools, key=lambda pool: pool.pk)


def tables() -> list[tuple[int, float]]:
    return list(Rating.objects.order_by("pool_id", "version_id").values_list("version_id", "elo"))


def history() -> list[tuple[int, float, float]]:
    return list(RatingPoint.objects.order_by("pk").values_list("version_id", "elo", "change"))


@pytest.mark.slow
def test_the_scheduler_changes_old_tables_once(old) -> None:
    before, points = tables(), history()
    assert ratings.stale_pools() == old
    assert invariants.check_all(now=NOW) == [], "the scheduler is about to put them right"

    assert reconcile.reconcile(now=later(60)).refreshed == 2

    assert tables() != before
    assert history() == points, "what a match changed was told by the ratings of its day"
    assert set(Pool.objects.filter(pk__in=[pool.pk for pool in old]).values_list("ratings_revision", "revised")) == {
        (REVISION, later(60))
    }
    lines = LeagueEvent.objects.filter(kind="pool.revised").order_by("pk")
    assert [(line.subject, line.data) for line in lines] == [
        (f"pool:{pool.pk}", {"revisions": [1, REVISION]}) for pool in old
    ]
    assert invariants.check_all(now=later(60)) == []
    after = tables()
    assert reconcile.reconcile(now=later(120)).refreshed == 0
    assert (tables(), lines.count()) == (after, 2)


@pytest.mark.slow
def test_killed_half_way_it_goes_on_where_it_was(old) -> None:
    before = tables()

    class Killed(BaseException):
        pass

    def kill(execute, sql, params, many, context):
        columns = [
            value if isinstance(value, list) else [value] for value in params or ()
        ]  # PostgreSQL gets whole columns
        if sql.startswith("INSERT") and "league_rating" in sql and any(old[1].pk in column for column in columns):
            raise Killed
        return execute(sql, params, many, context)

    with pytest.raises(Killed), connection.execute_wrapper(kill):
        reconcile.reconcile(now=later(60))

    assert [row != now for row, now in zip(before, tables(), strict=True)] == [True, True, False, False]
    assert ratings.stale_pools() == old[1:]
    assert LeagueEvent.objects.filter(kind="pool.revised").count() == 1
    assert reconcile.reconcile(now=later(120)).refreshed == 1
    assert ratings.stale_pools() == []
    assert LeagueEvent.objects.filter(kind="pool.revised").count() == 2


def test_a_new_pool_has_nothing_to_tell(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    play(cup.matches.get())
    ratings.refresh(cup.pool, now=NOW)

    assert Pool.objects.values_list("ratings_revision", "revised").get(pk=cup.pool_id) == (REVISION, None)
    assert not LeagueEvent.objects.filter(kind="pool.revised").exists()


@pytest.mark.slow
def test_pages_and_api_say_that_a_table_was_computed_anew(old, client: Client) -> None:
    url, api = f"/g/{old[0].game}/", f"/api/v1/pools/{old[0].pk}"
    assert "#revisions" not in client.get(url).content.decode()
    assert client.get(api).json()["ratings_revision"] is None

    reconcile.reconcile(now=later(60))

    for language, text in (
        ("en", f"with revision {REVISION} of the rating model"),
        ("es", f"revisión {REVISION} del modelo de puntuación"),
    ):
        page = " ".join(client.get(url, headers={"accept-language": language}).content.decode().split())
        assert text in page
        assert "#revisions" in page
    answer = client.get(api).json()
    assert (answer["ratings_revision"], answer["revised"]) == (REVISION, "2026-01-01T12:01:00Z")


def test_published_boards_name_the_revision_of_their_table(old, tmp_path, capsys) -> None:
    path = tmp_path / "boards.jsonl"
    for revision in (1, REVISION):
        path.write_text("".join(publication.published_lines(Pool.objects.get(pk=old[0].pk))))
        assert json.loads(path.read_text().splitlines()[0])["ratings_revision"] == revision
        call_command("rate_boards", str(path))
        assert ("is of revision 1 of the ratings" in capsys.readouterr().out) == (revision == 1)
        ratings.refresh(old[0], now=NOW)
