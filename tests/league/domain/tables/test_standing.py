"""Ratings of people: what counts, what does not, and that no bot's rating moves."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.runner.result import FaultReport
from engine.runner.table import Question, TableResult
from league.domain.bots import house
from league.domain.tables import holding, seating, standing
from league.models import Player, Rating, Table
from league.pure.rating.people import Meeting, rate
from tests.support.league import NOW, accepted, later
from tests.support.seats import rated


def over(
    player: Player,
    scores: list[list[int]],
    *,
    game: str = "corriente",
    rival: str = "greedy",
    fault: bool = False,
    advice: bool = False,
    at: float = 0,
) -> None:
    seating.sit(player, game, rival, boards=4, advice=advice, now=later(at))
    lease = holding.claim("host:1", now=later(at))
    assert lease is not None
    report = FaultReport(0, 1, 1, 0, 3, "crash", "x") if fault else None
    holding.finish(lease, TableResult(scores, [], [], [], report), 0, now=later(at))


def left(player: Player, scores: list[list[int]], *, board: int, answered: bool, at: float) -> None:
    row = seating.sit(player, "corriente", "greedy", boards=4, now=later(at))
    lease = holding.claim("host:1", now=later(at))
    assert lease is not None
    holding.ask(lease, Question(0, board, ["play 1o"], ["1o"], [], scores), [], now=later(at))
    if answered:
        seating.act(player, row.public_id, 0, "play 1o", now=later(at))
    seating.leave(player, row.public_id, now=later(at))


@pytest.mark.django_db
def test_a_person_is_rated_by_their_boards_against_the_house(ana, berto, settings) -> None:
    settings.QUOTA_TABLES = 100
    greedy = accepted(house.player(now=NOW), "greedy")
    rufo = accepted(ana, "rufo")
    accepted(house.player(now=NOW), "random")
    assert standing.game_records(ana) == []
    rated(greedy, "corriente", 1100)
    rated(greedy, "partnership", 900)
    rated(rufo, "corriente", 1500)
    before = list(Rating.objects.order_by("pk").values())

    over(ana, [[5, 3], [2, 2], [1, 9]])
    over(ana, [[5, 3], [0, 1000]], fault=True, at=1)  # the board at which a bot failed is none
    over(ana, [[9, 0]], rival="rufo", at=2)  # an own bot
    over(ana, [[9, 0]], rival="random", at=3)  # nobody knows how good it is
    over(ana, [[9, 0]], advice=True, at=3.5)
    left(ana, [[4, 1]], board=2, answered=True, at=4)
    left(ana, [], board=1, answered=False, at=5)
    left(ana, [[4, 1]], board=1, answered=True, at=6)  # between two boards
    over(berto, [[0, 9]], at=7)
    over(ana, [[7, 3, 7, 3], [7, 3, 7, 3]], game="partnership", at=8)
    with CaptureQueriesContext(connection) as queries:
        corriente, pairs = standing.game_records(ana)
    assert len(queries) == 3
    assert (corriente.pool.game, corriente.won, corriente.drawn, corriente.lost, corriente.boards) == (
        "corriente",
        4,
        1,
        2,
        7,
    )
    points = [1, 0.5, 0, 1, 1, 0, 1]
    assert corriente.rating == rate([[Meeting(score, 1100)] for score in points])
    assert (pairs.pool.game, pairs.won, pairs.boards) == ("partnership", 2, 2)
    assert pairs.rating == rate([[Meeting(1, 900, 0.5, 450)]] * 2)
    assert [(line.pool.game, line.lost) for line in standing.game_records(berto)] == [("corriente", 1)]
    assert list(Rating.objects.order_by("pk").values()) == before
    assert Table.objects.filter(player=ana).count() == 9
