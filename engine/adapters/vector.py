"""Many matches at once for learning: plain numpy arrays, and Gymnasium's vector interface on top of them.

    from engine.adapters.vector import Matches
    table = Matches("partnership", 1024, seed=7)
    for _ in range(1000):
        table.step(table.sample())                # or any array of 1024 legal actions
    table.arrays.observations, table.arrays.masks, table.arrays.turns, table.arrays.rewards, table.arrays.ended

A step takes one action in each match, for the seat to move. A match that ends restarts in the same step (autoreset): its rewards and `ended`
belong to the finished match; observation, mask and seat belong to the new one. Rewards are `State.returns`, a seat's score minus the mean of
the table, and 0 in all other steps. Observations are bytes and actions dense numbers, laid out as in `engine.search.encoding`;
`engine.adapters.tensors.expand` converts them to floats. An illegal action ends a match with the worst scores for the seat's side.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

import engine
from engine.search import encoding
from engine.search.batch import KEEP, Batch

Bytes = NDArray[np.uint8]
Policy = Callable[[Bytes, NDArray[np.int8]], NDArray[np.integer[Any]]]

LINE = 64  # Bytes of a cache line; each array begins at a multiple.


class Arrays:
    """The results of a step, as arrays over one block of memory. `buffer` may provide it, such as `SharedMemory.buf` of at least `size` bytes.

    observations  uint8 (count, encoding.SIZE)    masks   int8 (count, width)     turns      uint8 (count,)
    rewards       float32 (count, players)        ended   bool (count,)           forfeited  bool (count,)

    Raise ValueError if the buffer is too small.
    """

    def __init__(self, game: engine.Game, count: int, buffer: Any = None) -> None:
        self.count = count
        block = np.zeros(self.size(game, count), np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)
        if len(block) < self.size(game, count):
            raise ValueError(f"the arrays need {self.size(game, count)} bytes, but the buffer has {len(block)}")
        parts = {}
        start = 0
        for name, kind, shape in self._layout(game, count):
            size = int(np.prod(shape)) * np.dtype(kind).itemsize
            parts[name] = block[start : start + size].view(kind).reshape(shape)
            start += -(-size // LINE) * LINE
        self._set(parts)

    @staticmethod
    def _layout(game: engine.Game, count: int) -> list[tuple[str, Any, tuple[int, ...]]]:
        return [
            ("observations", np.uint8, (count, encoding.SIZE)),
            ("masks", np.int8, (count, encoding.width(game))),
            ("rewards", np.float32, (count, game.players)),
            ("turns", np.uint8, (count,)),
            ("ended", np.bool_, (count,)),
            ("forfeited", np.bool_, (count,)),
        ]

    def _set(self, parts: dict[str, NDArray[Any]]) -> None:
        self.observations: Bytes = parts["observations"]
        self.masks: NDArray[np.int8] = parts["masks"]
        self.rewards: NDArray[np.float32] = parts["rewards"]
        self.turns: Bytes = parts["turns"]
        self.ended: NDArray[np.bool_] = parts["ended"]
        self.forfeited: NDArray[np.bool_] = parts["forfeited"]

    @classmethod
    def size(cls, game: engine.Game, count: int) -> int:
        """Return how many bytes the arrays of `count` matches take."""
        sizes = [int(np.prod(shape)) * np.dtype(kind).itemsize for _, kind, shape in cls._layout(game, count)]
        return sum(-(-size // LINE) * LINE for size in sizes)

    def part(self, first: int, last: int) -> Arrays:
        """Return the rows `first` to `last` - 1 over the same memory, so that several processes can each write a part."""
        names = ("observations", "masks", "rewards", "turns", "ended", "forfeited")
        return self._over({name: getattr(self, name)[first:last] for name in names})

    @classmethod
    def _over(cls, parts: dict[str, NDArray[Any]]) -> Arrays:
        arrays = object.__new__(cls)
        arrays.count = len(parts["turns"])
        arrays._set(parts)
        return arrays


class Matches:
    """`count` matches of one game in lock step; `options` as for `engine.load`, `deals` and `seed` as for `Batch`.

    arrays: arrays of `count` rows to write to (ValueError for another number). Without it `arrays` views the memory of the batch itself, and is
    read-only except for the rewards. A copy, and what is unpickled, continues alone, without `arrays`.
    """

    def __init__(
        self,
        key: str,
        count: int,
        *,
        seed: int = 0,
        deals: int | None = None,
        arrays: Arrays | None = None,
        **options: Any,
    ) -> None:
        self._terms = key, options
        self.game = engine.load(key, **options)
        self.batch = Batch(self.game, count, deals=deals, seed=seed)
        batch = self.batch
        blocks = {
            "observations": _read_only_view(batch.observations, np.uint8, (count, encoding.SIZE)),
            "masks": _read_only_view(batch.masks, np.int8, (count, batch.width)),
            "turns": _read_only_view(batch.turns, np.uint8, (count,)),
            "ended": _read_only_view(batch.ended, np.bool_, (count,)),
            "forfeited": _read_only_view(batch.forfeited, np.bool_, (count,)),
        }
        self._margins = _read_only_view(batch.margins, np.int64, (count, self.game.players))
        self._pairs: list[tuple[NDArray[Any], NDArray[Any]]] = []
        if arrays is None:
            self.arrays = Arrays._over(blocks | {"rewards": np.zeros((count, self.game.players), np.float32)})
        else:
            self.arrays = arrays
            if arrays.count != count:
                raise ValueError(f"{count} matches need {count} rows, not {arrays.count}")
            self._pairs = [(getattr(arrays, name), theirs) for name, theirs in blocks.items()]
        self._publish()

    def reset(self, seed: int) -> Arrays:
        """Deal all matches again, match i with the seed `seed` + i."""
        self.batch.reset(seed)
        self._publish()
        return self.arrays

    def step(self, actions: Any) -> Arrays:
        """Take one action in each match: an array or list of dense numbers; -1 skips a match. Return the arrays with the results.

        Raise ValueError if there are not as many actions as matches, TypeError for an array that is not of integers; nothing changes then.
        """
        if isinstance(actions, np.ndarray):
            if actions.dtype.kind not in "iu":
                raise TypeError(f"actions must be integers, not {actions.dtype}")
            actions = actions.tolist()
        self.batch.step(actions)
        self._publish()
        return self.arrays

    def sample(self) -> list[int]:
        """Return a random legal action for each match, but never a claim."""
        return self.batch.random()

    def __reduce__(self) -> Any:
        """Return the state of a copy: it plays the actions of the running matches again, and their arrays become views of the new batch."""
        key, options = self._terms
        return _resume, (key, self.batch.count, self.batch.deals, options, self.batch.save())

    def _publish(self) -> None:
        for ours, theirs in self._pairs:
            np.copyto(ours, theirs)
        np.divide(self._margins, self.game.players, out=self.arrays.rewards, casting="unsafe")


def _resume(key: str, count: int, deals: int | None, options: dict[str, Any], saved: Any) -> Matches:
    matches = Matches(key, count, deals=deals, **options)
    matches.batch.restore(saved)
    matches._publish()
    return matches


def _read_only_view(block: Any, kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a read-only view of a block of the core, which shows later changes too."""
    array = np.frombuffer(memoryview(block), kind).reshape(shape)
    array.flags.writeable = False
    return array


