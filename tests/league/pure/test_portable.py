"""No order, pairing or table hangs on the last bits of a fitted value."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.pure.formats import FORMATS
from league.pure.pairing.standing import Ladder, LadderBot
from league.pure.portable import DIGITS, ELO_DIGITS, comparable
from league.pure.rating.leaderboard import LARGE, Leaderboard, fit_elo, fit_leaderboard
from league.pure.rating.local import estimate
from league.pure.rating.standings import rank_tallies
from league.pure.rating.tallies import Board, Tallies, tally, tally_arrays
from tests.support.formats import Winner, by_chance, field, level, paired, play_out
from tests.support.machines import OFF, other_machine
from tests.support.parts import mostly_slow

# Two bots of a real league with the same results, as one machine rated them
EQUALS = (829.3731262014553, 829.3731262014551)


def test_equals_are_equal_and_zero_has_no_sign() -> None:
    assert comparable(EQUALS[0]) == comparable(EQUALS[1]) == 829.373126
    assert comparable(EQUALS[0], ELO_DIGITS) == 829.3731
    assert comparable(1.4 * 10**-DIGITS) == 10**-DIGITS
    assert math.copysign(1, comparable(-1e-12)) == 1
    assert comparable(-math.inf) == -math.inf
    assert comparable(np.array([1 / 3, -1e-12])).tolist() == [0.333333, 0.0]


def test_another_machine_is_another_one() -> None:
    """The other tests of this file show something only if a fit is off."""
    boards = tally([((1, 2), (1, 0)), ((2, 3), (1, 0))])
    here = fit_leaderboard(boards).fit.theta

    with other_machine(1):
        elsewhere = fit_leaderboard(boards).fit.theta

    assert (here != elsewhere).any()
    assert np.abs(here / elsewhere - 1).max() < 2 * OFF


def table(leaderboard: Leaderboard) -> tuple[Any, ...]:
    """All that a leaderboard shows."""
    listed = np.ones(len(leaderboard.rows))
    return leaderboard.rows, *(values.tolist() for values in leaderboard.field_scores(listed))


@st.composite
def boards_with_equals(draw: st.DrawFn) -> list[Board]:
    """Boards of up to six bots, each of which has a twin with the same results: half of the table is a tie."""
    count = draw(st.integers(1, 6))
    bots = st.integers(0, count - 1)
    boards: list[Board] = []
    for a, b, result in draw(st.lists(st.tuples(bots, bots, st.sampled_from([(1, 0), (0, 1), (0, 0)])), max_size=30)):
        for bot, other in ((a, b), (a + count, b + count)) if a != b else ():
            boards.append(((bot, other), result))
            boards.append(((bot, (other + count) % (2 * count)), result))
    return boards


@settings(max_examples=40)
@given(boards_with_equals(), st.integers(0, 10**6))
def test_a_table_is_the_same_on_another_machine_whatever_the_order_of_boards(boards: list[Board], seed: int) -> None:
    here = fit_leaderboard(tally(boards))
    shuffled = random.Random(seed).sample(boards, len(boards))

    with other_machine(seed):
        elsewhere = fit_leaderboard(tally(shuffled))
        cold = fit_leaderboard(tally(shuffled), start=dict.fromkeys(range(12), 0.7))

    assert table(here) == table(elsewhere) == table(cold)


@settings(max_examples=40)
@given(boards_with_equals(), st.integers(0, 10**6))
def test_a_final_order_is_the_same_on_another_machine(boards: list[Board], seed: int) -> None:
    here = rank_tallies(range(12), tally(boards))

    with other_machine(seed):
        assert rank_tallies(range(12), tally(boards)).rows == here.rows


def many(bots: int, boards: int) -> Tallies:
    """Boards of a large pool, drawn by strength."""
    rng = np.random.default_rng(3)
    theta = rng.normal(0, 1, bots)
    pairs = np.stack([rng.permutation(bots)[:2] for _ in range(boards)])
    won = rng.random(boards) < 1 / (1 + np.exp(theta[pairs[:, 1]] - theta[pairs[:, 0]]))
    return tally_arrays(pairs, np.stack([won, ~won], axis=1).astype(np.int64))


@pytest.mark.slow
def test_a_large_table_and_its_estimates_are_the_same_on_another_machine() -> None:
    boards = many(LARGE + 1, 20_000)
    here, elo = fit_leaderboard(boards), fit_elo(boards)
    moved = estimate(boards, [3, 5], elo)

    with other_machine(1):
        assert table(fit_leaderboard(boards)) == table(here)
        assert fit_elo(boards) == elo
        assert estimate(boards, [3, 5], elo) == moved


VALUES: dict[str, list[dict[str, Any]]] = {
    "round_robin": [{"sure": 0.9, "cycles": 3}],
    "ladder": [{"budget": 30}, {"budget": 20, "head": True}],
    "duel": [{"cap": 200, "elo0": 0.0, "elo1": 100.0}],
}
TABLES = ((2, False), (3, False), (4, True))


def cases() -> list[tuple[str, int, int, bool, int]]:
    """Formats, and fields that they take."""
    rows = []
    for key, form in sorted(FORMATS.items()):
        for seats, mixed in TABLES:
            for number, values in enumerate(VALUES.get(key, [{}])):
                entries = min(5 if key == "round_robin" else 7, form.most or 7)  # each look draws for an early stop
                candidate = field(key, entries, seats=seats, mixed=mixed, **values)
                if form.takes(candidate) and entries >= max(form.fewest, candidate.table):
                    rows.append((key, entries, seats, mixed, number))
    return rows


@pytest.mark.parametrize(
    ("key", "entries", "seats", "mixed", "number"),
    mostly_slow(cases(), lambda case: case[2] == 2),
)
def test_a_tournament_is_the_same_on_another_machine(
    key: str, entries: int, seats: int, mixed: bool, number: int
) -> None:
    """Names, tables and boards, their order, and the ranking: where chance decides, and where all entries stay equal."""
    played = field(key, entries, seats=seats, mixed=mixed, lot="lot", **VALUES.get(key, [{}])[number])
    chance: Winner = by_chance(1, {entry: -0.3 * (entry // 2) for entry in range(entries)})
    for winner in (paired(chance) if mixed else chance, level):
        verdict, sheet = play_out(key, played, winner)
        with other_machine(len(sheet.pairings)):
            other, again = play_out(key, played, winner)

        assert again.pairings == sheet.pairings
        assert other.rank().levels == verdict.rank().levels
        assert (other.why, other.facts) == (verdict.why, verdict.facts)


def test_a_standing_ladder_draws_the_same_on_another_machine() -> None:
    rng = random.Random(2)
    strengths = [rng.choice([-0.5, 0.0, 1 / 3]) for _ in range(40)]

    def drawn(off: random.Random | None) -> list[tuple[int, ...]]:
        def moved(value: float) -> float:
            return value * (1 + OFF * off.uniform(-1, 1)) if off else value

        bots = [
            LadderBot(frozenset({place}), moved(theta), moved(0.3), tied=True) for place, theta in enumerate(strengths)
        ]
        bots += [LadderBot(frozenset({100 + place})) for place in range(5)]
        return [Ladder(bots).draw(random.Random(lot), lot % 45, 2 + lot % 3, {lot % 7: 2}) for lot in range(200)]

    assert drawn(random.Random(1)) == drawn(None)
