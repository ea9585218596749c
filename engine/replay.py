"""Replays: header, actions and events of one match, and the proof that they belong together.

Running the actions through the engine again must give the same events and the same scores. That one function is golden test, migration check
and tamper check.
"""

from __future__ import annotations

import json
from typing import Any

from engine.errors import EngineError
from engine.game import load
from engine.version import VERSION

FORMAT = "tute-replay/1"


class ReplayError(ValueError):
    """A replay that does not hold. `step` counts actions from 1; 0 is the header."""

    def __init__(self, step: int, message: str) -> None:
        super().__init__(f"step {step}: {message}" if step else message)
        self.step = step


def make(state: Any, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """The replay of a recorded match, finished or cut short, as plain JSON data. `meta` is kept as given and not verified."""
    game = state.game.origin
    suits = game.pack.suits
    return {
        "format": FORMAT,
        "engine": VERSION,
        "game": game.key,
        "revision": game.revision,
        "options": game.options,
        "players": state.seats,
        "deals": state.deals,
        "suits": "".join(suits[number] for number in state.suit_map),
        "seed": state.seed.hex(),
        "meta": meta or {},
        "over": state.is_over,
        "scores": state.scores(),
        "actions": [game.action_text(action) for action in state.actions],
        "events": state.events,
    }


def begin(replay: dict[str, Any]) -> Any:
    """The state before the first action of a replay. Raises ReplayError where the header does not hold."""
    return _begin(replay)[0]


def restore(replay: dict[str, Any]) -> Any:
    """The state at the end of a replay, by running its actions. Raises ReplayError where the header or an action does not hold."""
    state, _ = _begin(replay)
    for step, text in enumerate(replay["actions"], 1):
        try:
            state.apply(state.game.parse_action(text))
        except EngineError as error:
            raise ReplayError(step, f"action {text!r} cannot be taken: {error}") from None
    return state


def verify(replay: dict[str, Any]) -> None:
    """Runs a replay again and compares everything. Raises ReplayError that names the first step that does not hold, and why."""
    state, events = _begin(replay)
    compared = _compare(0, state.events, events, 0)
    for step, text in enumerate(replay["actions"], 1):
        try:
            state.apply(state.game.parse_action(text))
        except EngineError as error:
            raise ReplayError(step, f"action {text!r} cannot be taken: {error}") from None
        compared = _compare(step, state.events, events, compared)
    if len(events) > len(state.events):
        raise ReplayError(
            len(replay["actions"]),
            f"the replay has {len(events) - len(state.events)} events more than its actions make",
        )
    for name, here in (("over", state.is_over), ("scores", state.scores())):
        if replay.get(name) != here:
            raise ReplayError(
                len(replay["actions"]), f"{name} is {replay.get(name)!r} in the replay and {here!r} by the rules"
            )


def _begin(replay: dict[str, Any]) -> tuple[Any, list[Any]]:
    if not isinstance(replay, dict) or replay.get("format") != FORMAT:
        raise ReplayError(0, f"this is no replay: its format is not {FORMAT!r}")
    try:
        game = load(replay["game"], players=replay["players"], **replay["options"])
        if replay["revision"] != game.revision:
            raise ReplayError(
                0,
                f"played under revision {replay['revision']} of the rules of {game.key}; this engine plays revision {game.revision}",
            )
        state = game.new_match(seed=bytes.fromhex(replay["seed"]), deals=replay["deals"], suits=replay["suits"])
        texts, events = replay["actions"], replay["events"]
    except (KeyError, TypeError, EngineError) as error:
        raise ReplayError(0, f"the header does not hold: {error!r}") from None
    except ValueError as error:
        raise ReplayError(0, f"the header does not hold: {error}") from None
    if not isinstance(events, list) or not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ReplayError(0, "actions must be a list of texts and events a list")
    return state, events


def _compare(step: int, made: list[Any], given: list[Any], start: int) -> int:
    for place in range(start, len(made)):
        here = json.loads(json.dumps(made[place]))
        if place >= len(given):
            raise ReplayError(step, f"event {place} ({here['e']}) is missing from the replay")
        if here != given[place]:
            raise ReplayError(
                step, f"event {place} is {_short(given[place])} in the replay and {_short(here)} by the rules"
            )
    return len(made)


def _short(event: Any) -> str:
    text = json.dumps(event, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."
