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
        found = {row.bot.slug: row for row in overall.read_page()}
        assert {row.bot.owner.name for row in found.values()} == {"ana", "berto"}
    assert len(queries) <= 5
    assert not [one["sql"] for one in queries if '"league_botversion"."status"' in one["sql"]], "no versions are made"

    assert set(found["rufo"].games) == {"partnership", "corriente"}
    assert found["rufo"].missing == ("two_player",)
    assert set(found["lola"].games) == {"partnership", "corriente", "two_player"}
    assert found["rufo"].score == pytest.approx((sum(found["rufo"].games.values()) + 0.5) / 3)
    assert found["nena"].score == pytest.approx((found["nena"].games["two_player"] + 1) / 3)
    assert sum(row.score for row in found.values()) == pytest.approx(1.5)  # One gains what the other loses
    assert found["nena"].place is None  # one game of three
    assert {found["rufo"].place, found["lola"].place} == {1, 2}
    assert 0 < found["rufo"].margin < 1


def test_overall_of_nothing_is_empty(db) -> None:
    assert overall.read_page().rows == []
