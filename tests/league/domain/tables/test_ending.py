"""The end of a table: who won and by what, the rating, and the next table."""

from __future__ import annotations

import pytest

from engine.runner.table import Question, TableResult
from league.domain.bots import house
from league.domain.people.guests import of_key
from league.domain.tables import holding, levels, people, seating
from league.domain.tables.ending import TableEnding, ending
from league.domain.tables.people import Sitter
from league.domain.tables.standing import PROVISIONAL
from league.enums import TableStatus
from league.models import Player, Table
from tests.support import seats
from tests.support.league import NOW, accepted, later
from tests.support.seats import rated

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def greedy() -> None:
    version = accepted(house.player(now=NOW), "greedy", games=["partnership", "cabrero", "corriente"])
    for game in ("partnership", "cabrero", "corriente"):
        rated(version, game, 1000)


def played(sitter: Sitter, game: str, scores: list[list[int]], at: float = 0, **settings: object) -> Table:
    row = seating.sit(sitter, game, "greedy", boards=len(scores), now=later(at), **settings)  # type: ignore[arg-type]
    lease = holding.claim("host:1", now=later(at))
    assert lease is not None
    holding.finish(lease, TableResult(scores, [], [], [], None), 0, now=later(at))
    return Table.objects.get(pk=row.pk)


def end(row: Table, sitter: Sitter | None, at: float = 0) -> TableEnding:
    result = ending(people.view(row, sitter), now=later(at))
    assert result is not None
    return result


def test_it_says_who_won_by_what_and_deals_the_same_again(ana) -> None:
    row = played(ana, "partnership", [[34, 96, 34, 96], [80, 50, 80, 50]])
    result = end(row, ana)
    assert [(party.seats, party.total, party.is_mine, party.won) for party in result.parties] == [
        ((1, 3), 146, False, True),
        ((0, 2), 114, True, False),
    ]
    assert (result.won, result.boards, result.status) == (False, 2, TableStatus.FINISHED)
    assert result.mine is not None
    assert result.best_other is not None
    assert (result.mine.total, result.best_other.total) == (114, 146)
    assert result.again == {"again": row.public_id}
    again = seating.sit_again(ana, row.public_id, now=later(1))
    assert (again.pool_id, again.boards, seats.bots(again)) == (row.pool_id, 2, seats.bots(row))
    assert result.change is not None
    assert (result.change.points, result.change.missing) == (None, PROVISIONAL - 2)


def test_a_tie_has_no_winner_and_of_four_the_best_one_wins(ana) -> None:
    assert end(played(ana, "partnership", [[65, 65, 65, 65]]), ana).won is None
    four = end(played(ana, "cabrero", [[2, 5, 5, 1]], at=1), ana)
    assert (four.won, [party.won for party in four.parties]) == (False, [False] * 4), "the best two are even"
    best = end(played(ana, "cabrero", [[6, 5, 1, 1]], at=2), ana)
    assert (best.won, best.parties[0].seats, best.parties[0].won) == (True, (0,), True)


def test_a_rating_changes_only_once_it_is_shown(ana) -> None:
    for number in range(5):
        row = played(ana, "corriente", [[1, 0], [0, 1]], at=number)
    first = end(row, ana).change
    assert first is not None
    assert (first.before, first.points, first.missing) == (None, None, 0), "now there is one"
    won = end(played(ana, "corriente", [[1, 0]], at=9), ana).change
    assert won is not None
    assert won.points is not None
    assert won.points > 0
    assert end(row, ana).change == first, "later tables change nothing of an earlier end"
    advised = played(ana, "corriente", [[1, 0]], at=10, advice=True)
    assert end(advised, ana).change is None
    assert 0 in seats.bots(seating.sit_again(ana, advised.public_id, now=later(11)))


def test_others_are_shown_the_result_alone(ana, berto) -> None:
    row = played(ana, "partnership", [[90, 40, 90, 40]])
    for sitter in (None, berto, of_key("key")):
        result = end(row, sitter)
        assert (result.won, result.change, result.again, result.may_keep) == (True, None, {}, False)


def test_a_guest_may_keep_it_for_an_hour(ana) -> None:
    guest = of_key("key", "192.0.2.1")
    row = played(guest, "partnership", [[90, 40, 90, 40]])
    result = end(row, guest)
    assert (result.again, result.change, result.may_keep) == ({"again": row.public_id}, None, True)
    assert not end(row, guest, at=3601).may_keep
    assert end(row, of_key("other")).again == {}


def test_a_table_in_play_has_no_end_and_one_that_is_left_no_points(ana) -> None:
    row = seating.sit(ana, "partnership", "greedy", now=NOW)
    assert ending(people.view(row, ana)) is None
    lease = holding.claim("host:1", now=NOW)
    assert lease is not None
    holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=NOW)
    seating.act(ana, row.public_id, 0, "play 1o", now=NOW)
    assert seating.leave(ana, row.public_id, now=NOW)
    result = end(Table.objects.get(), ana)
    assert (result.status, result.parties, result.mine, result.won) == (TableStatus.LEFT, [], None, None)
    assert result.change is not None
    assert result.change.missing == PROVISIONAL - 1, "a hand that is left counts as lost"


def test_a_level_is_a_house_bot_or_the_nearest_one(ana: Player) -> None:
    accepted(ana, "rufo")
    bots = seating.rivals(ana)
    assert list(levels.offered(bots)) == [levels.Level.NORMAL]
    assert [levels.bot(level, bots, "partnership") for level in levels.Level] == ["greedy"] * 4
    accepted(house.player(now=NOW), "champion", games=["partnership"])
    accepted(house.player(now=NOW), "random")
    bots = seating.rivals(ana)
    assert [levels.bot(level, bots, "partnership") for level in levels.Level] == [
        "random",
        "greedy",
        "greedy",
        "champion",
    ]
    assert levels.bot("champion", bots, "corriente") == "greedy"
    assert (levels.of_bot("counting"), levels.of_bot("rufo")) == (levels.Level.HARD, None)
