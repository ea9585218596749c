"""Simultaneous perturbation: it finds the top of a noisy hill, stays in the range, and gives bots what they declared."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import spsa
from engine.sprt import expected
from engine.spsa import BotParameter

BATCH = 8


def tuned(parameters: list[BotParameter], tops: list[float], seed: int, *, elo: float, boards: int) -> dict[str, float]:
    """Tune a bot that loses `elo` for the square of each parameter's distance from its top, in steps; a tenth of the boards is drawn."""
    rng, values = random.Random(seed), {each.name: each.start for each in parameters}

    def strength(at: spsa.Values) -> float:
        return -elo * sum(((at[each.name] - top) / each.step) ** 2 for each, top in zip(parameters, tops, strict=True))

    for played in range(0, boards, BATCH):
        pair = spsa.draw_pair(parameters, values, played=played, boards=boards, seed=f"{seed}:{played}")
        chance = expected(strength(pair.plus) - strength(pair.minus))
        lead = sum(0 if rng.random() < 0.1 else 1 if rng.random() < chance else -1 for _ in range(BATCH))
        values = spsa.learn(parameters, values, pair.change, lead)
    return values


@settings(max_examples=30)
@given(
    tops=st.lists(st.floats(-4, 4), min_size=1, max_size=4), scale=st.sampled_from([1e-3, 1, 50]), seed=st.integers(0)
)
def test_it_climbs_a_noisy_hill_of_any_scale(tops: list[float], scale: float, seed: int) -> None:
    parameters = [BotParameter(f"p{n}", 0, -20 * scale, 20 * scale, scale) for n in range(len(tops))]
    values = tuned(parameters, [top * scale for top in tops], seed, elo=8, boards=1600)
    assert max(abs(values[f"p{n}"] / scale - top) for n, top in enumerate(tops)) < 2
    # A parameter that changes nothing stays within a few steps.
    assert all(abs(value) < 8 * scale for value in tuned(parameters, tops, seed, elo=0, boards=1600).values())


def test_it_ends_at_the_edge_and_rounds_whole_numbers_fairly() -> None:
    edge = [BotParameter("p", 1, 0, 2, 0.5)]
    assert tuned(edge, [9], 1, elo=8, boards=400)["p"] == 2
    whole = BotParameter("n", 3, 0, 10, 1, whole=True)
    pairs = [spsa.draw_pair([whole], {"n": 3.3}, played=99, boards=100, seed=str(seed)) for seed in range(400)]
    assert {type(pair.plus["n"]) for pair in pairs} == {int}
    assert {pair.plus["n"] for pair in pairs} == {2, 3, 4, 5}
    assert fmean(pair.plus["n"] + pair.minus["n"] for pair in pairs) / 2 == pytest.approx(3.3, abs=0.1)
    assert spsa.final_values([whole], {"n": 3.6}) == {"n": 4}
    fine = [BotParameter("p", 1.2345678, 0.12345678, 1.2345678, 0.1), BotParameter("q", -1.2345678, -1.2345678, 0, 0.1)]
    assert spsa.start_values(fine) == {"p": 1.2345678, "q": -1.2345678}, "not rounded out of the range"
    assert spsa.draw_pair([whole], {"n": 3.3}, played=8, boards=100, seed="7") == spsa.draw_pair(
        [whole], {"n": 3.3}, played=8, boards=100, seed="7"
    )
