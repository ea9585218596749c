"""PettingZoo: every game as an AEC environment with action masks.

    from engine.adapters.pettingzoo import env
    table = env("partnership")
    table.reset(seed=7)
    for agent in table.agent_iter():
        observation, reward, termination, truncation, info = table.last()
        done = termination or truncation
        table.step(None if done else table.action_space(agent).sample(observation["action_mask"]))

Agents are "seat_0" to "seat_n-1". Observations are {"observation": float32 vector, "action_mask": int8 vector}, laid out as in
`engine.adapters.tensors`. Rewards come once, at the end: the seat's score minus the mean of the table (`State.returns`). An illegal action
ends the episode as it would end the sitting of a bot in the league: with the worst score for the offender (`Game.fault_scores`).

An environment can be copied and pickled in the middle of an episode; the copy goes on by itself.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv

import engine
from engine.adapters import tensors
from engine.search import encoding


class TuteEnv(AECEnv):  # type: ignore[misc]
    """One rated board of a game (or `deals` deals of it) for all its seats."""

    metadata = {"name": "tute_v0", "render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(self, key: str, *, deals: int | None = None, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        self._key, self._options = key, options
        self.game = engine.load(key, **options)
        self.deals = deals if deals is not None else self.game.board_deals
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.game.players)]
        self._observation_space = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (tensors.SIZE,), np.float32),
                "action_mask": spaces.Box(0, 1, (tensors.ACTIONS,), np.int8),
            }
        )
        self._action_spaces = {agent: spaces.Discrete(tensors.ACTIONS) for agent in self.possible_agents}
        self._random, _ = seeding.np_random(None)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same for all."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions; `action_mask` says which are legal."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal again. The same seed gives the same cards; without a seed the environment draws its next one."""
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        self._seed, self._played = self._random.bytes(32), list[int]()
        self._deal()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._to_act()

    def _deal(self) -> None:
        self.state_of_match = self.game.new_match(seed=self._seed, deals=self.deals, record=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the match, which the seed of its cards and its actions give again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("game", "state_of_match")}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        """Play the match again up to where it was."""
        self.__dict__.update(stored)
        self.game = engine.load(self._key, **self._options)
        if "_seed" in stored:
            self._deal()
            for action in self._played:
                self.state_of_match.apply(encoding.action(self.state_of_match, action))

    def __copy__(self) -> TuteEnv:
        """Return an environment that shares nothing with this one."""
        return copy.deepcopy(self)

    def _to_act(self) -> str:
        return self.possible_agents[max(0, self.state_of_match.current_seat)]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an agent's observation vector (`tensors`) and the mask of its legal actions: all zero if another agent is to move."""
        state = self.state_of_match
        seat = self.possible_agents.index(agent)
        acts = state.current_seat == seat
        mask = tensors.legal_mask(state) if acts else np.zeros(tensors.ACTIONS, dtype=np.int8)
        return {"observation": tensors.observation(state, seat), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Apply an action of the agent to move. An illegal one forfeits the match; Pass None for an agent that is done."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        state = self.state_of_match
        if action is None or int(action) not in encoding.legal(state):
            seat = self.possible_agents.index(agent)
            scores = self.game.fault_scores(self.game.side[seat])
            self._finish([score - sum(scores) / len(scores) for score in scores])
        else:
            self._played.append(int(action))
            state.apply(encoding.action(state, int(action)))
            if state.is_over:
                self._finish(state.returns())
            else:
                self.agent_selection = self._to_act()
        if self.render_mode == "ansi":
            self.render()

    def _finish(self, rewards: list[float]) -> None:
        self.rewards = dict(zip(self.possible_agents, map(float, rewards), strict=True))
        self._accumulate_rewards()  # All rewards were zero until now.
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def render(self) -> str | None:
        """Return the table as the seat to move sees it, in one line; None without `render_mode="ansi"`."""
        if self.render_mode is None:
            return None
        seat = max(0, self.state_of_match.current_seat)
        view = self.state_of_match.observation(seat)
        table = " ".join(f"{play['seat']}:{play['card']}" for play in view["trick"])
        return (
            f"{self.agent_selection}  hand {' '.join(view['hand'])}  table {table or '-'}  trump {view['trump'] or '-'}"
        )

    def close(self) -> None:
        """Do nothing: the environment holds nothing open."""


def env(key: str, *, deals: int | None = None, render_mode: str | None = None, **options: Any) -> TuteEnv:
    """Create the environment of a game; `options` as for `engine.load`."""
    return TuteEnv(key, deals=deals, render_mode=render_mode, **options)