class TuteVectorEnv(VectorEnv[Any, Any, Any]):
    """Gymnasium's vector interface: observations {"observation": uint8, "action_mask": int8}, one discrete action per match.

    Without `opponents` the caller acts for the seat to move (self-play), and the reward is that of the seat that has just acted. `opponents` is a
    policy that maps observations (n, SIZE) and masks (n, width) to n actions. With it the learner plays all seats of one side, in match i side i
    modulo the number of sides, and acts for no other; the reward is that of this side. `info` has "seat", the seat to move, and "rewards" of all
    seats. Matches restart in the step that ends them (AutoresetMode.SAME_STEP); no seat is to move at the end, so there is no "final_obs".
    `copy=False` returns the same arrays in each step instead of copies. Opponents that answer -1, "wait", raise ValueError. An environment can
    be copied and pickled in the middle of matches, with its opponents; the copy goes on by itself.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        key: str,
        num_envs: int = 1,
        *,
        opponents: Policy | None = None,
        deals: int | None = None,
        copy: bool = True,
        **options: Any,
    ) -> None:
        self.matches = Matches(key, num_envs, deals=deals, **options)
        self.num_envs = num_envs
        self.opponents = opponents
        self.copy = copy
        game = self.matches.game
        width = self.matches.batch.width
        self.single_observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0, 255, (encoding.SIZE,), np.uint8),
                "action_mask": spaces.Box(0, 1, (width,), np.int8),
            }
        )
        self.single_action_space = spaces.Discrete(width)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rows = np.arange(num_envs)
        self._side = np.array(game.side)
        self._mine = self._rows % len(game.sides)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Deal again: match i gets the seed `seed` + i. Without a seed the environment's generator draws one. Raise TypeError for a list of seeds."""
        if isinstance(seed, list):
            raise TypeError("pass one seed: match i is dealt by seed + i")
        super().reset(seed=seed, options=options)
        arrays = self.matches.reset(int(self.np_random.integers(2**31)) if seed is None else seed)
        rewards = np.zeros((self.num_envs, self.matches.game.players), np.float32)
        self._play_opponents(rewards, np.zeros(self.num_envs, np.bool_))
        return self._observation(), {"seat": arrays.turns.copy()}

    def step(
        self, actions: Any
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one decision of the learner in each match, and those of the opponents that follow."""
        acting = self.matches.arrays.turns.astype(np.intp)
        arrays = self.matches.step(actions)
        rewards, ended = arrays.rewards, arrays.ended
        if self.copy or self.opponents:
            rewards, ended = rewards.copy(), ended.copy()
        self._play_opponents(rewards, ended)
        info = {"seat": arrays.turns.copy() if self.copy else arrays.turns, "rewards": rewards}
        never = np.zeros(self.num_envs, np.bool_)
        return self._observation(), rewards[self._rows, acting], ended, never, info

    def _play_opponents(self, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> None:
        """Let the opponents act until the learner is to move everywhere; add the rewards of these steps."""
        if self.opponents is None:
            return
        arrays = self.matches.arrays
        while len(theirs := np.flatnonzero(self._side[arrays.turns] != self._mine)):
            actions = np.full(self.num_envs, KEEP, np.int64)
            actions[theirs] = self.opponents(arrays.observations[theirs], arrays.masks[theirs])
            if (actions[theirs] == KEEP).any():
                raise ValueError(
                    "an opponent answered -1, which would let its match wait for ever; it must choose an action"
                )
            self.matches.step(actions)
            rewards += arrays.rewards
            ended |= arrays.ended

    def __copy__(self) -> TuteVectorEnv:
        """Return an environment that shares nothing with this one."""
        return deepcopy(self)

    def _observation(self) -> dict[str, NDArray[Any]]:
        arrays = self.matches.arrays
        observation = {"observation": arrays.observations, "action_mask": arrays.masks}
        return {name: array.copy() for name, array in observation.items()} if self.copy else observation
