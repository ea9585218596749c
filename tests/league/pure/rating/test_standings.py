"""Standings against published tie-breaks and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.pure.rating.standings import rank_entries

# Six entries, Berger; half points of the row against the column. Points and Sonneborn-Berger checked with gacrux 1.11.
HALF = {
    (1, 6): 1, (1, 2): 1, (1, 3): 1, (1, 4): 1, (1, 5): 2,
    (2, 5): 1, (2, 6): 2, (2, 3): 1, (2, 4): 1,
    (3, 4): 0, (3, 5): 2, (3, 6): 0,
    (4, 6): 2, (4, 5): 2,
    (5, 6): 1,
}  # fmt: skip


def boards_of(half):
    return [((a, b), (got, 2 - got)) for (a, b), got in half.items()]


def test_points_and_sonneborn_berger_of_the_published_six():
    ranking = rank_entries(range(1, 7), boards_of(HALF))

    rows = {row.entry: row for row in ranking.rows}
    assert [rows[entry].points for entry in range(1, 7)] == [3, 3, 2, 4, 1, 2]
    assert [rows[entry].sonneborn_berger for entry in range(1, 7)] == [6.5, 7, 4, 8, 2.5, 4]


def test_order_goes_by_direct_encounter_then_sonneborn_berger():
    ranking = rank_entries(range(1, 7), boards_of(HALF))

    # 1 and 2 drew with each other, so Sonneborn-Berger parts them; 6 beat 3.
    assert [row.entry for row in ranking.rows] == [4, 2, 1, 6, 3, 5]
    assert [row.place for row in ranking.rows] == [1, 2, 3, 4, 5, 6]
    assert [row.direct for row in ranking.rows] == [None, 0.5, 0.5, 1, 0, None]


def test_crosstable_shows_both_views():
    ranking = rank_entries([1, 2], [((1, 2), (5, 3)), ((2, 1), (4, 4)), ((1, 2), (9, 1))])

    assert (ranking.crosstable[1, 2].wins, ranking.crosstable[1, 2].draws, ranking.crosstable[1, 2].losses) == (2, 1, 0)
    assert (ranking.crosstable[2, 1].wins, ranking.crosstable[2, 1].draws, ranking.crosstable[2, 1].losses) == (0, 1, 2)
    assert (ranking.crosstable[1, 2].points, ranking.crosstable[2, 1].points) == (2.5, 0.5)


def test_score_per_board_parts_those_whom_all_else_leaves_level():
    ranking = rank_entries([1, 2, 3], [((1, 2), (9, 0)), ((2, 3), (1, 0)), ((3, 1), (1, 0))])

    assert [(row.entry, row.score_per_board) for row in ranking.rows] == [(1, 4.5), (2, 0.5), (3, 0.5)]
    assert [row.place for row in ranking.rows] == [1, 2, 2]
    assert [row.shared for row in ranking.rows] == [False, True, True]


def test_direct_encounter_is_asked_again_among_those_it_leaves_level():
    # 1, 2 and 3 have 4 points each. Among the three: 1 has 4, 2 has 4, 3 has 1; and 1 beat 2 by two boards to one.
    played = [((1, 2), (1, 0))] * 2 + [((1, 2), (0, 1))] * 1
    played += [((1, 3), (1, 0))] * 2 + [((1, 3), (0, 1))] * 1 + [((2, 3), (1, 0))] * 3
    played += [((3, 4), (1, 0))] * 3

    ranking = rank_entries([1, 2, 3, 4], played)

    assert [(row.entry, row.points, row.direct) for row in ranking.rows] == [
        (1, 4, 4),
        (2, 4, 4),
        (3, 4, 1),
        (4, 0, None),
    ]


def test_direct_encounter_waits_until_all_have_met():
    ranking = rank_entries([1, 2, 3, 4], [((1, 3), (1, 0)), ((2, 4), (1, 0))])

    assert [row.direct for row in ranking.rows] == [None] * 4


def test_statistical_ties_are_marked():
    ranking = rank_entries(
        [1, 2, 3], [((1, 2), (1, 0))] * 3 + [((1, 3), (1, 0))] * 30 + [((2, 3), (1, 0))] * 30 + [((2, 1), (1, 0))] * 2
    )

    assert [(row.entry, row.tied_with_next) for row in ranking.rows] == [(1, True), (2, False), (3, False)]


def test_entries_without_a_board_stand_last_and_share_their_place():
    ranking = rank_entries([1, 2, 3, 4], [((2, 4), (3, 3))])

    assert [(row.entry, row.place, row.shared) for row in ranking.rows] == [
        (2, 1, True),
        (4, 1, True),
        (1, 3, True),
        (3, 3, True),
    ]


def test_boards_of_strangers_are_refused():
    with pytest.raises(ValueError, match=r"boards with \[7\]"):
        rank_entries([1, 2], [((1, 7), (1, 0))])


@pytest.mark.slow
@given(
    st.lists(
        st.lists(st.integers(1, 6), min_size=2, max_size=4, unique=True).flatmap(
            lambda bots: st.tuples(st.just(bots), st.lists(st.integers(0, 4), min_size=len(bots), max_size=len(bots)))
        ),
        max_size=25,
    ),
    st.randoms(use_true_random=False),
)
def test_standings_do_not_depend_on_the_order_of_boards(played, rng):
    assert rank_entries(range(1, 7), rng.sample(played, len(played))) == rank_entries([6, 5, 4, 3, 2, 1], played)
