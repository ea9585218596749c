"""The draw of an arena for people: nobody chooses opponents, and no bot of one's own comes."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from league.pure.pairing.arena import LATELY, MOST_MEETINGS, Filler, Waiting, draw, fill, points


def test_people_of_near_points_meet_and_a_rest_waits():
    waiting = [Waiting(entry, entry // 2) for entry in range(7)]
    groups = draw(waiting, 2, random.Random(1))
    assert sorted(person.entry for group in groups for person in group) == list(range(7))
    assert [len(group) for group in groups] == [2, 2, 2, 1]
    assert all(abs(group[0].points - group[-1].points) <= 1 for group in groups)
    assert [len(group) for group in draw(waiting, 3, random.Random(1))] == [3, 3, 1]


@pytest.mark.parametrize("sides", [2, 3])
def test_two_friends_cannot_meet_again_and_again(sides):
    met: dict[int, list[frozenset[int]]] = {0: [], 1: []}
    together = 0
    for game in range(40):
        waiting = [Waiting(entry, 0, tuple(met[entry])) for entry in met]
        groups = draw(waiting, sides, random.Random(game))
        together += len(groups) == 1
        for person in waiting:
            rivals = {0, 1} - {person.entry} if len(groups) == 1 else {100 + game}
            met[person.entry].append(frozenset(rivals))
    assert together == MOST_MEETINGS


def test_a_bot_is_drawn_that_is_near_not_met_lately_and_nobody_s_own():
    fillers = [Filler(entry, 2 * entry, 10, frozenset({100 + entry})) for entry in range(10)]
    drawn = Counter(
        fill(1.0, frozenset({105}), frozenset({4}), fillers, 1, random.Random(number))[0] for number in range(200)
    )
    assert set(drawn) == {3, 6, 7, 2}, "the nearest half of those who may come"
    assert max(drawn.values()) < 100, "and nobody knows which one"
    alone = [Filler(1, 0, 0, frozenset({7}))]
    assert fill(1.0, frozenset(), frozenset({1}), alone, 2, random.Random(1)) == [1], (
        "better than nobody, but only once"
    )
    assert fill(1.0, frozenset({7}), frozenset(), alone, 1, random.Random(1)) == []
    team = [Filler(entry, 0, 0, frozenset({7})) for entry in range(3)]
    assert len(fill(1.0, frozenset(), frozenset(), team, 2, random.Random(1))) == 1, "two of one team would be partners"
    assert LATELY < MOST_MEETINGS


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([60, 70], [0, 2]),
        ([65, 65], [1, 1]),
        ([9, 5, 1], [2, 1, 0]),
        ([5, 5, 1], [2, 2, 0]),
        ([9, 8, 7, 6, 5], [2, 2, 1, 0, 0]),
    ],
)
def test_a_win_is_to_beat_more_than_one_loses_to(scores, expected):
    assert points(scores) == expected
