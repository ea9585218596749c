"""Matches in arrays: Gymnasium's vector interface, memory that belongs to the caller, and the floats of the other adapters from the same bytes."""

from __future__ import annotations

import copy as copying
import itertools
import pickle
import random
from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import engine
from engine.adapters import tensors
from engine.adapters.vector import Arrays, Matches, TuteVectorEnv
from engine.cards.chance import Dice
from engine.cards.pack import NO_SUIT
from engine.match.view import played
from engine.search import encoding
from tests.support import playing, tables
from tests.support.parts import mostly_slow

COPIES = [copying.copy, copying.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
ON_GAMES = tables.on_games(tables.plain(), tables.once())


def of_snapshot(state: engine.State, seat: int) -> tensors.Vector:
    """Return the vector of a seat made of `State.observation`, which is text: slow, and another way to the same numbers."""
    observed = state.observation(seat)
    numbers = {text: number for number, text in enumerate(state.game.pack.texts)}
    vector = np.zeros(tensors.SIZE, dtype=np.float32)
    rows = vector[:312].reshape(6, 52)
    table = [numbers[play["card"]] for play in observed["trick"]]
    rows[0, [numbers[card] for card in observed["hand"]]] = 1
    rows[1, table] = 1
    for play in observed["trick"]:
        vector[312 + 52 * from_(state, seat, play["seat"]) + numbers[play["card"]]] = 1
        if play["seat"] == observed["winning"]:
            rows[2, numbers[play["card"]]] = 1
    rows[3, [numbers[card] for card in observed["played"] if numbers[card] not in table]] = 1
    if observed["shown"] is not None:
        rows[4, numbers[observed["shown"]]] = 1
    for song in observed["sung"]:
        if song["suit"] is not None:
            rows[5, [numbers[rank + song["suit"]] for rank in state.rules.pair_ranks]] = 1
    suits = state.game.pack.suits
    vector[676 + (NO_SUIT if observed["trump"] is None else suits.index(observed["trump"]))] = 1
    vector[681 + (state.lead if table else NO_SUIT)] = 1
    vector[686 + from_(state, seat, observed["dealer"])] = 1
    vector[693 + (7 if observed["soloist"] is None else from_(state, seat, observed["soloist"]))] = 1
    for start, values, unit in (
        (701, observed["cards"], 130),
        (708, observed["songs"], 100),
        (715, observed["tricks"], 10),
        (722, [observed["totals"][side] for side in state.side], 130),
        (729, [observed["games"][side] for side in state.side], 10),
        (736, observed["marks"], 10),
        (743, observed["chips"], 1000),
        (
            750,
            [
                0 if prediction is None else prediction + 1
                for prediction in observed["predictions"] or [None] * state.seats
            ],
            10,
        ),
    ):
        for other, value in enumerate(values):
            vector[start + from_(state, seat, other)] = value / unit
    vector[757:761] = (
        observed["stock"] / 40,
        (observed["bid"] or 0) / 230,
        observed["deal"] / 10,
        state.current_seat == seat,
    )
    return vector


def from_(state: engine.State, seat: int, other: int) -> int:
    return (other - seat) % state.seats


@ON_GAMES
def test_the_bytes_hold_what_the_snapshot_tells(key: str, group: list[tables.Table]) -> None:
    """At every table, from every seat, whoever is on turn."""
    for number, table in enumerate(group):
        with tables.note_table(table):
            rng = random.Random(f"bytes {table}")
            state = table.load().new_match(seed=number, deals=2, record=False)
            for _ in range(60):
                if state.is_over:
                    break
                if rng.random() < 0.2:
                    seat = state.turn if rng.random() < 0.5 else rng.randrange(state.seats)
                    assert tensors.observation(state, seat).tolist() == of_snapshot(state, seat).tolist()
                    assert set(played(state)) >= {card for card in state.table if state.in_trick}
                state.apply(playing.choose(state, rng))


def alone(table: Matches, dice: Dice) -> engine.State:
    """Return a match like those of the table, outside of it."""
    return table.game.new_match(seed=bytes(32), deals=table.batch.deals, record=False, dice=dice)


@ON_GAMES
def test_arrays_show_what_states_tell(key: str, group: list[tables.Table]) -> None:
    """Every game: shapes, rewards that sum to zero and are `State.returns`, and arrays that follow their matches."""
    game = group[0].load()
    table = Matches(key, 3, seed=5, players=game.players, deals=1)
    arrays = table.arrays
    dice = [Dice(5 + row) for row in range(3)]
    states = [alone(table, seed_dice) for seed_dice in dice]
    ended = 0
    for _ in range(400):
        actions = np.array(table.sample())
        assert arrays.masks[np.arange(3), actions].all()
        for state, action in zip(states, actions.tolist(), strict=True):
            state.apply(encoding.action(state, action))
        assert table.step(actions) is arrays
        for row, state in enumerate(states):
            assert arrays.ended[row] == state.is_over
            if not arrays.ended[row]:
                assert not arrays.rewards[row].any()
                assert arrays.turns[row] == state.turn
                assert np.flatnonzero(arrays.masks[row]).tolist() == tensors.legal(state)
                assert arrays.observations[row].tobytes() == encoding.observation(state, state.turn)
            else:
                assert arrays.rewards[row].tolist() == pytest.approx(state.returns(), rel=1e-6)
                states[row] = alone(table, dice[row])
                ended += 1
        if ended > 3:
            break
    assert ended


def test_floats_are_made_of_many_rows_at_once() -> None:
    table = Matches("two_player", 16, seed=3)
    states = [alone(table, Dice(3 + row)) for row in range(16)]
    for _ in range(21):
        actions = table.sample()
        table.step(actions)
        for state, action in zip(states, actions, strict=True):
            state.apply(encoding.action(state, action))
    rows = tensors.expand(table.arrays.observations, table.game)
    for row, state in zip(rows, states, strict=True):
        assert row.tolist() == tensors.observation(state, state.turn).tolist()


# ---- memory of the caller


def play_second_half(memory: SharedMemory) -> None:
    part = Arrays(engine.load("partnership"), 8, memory.buf).part(4, 8)
    table = Matches("partnership", 4, seed=104, arrays=part)
    for _ in range(50):
        table.step(part.masks.argmax(axis=1))


def test_processes_share_one_block() -> None:
    """Another process writes the second half of a block, and it is what this one would have written."""
    game = engine.load("partnership")
    memory = SharedMemory(create=True, size=Arrays.size(game, 8))
    try:
        other = get_context("fork").Process(target=play_second_half, args=(memory,))
        other.start()
        other.join()
        assert other.exitcode == 0
        shared = Arrays(game, 8, memory.buf)
        alone_here = Matches("partnership", 8, seed=100)
        for _ in range(50):
            alone_here.step(alone_here.arrays.masks.argmax(axis=1))
        assert not shared.observations[:4].any()
        assert (shared.observations[4:] == alone_here.arrays.observations[4:]).all()
        assert (shared.masks[4:] == alone_here.arrays.masks[4:]).all()
        del shared
    finally:
        memory.close()
        memory.unlink()


def test_arrays_of_another_size_are_refused() -> None:
    game = engine.load("brisca")
    with pytest.raises(ValueError, match=f"need {Arrays.size(game, 4)} bytes, but the buffer has 100"):
        Arrays(game, 4, bytearray(100))
    with pytest.raises(ValueError, match="2 matches need 2 rows, not 4"):
        Matches("brisca", 2, arrays=Arrays(game, 4))


# ---- Gymnasium


def legal_first(_: object, masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


@pytest.mark.parametrize(
    ("key", "count"),
    mostly_slow(
        itertools.product(engine.games(), [1, 5]), lambda case: case[1] == 1 or case[0] in ("bato", "partnership")
    ),
)
def test_a_copied_or_pickled_environment_goes_on_by_itself(key: str, count: int) -> None:
    """A copy is equal before the first cards, in the middle, and after an illegal action; what it does changes nothing of the first."""

    def act(env: TuteVectorEnv, steps: int) -> list[object]:
        rows: list[object] = []
        for _ in range(steps):
            observation, rewards, ended, _, info = env.step(env.matches.sample())
            rows.append([array.tolist() for array in (*observation.values(), rewards, ended, info["seat"])])
        return rows

    for clone in COPIES:
        env = TuteVectorEnv(key, count, deals=1, opponents=legal_first if count > 1 else None)
        clone(env).reset(seed=3)
        env.reset(seed=3)
        act(env, 7)
        other, third = clone(env), clone(clone(env))
        rows = act(other, 60)
        assert act(env, 60) == rows == act(third, 60)
        env.step([int(np.flatnonzero(mask == 0)[0]) for mask in env.matches.arrays.masks])
        over = clone(env)
        for name in ("observations", "masks", "turns", "rewards", "ended", "forfeited"):
            assert np.array_equal(getattr(over.matches.arrays, name), getattr(env.matches.arrays, name)), name
        assert [env.reset()[0]["observation"].tolist() for env in (other, third)] == 2 * [
            over.reset()[0]["observation"].tolist()
        ], "the next cards follow from the same seed"


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("key", ["partnership", "bato", "podrida", "guinote"])
def test_gymnasium_vector_environment(key: str, copy: bool) -> None:
    env = TuteVectorEnv(key, 4, copy=copy, deals=1)
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    observation, info = env.reset(seed=7)
    totals = np.zeros(4)
    for _ in range(300):
        assert env.observation_space.contains(observation)
        acting, before = info["seat"].copy(), observation["observation"].copy()
        action = observation["action_mask"].argmax(axis=1)
        assert env.action_space.contains(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated.any()
        assert (reward == info["rewards"][np.arange(4), acting]).all()
        assert np.allclose(info["rewards"].sum(axis=1), 0, atol=1e-3)
        assert not info["rewards"][~terminated].any()
        assert (before != observation["observation"]).any() or terminated.any()
        totals += terminated
    assert totals.all()
    again, _ = env.reset(seed=7)
    other, _ = TuteVectorEnv(key, 4, deals=1).reset(seed=7)
    assert all((again[name] == other[name]).all() for name in other)
    env.close()
    with pytest.raises(TypeError, match="one seed"):
        env.reset(seed=[1, 2, 3, 4])


def test_opponents_play_the_other_sides() -> None:
    """The learner is asked for its own side alone, and its reward is that of this side, whoever plays the last card."""
    questions = 0

    def rival(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        nonlocal questions
        questions += len(observations)
        return masks.argmax(axis=1)

    env = TuteVectorEnv("partnership", 6, opponents=rival)
    _, info = env.reset(seed=1)
    sides = np.arange(6) % 2
    rewards = np.zeros(6)
    decisions = np.zeros(6, int)
    for _ in range(100):
        assert (info["seat"] % 2 == sides).all()
        action = env.matches.arrays.masks.argmax(axis=1)
        _, reward, terminated, _, info = env.step(action)
        assert (reward[~terminated] == 0).all()
        rewards += np.abs(reward)
        decisions += 1
    assert questions > 450
    assert (rewards > 0).all()


def test_opponents_may_not_wait() -> None:
    env = TuteVectorEnv("partnership", 6, opponents=lambda observations, _: np.full(len(observations), -1))

    with pytest.raises(ValueError, match="must choose an action"):
        env.reset(seed=1)


def test_actions_that_are_no_whole_numbers_change_nothing() -> None:
    matches = Matches("partnership", 4, seed=1)
    before = matches.arrays.observations.copy()

    with pytest.raises(TypeError, match="actions must be integers, not float64"):
        matches.step(np.zeros(4))

    assert (matches.arrays.observations == before).all()
    matches.step(np.array(matches.sample()))
    assert not (matches.arrays.observations == before).all()
