"""Statistics of boards: integers, whatever the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.pure.tallies import tally

boards = st.lists(
    st.lists(st.integers(1, 7), min_size=2, max_size=5, unique=True).flatmap(
        lambda bots: st.tuples(st.just(bots), st.lists(st.integers(-3, 3), min_size=len(bots), max_size=len(bots)))
    ),
    max_size=30,
)


def test_tally_counts_wins_draws_and_points_of_a_duel():
    found = tally([((7, 3), (130, 100)), ((3, 7), (115, 115)), ((7, 3), (90, 140))])

    pair = found.duels[3, 7]
    assert (pair.boards, pair.half_points, pair.squares, pair.wins, pair.draws, pair.losses) == (3, 3, 5, 1, 1, 1)
    assert (found.bots[7].boards, found.bots[7].points, found.bots[7].half_points, found.bots[7].meetings) == (
        3,
        335,
        3,
        3,
    )


def test_tally_ranks_a_table_of_individual_seats():
    found = tally([((5, 2, 9), (-3, 0, -3))])

    assert dict(found.tables) == {((2, 5, 9), (0, 1, 1)): 1}
    assert {pair: row.half_points for pair, row in found.pairs.items()} == {(2, 5): 2, (2, 9): 2, (5, 9): 1}
    assert found.duels == {}
    assert found.opponents() == {2: {5, 9}, 5: {2, 9}, 9: {2, 5}}


@pytest.mark.parametrize(
    ("parties", "scores"), [((1,), (3,)), ((1, 1), (3, 2)), ((1, 2), (3,)), ((1, 2, 1), (1, 2, 3)), ((), ())]
)
def test_tally_refuses_what_is_no_board(parties, scores):
    with pytest.raises(ValueError, match="parties"):
        tally([(parties, scores)])


@given(boards, st.randoms(use_true_random=False))
def test_tally_does_not_depend_on_order_of_boards_or_parties(played, rng):
    shuffled = []
    for bots, scores in rng.sample(played, len(played)):
        order = rng.sample(range(len(bots)), len(bots))
        shuffled.append(([bots[i] for i in order], [scores[i] for i in order]))

    assert tally(shuffled) == tally(played)


@given(boards)
def test_tally_shares_out_every_half_point(played):
    found = tally(played)

    assert sum(bot.half_points for bot in found.bots.values()) == sum(bot.meetings for bot in found.bots.values())
    assert sum(bot.points for bot in found.bots.values()) == sum(sum(scores) for _, scores in played)
