"""The table over all games."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.ratings import overall, ratings
from tests.support.league import NOW, accepted, play, started


@pytest.mark.slow
def test_overall_is_the_mean_over_games_and_marks_what_was_not_played(ana, berto) -> None:
    rufo, lola = accepted(ana, "rufo", games=()), accepted(berto, "lola", games=())
    nena = accepted(ana, "nena", games=())
    pools = []
    for game, table in (("partnership", (rufo, lola)), ("corriente", (rufo, lola)), ("two_player", (nena, lola))):
        cup = started(ana, table, game=game, boards=20, name=game)
        play(cup.matches.get(), winner=0)
        pools.append(cup.pool)
    for pool in pools:
        ratings.refresh(pool, now=NOW)

    with CaptureQueriesContext(connection) as queries:
        rows = {row.bot.slug: row for row in overall.read_page()}
        assert {row.bot.owner.name for row in rows.values()} == {"ana", "berto"}
    assert len(queries) <= 5
    assert not [query["sql"] for query in queries if '"league_botversion"."status"' in query["sql"]], (
        "no versions are made"
    )

    assert set(rows["rufo"].games) == {"partnership", "corriente"}
    assert rows["rufo"].missing == ("two_player",)
    assert set(rows["lola"].games) == {"partnership", "corriente", "two_player"}
    assert rows["rufo"].score == pytest.approx((sum(rows["rufo"].games.values()) + 0.5) / 3)
    assert rows["nena"].score == pytest.approx((rows["nena"].games["two_player"] + 1) / 3)
    assert sum(row.score for row in rows.values()) == pytest.approx(1.5)  # One gains what the other loses
    assert rows["nena"].place is None  # one game of three
    assert {rows["rufo"].place, rows["lola"].place} == {1, 2}
    assert 0 < rows["rufo"].margin < 1


def test_overall_of_nothing_is_empty(db) -> None:
    assert overall.read_page().rows == []
