"""Those who played move at once; the fit of all, which follows, finds them where they are already, nearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from league.pure.portable import ELO_DIGITS
from league.pure.rating.bradley_terry import fit
from league.pure.rating.leaderboard import ELO
from league.pure.rating.local import estimate, move
from league.pure.rating.tallies import NOTHING, Tallies, around, tally_arrays
from tests.league.pure.rating.test_sketch import played

PAIRS = {"sides": ((0, 2), (1, 3))}


def a_match(versions: tuple[int, ...], wins: int, boards: int = 16, **how: Any) -> Tallies:
    """Return a match in which the first party (with its partner) wins `wins` boards and loses the others."""
    scores = np.array([[3, 0, 3, 0] if how else [3, 2, 1, 0]] * boards)[:, : len(versions)]
    scores[wins:] = scores[wins:, ::-1]
    return tally_arrays(np.array([versions] * boards, dtype=np.int64), scores, **how)


@pytest.mark.parametrize(
    ("before", "match"),
    [
        (played(300, 20_000), a_match((20, 45), 14)),
        (played(300, 20_000), a_match((20, 999), 10)),
        (played(120, 3_000, seats=4), a_match((20, 45, 60, 70), 10)),
        (played(120, 4_000, seats=4, **PAIRS), a_match((20, 45, 60, 70), 12, **PAIRS)),
    ],
    ids=["duel", "newcomer", "four seats", "mixed pairs"],
)
def test_who_played_stands_within_five_elo_of_the_fit_of_all(before: Tallies, match: Tallies) -> None:
    old, exact = fit(before), fit(before + match)
    strengths = dict(zip(old.bots, old.theta.tolist(), strict=True))
    movers = match.ids.tolist()

    estimates = move(around([before, match], movers), movers, dict.fromkeys(movers, 0.0) | strengths)

    true = dict(zip(exact.bots, exact.theta.tolist(), strict=True))
    sd = dict(zip(exact.bots, exact.sd_from_mean(np.ones(len(exact.bots))).tolist(), strict=True))
    assert estimates.keys() == set(movers)
    for bot in movers:
        assert abs(estimates[bot].theta - true[bot]) * ELO < 5
        assert 0.6 * sd[bot] < estimates[bot].sd < 1.4 * sd[bot]
    assert max(abs(estimates[bot].theta - strengths.get(bot, 0.0)) for bot in movers) * ELO > 5, (
        "else the test shows nothing"
    )


def test_many_matches_at_once_and_one_after_the_other_end_nearly_alike() -> None:
    before = played(300, 20_000)
    old = fit(before)
    start = dict(zip(old.bots, old.theta.tolist(), strict=True))
    matches = [a_match((20 + n, 45 + n), 3 + n) for n in range(10)]
    together = sum(matches, NOTHING)

    step_by_step, sums = dict(start), before
    for match in matches:
        sums += match
        step_by_step |= {
            bot: strength.theta
            for bot, strength in move(around([sums], match.ids), match.ids.tolist(), step_by_step).items()
        }
    at_once = move(around([before, together], together.ids), together.ids.tolist(), start)

    exact = fit(sums)
    for bot, true in zip(exact.bots, exact.theta.tolist(), strict=True):
        if bot in at_once:
            assert abs(at_once[bot].theta - true) * ELO < 5
            assert abs(step_by_step[bot] - true) * ELO < 5


def test_nobody_holds_two_who_met_only_each_other() -> None:
    match = a_match((7, 8), 12)

    estimates = move(around([played(30, 800), match], (7, 8)), (7, 8), {7: 0.5, 8: 0.5})

    exact = fit(match)
    assert estimates[7].theta + estimates[8].theta == pytest.approx(1.0)
    assert estimates[7].theta - estimates[8].theta == pytest.approx(exact.theta[0] - exact.theta[1])


@pytest.mark.parametrize(
    "boards",
    [played(40, 900), played(30, 600, seats=4), played(30, 600, seats=4, **PAIRS)],
    ids=["duels", "four seats", "mixed pairs"],
)
@pytest.mark.parametrize(
    "bots", [[15], [12, 20, 31], list(range(10, 25)), [4711]], ids=["one", "three", "many", "stranger"]
)
def test_boards_around_some_bots_are_all_of_theirs_with_whole_totals(boards: Tallies, bots: list[int]) -> None:
    tallies = around([boards, boards], bots)

    for kind, width in (("sides", 2), ("tables", 1)):
        for size, rows in getattr(boards, kind).items():
            own = rows[np.isin(rows[:, : width * size], bots).any(axis=1)]
            twice = own.copy()
            twice[:, width * size + (size if kind == "tables" else 0) :] *= 2
            assert getattr(tallies, kind)[size].tolist() == twice.tolist()
    totals = boards.totals[np.isin(boards.ids, tallies.ids)].copy()
    totals[:, 1:] *= 2
    assert tallies.totals.tolist() == totals.tolist()
    assert set(bots) & set(boards.ids.tolist()) <= set(tallies.ids.tolist())


def test_an_estimate_is_the_move_in_elo() -> None:
    """Ten to one in odds are 400 Elo, 1000 is where a strength of 0 stands, and a margin is 1.96 standard deviations."""
    before, match = played(300, 20_000), a_match((20, 45), 14)
    boards, elo = around([before, match], (20, 45)), {bot: 1000.0 + bot for bot in before.ids.tolist()}
    logit = 400 / np.log(10)

    estimates = estimate(boards, {45, 20}, elo, anchor=30)

    exact = move(boards, (20, 45), {bot: (value - 1000) / logit for bot, value in elo.items()})
    assert estimates.keys() == {20, 45}
    for bot, value in exact.items():
        assert estimates[bot].elo == pytest.approx(1000 + logit * value.theta, abs=0.01)
        assert estimates[bot].margin == pytest.approx(1.96 * logit * value.sd, rel=0.001)


def test_the_anchor_stays_where_it_is_and_the_others_move_instead() -> None:
    before, match = played(300, 20_000), a_match((20, 45), 14)
    boards, elo = around([before, match], (20, 45)), {bot: 1000.0 + bot for bot in before.ids.tolist()}

    free, anchored = estimate(boards, (20, 45), elo), estimate(boards, (20, 45), elo, anchor=45)

    assert abs(free[45].elo - 1000) > 5, "else the test shows nothing"
    assert anchored[45].elo == 1000
    assert anchored[20].elo - anchored[45].elo == pytest.approx(free[20].elo - free[45].elo, abs=2 * 10**-ELO_DIGITS)
    assert [anchored[bot].margin for bot in anchored] == [free[bot].margin for bot in anchored]


@pytest.mark.parametrize(
    ("elo", "middle"),
    [({8: 1130.0}, 1130), ({8: 1130.0, 30: 900.0, 31: 910.0}, 1055), ({}, 1000)],
    ids=["one", "three", "nobody"],
)
def test_who_has_no_elo_begins_in_the_middle(elo: dict[int, float], middle: float) -> None:
    """Two who have met only each other keep the middle between them."""
    estimates = estimate(a_match((7, 8), 12), (7, 8), elo)

    assert (estimates[7].elo + estimates[8].elo) / 2 == pytest.approx(middle)


def test_a_margin_is_wider_after_fewer_boards() -> None:
    two, many = (estimate(a_match((7, 8), boards // 2, boards), (7, 8), {})[7] for boards in (2, 200))

    assert two.elo == pytest.approx(many.elo) == 1000
    assert two.margin > 5 * many.margin


def test_a_strength_out_of_reach_is_an_error() -> None:
    """The longest step is two logits: two hundred of them do not come to what is six hundred logits away."""
    with pytest.raises(ArithmeticError, match="did not settle"):
        move(a_match((7, 8), 12), (7,), {7: 0.0, 8: 600.0})
