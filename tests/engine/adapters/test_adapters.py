"""The adapters against the checks of the libraries that they adapt to, for every game and table."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pyspiel
import pytest
from pettingzoo.test import api_test, seed_test

import engine
import engine.adapters.openspiel  # registers the games
from engine.adapters import tensors
from engine.adapters.pettingzoo import TuteEnv, env
from engine.game import declared
from tests.support.parts import mostly_slow

TABLES = [(key, players) for key in engine.games() for players in declared(key).players]


@pytest.mark.parametrize(("key", "players"), mostly_slow(TABLES, dict(TABLES).items().__contains__))
def test_pettingzoo_accepts_every_table(key: str, players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the check remarks on boxes without bounds
        api_test(env(key, players=players), num_cycles=40)
        seed_test(lambda: env(key, players=players), num_cycles=20)


COPIES = [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))]


@pytest.mark.parametrize("key", engine.games())
def test_a_copied_or_pickled_environment_goes_on_by_itself(key: str) -> None:
    """A copy is equal before the first deal, in the middle and after an illegal action, and what it does changes nothing of the first."""

    def act(table: TuteEnv, count: int) -> list[object]:
        rows: list[object] = []
        for _ in range(count):
            if not table.agents:
                break
            observation, reward, is_over, _, _ = table.last()
            rows.append((table.agent_selection, observation["observation"].tolist(), reward, is_over))
            table.step(None if is_over else int(np.flatnonzero(observation["action_mask"])[-1]))
        return rows

    for clone in COPIES:
        table = env(key)
        clone(table).reset(seed=3)
        table.reset(seed=3)
        act(table, 5)
        other, third = clone(table), clone(clone(table))
        ahead = act(other, 6)
        assert act(table, 6) == ahead == act(third, 6)
        if all(table.terminations.values()):
            continue
        table.step(int(np.flatnonzero(table.last()[0]["action_mask"] == 0)[0]))
        over = clone(table)
        assert over.rewards == table.rewards
        assert all(over.terminations.values())
        other.reset()
        third.reset()
        assert act(other, 3) == act(third, 3), "the next cards follow from the same seed"


@pytest.mark.parametrize("key", engine.games())
def test_an_openspiel_game_and_state_are_pickled(key: str) -> None:
    game = pyspiel.load_game(f"python_tute_{key}")
    state = game.new_initial_state()
    while not state.is_terminal() and len(state.history()) < 12:
        state.apply_action(state.legal_actions()[0])
    for clone in COPIES:
        assert str(clone(state)) == str(state)
        assert str(clone(game)) == str(game)


def test_pettingzoo_says_that_seats_do_not_act_in_parallel() -> None:
    assert env("partnership").metadata["is_parallelizable"] is False


def test_an_illegal_action_ends_the_episode_with_the_worst_for_its_seat() -> None:
    table = env("partnership")
    table.reset(seed=1)
    offender = table.agent_selection
    illegal = int(np.flatnonzero(table.last()[0]["action_mask"] == 0)[0])

    table.step(illegal)

    assert all(table.terminations.values())
    assert table.rewards[offender] == min(table.rewards.values()) < 0
    assert sum(table.rewards.values()) == 0


@pytest.mark.parametrize("key", engine.games())
def test_openspiel_plays_every_game(key: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(f"python_tute_{key}"), num_sims=1, serialize=False, verbose=False)


def test_openspiel_states_are_copied_apart() -> None:
    state = pyspiel.load_game("python_tute_corriente").new_initial_state()
    for outcome in (1, 2, 3):
        state.apply_action(outcome)
    before = str(state)

    copy = state.clone()
    copy.apply_action(copy.legal_actions()[0])

    assert str(state) == before != str(copy)


@pytest.mark.parametrize("key", engine.games())
def test_dense_actions_are_the_legal_ones(key: str) -> None:
    state = engine.load(key).new_match(seed=5, deals=1, record=False)
    while not state.is_over:
        numbers = tensors.legal(state)
        assert sorted(tensors.action(state, number) for number in numbers) == sorted(state.legal_actions())
        assert [tensors.index(state, tensors.action(state, number)) for number in numbers] == numbers
        assert np.flatnonzero(tensors.legal_mask(state)).tolist() == numbers
        state.apply(state.legal_actions()[0])


def test_the_observation_is_laid_out_as_documented() -> None:
    game = engine.load("partnership")
    state = game.new_match(seed=3)
    lead = state.legal_actions()[0]
    state.apply(lead)
    seat = state.turn

    vector = tensors.observation(state, seat)

    assert vector.shape == (tensors.SIZE,)
    assert vector.dtype == np.float32
    assert np.flatnonzero(vector[:52]).tolist() == list(state.hand_of(seat))
    assert np.flatnonzero(vector[52:104]).tolist() == [lead]
    assert vector[312 + 3 * 52 + lead] == 1  # played by the seat before, three further on in order of play
    assert np.flatnonzero(vector[676:681]).tolist() == [state.trump]
    assert vector[760] == 1
