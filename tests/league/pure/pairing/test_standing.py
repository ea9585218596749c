"""The standing ladder without a database: balanced, in one piece, and in order sooner than by chance."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from league.pure.pairing.standing import MOST_REST_S, REST_S, Ladder, LadderBot, rest_s
from tests.support import ladders


def test_rest_grows_with_the_boards_and_ends():
    assert [rest_s(boards) for boards in (0, 47, 48, 96, 480, 10**6)] == [
        0,
        0,
        REST_S,
        2 * REST_S,
        10 * REST_S,
        MOST_REST_S,
    ]


def test_a_field_with_newcomers_hangs_together_and_shares_the_boards():
    theta = np.random.default_rng(1).normal(0, 1.2, 40)
    arrived = [0.0] * 30 + [40.0 * (place + 1) for place in range(10)]

    course = ladders.play(theta, arrived, tables=1000, every_s=1.0, look=100, seed=1)

    old = course.boards[:30]
    assert max(old) <= 2 * min(old)
    assert max(course.boards) <= 2 * min(course.boards)
    assert all(course.tied)
    assert course.connectivity() > 0.1
    assert 0.05 < float((np.array(course.far) >= 0.25).mean()) < 0.35


def test_five_bots_do_not_fall_into_cliques():
    """Two that are level, two others that are level, and one in between. Drawn by weight alone, 72 of 100 matches were one pair, 21 another."""
    theta = np.array([1.5, 1.52, 0.0, -1.5, -1.52])

    course = ladders.play(theta, [0.0] * 5, tables=400, every_s=600.0, look=5, seed=3)

    late = course.met - ladders.play(theta, [0.0] * 5, tables=300, every_s=600.0, look=5, seed=3).met
    pairs = late[np.triu_indices(5, 1)] / late.sum() * 2
    assert max(pairs) < 0.35
    assert max(course.boards) <= 1.3 * min(course.boards)
    assert course.connectivity() > 0.3
    assert (course.met[np.triu_indices(5, 1)] > 0).all()


def test_who_is_not_tied_sits_with_one_who_is():
    bots = [LadderBot(frozenset({owner}), 0.0, 0.3, tied=owner < 2) for owner in range(9)] + [LadderBot(frozenset({9}))]
    for lot in range(200):
        assert Ladder(bots).draw(random.Random(lot), 9, 2, {})[1] < 2
    busy = [LadderBot(frozenset({owner}), 0.0, 0.3, tables=2, tied=owner < 2) for owner in range(9)] + [
        LadderBot(frozenset({9}))
    ]
    assert {Ladder(busy).draw(random.Random(lot), 9, 2, {})[1] for lot in range(200)} == set(range(9))


def test_bots_of_the_same_people_never_meet_and_nobody_sits_alone():
    bots = [LadderBot(frozenset(people)) for people in ({0}, {0, 4}, {1}, {2, 5}, {5}, {3})]
    for lot in range(100):
        table = Ladder(bots).draw(random.Random(lot), 0, 4, {})
        assert len(table) == 4
        assert sum(len(bots[place].people) for place in table) == len(
            frozenset().union(*(bots[place].people for place in table))
        )
    assert Ladder(bots[:2]).draw(random.Random(0), 0, 2, {}) == ()
    assert Ladder(bots[:3]).draw(random.Random(0), 0, 3, {}) == ()


@pytest.mark.slow
def test_whom_a_bot_has_met_of_late_it_meets_less():
    bots = [LadderBot(frozenset({place}), 0.0, 0.3, tied=True) for place in range(3)]

    drawn = Counter(Ladder(bots).draw(random.Random(lot), 0, 2, {1: 3})[1] for lot in range(4000))

    # three in four tables by weight, of which one in five goes to who was met; one in eight evenly
    assert abs(drawn[1] / 4000 - (7 / 8 * 1 / 5 + 1 / 8 * 1 / 2)) < 0.03


def in_order(
    count: int, newcomers: int, spread: float, seeds: int, look: int
) -> tuple[list[int], list[int], list[ladders.LadderRun]]:
    """Boards of all until 95% of the pairs are in order: as the ladder draws, and by random pairing; and the courses of the ladder."""
    ladder_boards, chance, courses = [], [], []
    for seed in range(1, seeds + 1):
        theta = np.random.default_rng(seed).normal(0, spread, count)
        tables = count * 25
        arrived = [0.0] * (count - newcomers) + [tables / 4 * (place + 1) / newcomers for place in range(newcomers)]
        by_ladder, by_chance = (
            ladders.play(theta, arrived, tables=tables, every_s=1.0, look=look, seed=seed, informed=informed)
            for informed in (True, False)
        )
        courses.append(by_ladder)
        for course, counts in ((by_ladder, ladder_boards), (by_chance, chance)):
            boards = course.boards_for(0.95)
            assert boards is not None
            counts.append(boards)
    return ladder_boards, chance, courses


def hold(courses: list[ladders.LadderRun], newcomers: int) -> None:
    for course in courses:
        old = course.boards[:-newcomers]
        assert max(old) <= 2 * min(old)
        assert all(course.tied)
        assert course.connectivity() > 0.15


@pytest.mark.slow
def test_pairs_are_in_order_sooner_than_by_random_pairing():
    """60 bots, a fifth of them newcomers, of a spread of 260 Elo. `make soak` plays 200."""
    ladder_boards, chance, courses = in_order(60, 12, 1.5, 5, 30)

    hold(courses, 12)
    assert sum(ladder_boards) < 0.75 * sum(chance)


@pytest.mark.soak
def test_two_hundred_bots_are_in_order_after_30_percent_fewer_boards():
    """160 bots and 40 newcomers, of a spread of 208 Elo."""
    ladder_boards, chance, courses = in_order(200, 40, 1.2, 3, 50)

    print(f"boards until 95% of the pairs are in order: {ladder_boards} by the ladder, {chance} by random pairing")
    hold(courses, 40)
    assert sum(ladder_boards) <= 0.7 * sum(chance)
