"""Statistics of boards: integers, whatever the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.pure.rating.tallies import BotTally, load, tally

boards = st.lists(
    st.lists(st.integers(1, 7), min_size=2, max_size=5, unique=True).flatmap(
        lambda bots: st.tuples(st.just(bots), st.lists(st.integers(-3, 3), min_size=len(bots), max_size=len(bots)))
    ),
    max_size=30,
)


def test_tally_counts_wins_draws_and_points_of_a_duel():
    tallies = tally([((7, 3), (130, 100)), ((3, 7), (115, 115)), ((7, 3), (90, 140))])

    assert tallies.sides[1].tolist() == [[3, 7, 1, 1, 1]]
    pair = tallies.pairs[3, 7]
    assert (pair.boards, pair.half_points, pair.wins, pair.draws, pair.losses) == (3, 3, 1, 1, 1)
    assert tallies.bots[7] == BotTally(boards=3, points=335, half_points=3, meetings=3)
    assert tallies.tables == {}


def test_tally_ranks_a_table_of_individual_seats():
    tallies = tally([((5, 2, 9), (-3, 0, -3))])

    assert tallies.tables[3].tolist() == [[2, 5, 9, 0, 1, 1, 1]]
    assert {pair: row.half_points for pair, row in tallies.pairs.items()} == {(2, 5): 2, (2, 9): 2, (5, 9): 1}
    assert tallies.sides == {}
    assert tallies.ids.tolist() == [2, 5, 9]
    assert tallies.met().tolist() == [[False, True, True], [True, False, True], [True, True, False]]


def test_tally_of_mixed_sides_counts_sides_and_opponents():
    """Parties 0 and 2 play together; a side is the same side whoever is named first, and in whatever order."""
    boards = [((8, 1, 4, 6), (90, 50, 90, 50)), ((1, 4, 6, 8), (70, 70, 70, 70)), ((4, 6, 8, 1), (30, 80, 30, 80))]

    tallies = tally(boards, sides=((0, 2), (1, 3)))

    assert tallies.sides[2].tolist() == [[1, 6, 4, 8, 1, 1, 1]]
    assert tallies.bots[8] == BotTally(boards=3, points=190, half_points=6, meetings=6)
    assert (1, 6) not in tallies.pairs
    assert (4, 8) not in tallies.pairs
    assert (tallies.pairs[1, 8].wins, tallies.pairs[1, 8].losses, tallies.pairs[1, 8].draws) == (1, 1, 1)


def test_tally_counts_faults_by_match():
    assert tally([((1, 2), (5, 3))], faults={2: 1}).bots[2].faults == 1


@pytest.mark.slow
@given(boards, boards)
def test_sums_of_parts_are_the_sums_of_the_whole(first, second):
    assert tally(first) + tally(second) == tally(first + second)


@pytest.mark.slow
@given(boards)
def test_dump_is_read_back_and_tells_sets_apart(played):
    tallies = tally(played)

    assert load(tallies.dump()).dump() == tallies.dump()
    assert load(tallies.dump()) == tallies
    assert (tally([*played, ((1, 2), (1, 0))]).digest == tallies.digest) is False


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Expecting value"),
        (b"{}\n", "cannot read tallies in format None"),
        (b'{"format":"tallies/0","rows":[]}\n', "cannot read tallies in format 'tallies/0'"),
    ],
)
def test_load_refuses_what_dump_did_not_write(data, why):
    with pytest.raises(ValueError, match=why):
        load(data)


def test_keys_too_wide_for_one_word_are_grouped():
    wide = [((2**40, 2**41, 2**42, 2**43, 2**44, 2**45), tuple(range(6)))] * 3

    assert tally(wide).tables[6].tolist() == [[2**40, 2**41, 2**42, 2**43, 2**44, 2**45, 5, 4, 3, 2, 1, 0, 3]]


@pytest.mark.parametrize(
    ("parties", "scores"), [((1,), (3,)), ((1, 1), (3, 2)), ((1, 2), (3,)), ((1, 2, 1), (1, 2, 3)), ((), ())]
)
def test_tally_refuses_what_is_no_board(parties, scores):
    with pytest.raises(ValueError, match="parties"):
        tally([(parties, scores)])


@pytest.mark.slow
@given(boards, st.randoms(use_true_random=False))
def test_tally_does_not_depend_on_order_of_boards_or_parties(played, rng):
    shuffled = []
    for bots, scores in rng.sample(played, len(played)):
        order = rng.sample(range(len(bots)), len(bots))
        shuffled.append(([bots[i] for i in order], [scores[i] for i in order]))

    assert tally(shuffled) == tally(played)


@given(boards)
def test_tally_shares_out_every_half_point(played):
    tallies = tally(played)

    assert sum(bot.half_points for bot in tallies.bots.values()) == sum(bot.meetings for bot in tallies.bots.values())
    assert sum(bot.points for bot in tallies.bots.values()) == sum(sum(scores) for _, scores in played)
