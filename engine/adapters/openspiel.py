"""OpenSpiel: the games as Python games; importing this module registers them as `python_tute_<key>`.

    import engine.adapters.openspiel, pyspiel
    game = pyspiel.load_game("python_tute_partnership")
    table = pyspiel.load_game("python_tute_individual(players=3)")

A state begins with three chance nodes of 4,096 outcomes each, which together choose one of 2**36 shuffles; the rest is deterministic. One
episode is one rated board's sitting (`Game.board_deals`). Utilities are `State.returns`, a seat's score minus the mean of the table, so
they are zero-sum. Observation tensors are those of `engine.adapters.tensors`; the observation string is the snapshot as JSON.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyspiel

import engine
from engine.adapters import tensors
from engine.game import declared

CHANCE_NODES = 3
OUTCOMES = 4096
LONGEST = 20_000  # Actions of a match; the engine ends every match after 500 deals.
UTILITY = 5000.0  # Larger than any score of a board.


def _type(key: str) -> pyspiel.GameType:
    players = declared(key).players
    return pyspiel.GameType(
        short_name=f"python_tute_{key}",
        long_name=f"Tute: {declared(key).title}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"players": players[0]},
    )


class TuteGame(pyspiel.Game):  # type: ignore[misc]
    """One game of the family for OpenSpiel."""

    key = ""
    game_type: pyspiel.GameType

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.game = engine.load(self.key, players=params.get("players", declared(self.key).players[0]))
        info = pyspiel.GameInfo(
            num_distinct_actions=tensors.ACTIONS,
            max_chance_outcomes=OUTCOMES,
            num_players=self.game.players,
            min_utility=-UTILITY,
            max_utility=UTILITY,
            utility_sum=0.0,
            max_game_length=LONGEST,
        )
        super().__init__(self.game_type, info, params)

    def new_initial_state(self) -> TuteState:
        """Return a match before its cards are dealt."""
        return TuteState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> TuteObserver:
        """Return the observer of this game. Raise ValueError for any parameter."""
        if params:
            raise ValueError(f"Tute observers take no parameters, not {params!r}")
        return TuteObserver()


class TuteState(pyspiel.State):  # type: ignore[misc]
    """A match for OpenSpiel: the chance nodes first, then the engine's state."""

    def __init__(self, game: TuteGame) -> None:
        super().__init__(game)
        self._key = game.key
        self._players = game.game.players
        self.chance: list[int] = []
        self.match: engine.State | None = None

    def _loaded(self) -> engine.Game:
        return engine.load(self._key, players=self._players)

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's number for chance or for the end."""
        if self.match is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.match.is_over else self.match.current_seat

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of one chance node, each with its probability."""
        return [(outcome, 1 / OUTCOMES) for outcome in range(OUTCOMES)]

    def _legal_actions(self, player: int) -> list[int]:
        return [] if self.match is None else tensors.legal(self.match)

    def _apply_action(self, action: int) -> None:
        if self.match is None:
            self.chance.append(action)
            if len(self.chance) == CHANCE_NODES:
                game = self._loaded()
                seed = "openspiel:" + ":".join(map(str, self.chance))
                self.match = game.new_match(seed=seed, deals=game.board_deals, record=False)
        else:
            self.match.apply(tensors.action(self.match, action))

    def _action_to_string(self, player: int, action: int) -> str:
        if self.match is None:
            return f"shuffle {action}"
        return self.match.game.action_text(tensors.action(self.match, action))

    def is_terminal(self) -> bool:
        """Return True if the match is over."""
        return self.match is not None and self.match.is_over

    def returns(self) -> list[float]:
        """Return `State.returns` of a finished match, zeros before its end."""
        return self.match.returns() if self.is_terminal() and self.match else [0.0] * self._players

    def __str__(self) -> str:
        if self.match is None:
            return f"shuffling {self.chance}"
        return json.dumps([self.match.observation(seat) for seat in range(self._players)], ensure_ascii=False)


class TuteObserver:
    """The information of one player, as tensor and string."""

    def __init__(self) -> None:
        self.tensor = np.zeros(tensors.SIZE, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: TuteState, player: int) -> None:
        """Fill the tensor with what a player may know; zeros before the deal."""
        self.tensor[:] = 0 if state.match is None else tensors.observation(state.match, player)

    def string_from(self, state: TuteState, player: int) -> str:
        """Return the observation of a player as JSON; empty before the deal."""
        return "" if state.match is None else json.dumps(state.match.observation(player), ensure_ascii=False)


def _register() -> None:
    for key in engine.games():
        game_type = _type(key)
        name = f"Tute_{key}"
        globals()[name] = type(name, (TuteGame,), {"key": key, "game_type": game_type})  # By its name it is pickled.
        pyspiel.register_game(game_type, globals()[name])


_register()
