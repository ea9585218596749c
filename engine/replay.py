"""Replays: header, actions and events of one match, and the check that they belong together.

Running the actions again must give the same events and scores. `verify` is the golden test, the migration check and the tamper check.
"""

from __future__ import annotations

import json
from typing import Any

from engine.errors import EngineError
from engine.game import load
from engine.version import VERSION

FORMAT = "tute-replay/1"


class ReplayError(ValueError):
    """An invalid replay. `step` counts actions from 1; 0 is the header."""

    def __init__(self, step: int, message: str) -> None:
        super().__init__(f"step {step}: {message}" if step else message)
        self.step = step


def make(state: Any, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """Make the replay of a recorded match, finished or not, as plain JSON data. `meta` is stored unchanged and not verified."""
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
    """Return the state before the first action of a replay. Raise ReplayError if the header is invalid."""
    return _begin(replay)[0]


def restore(replay: dict[str, Any]) -> Any:
    """Return the state at the end of a replay by running its actions. Raise ReplayError if the header or an action is invalid."""
    state, _ = _begin(replay)
    for step, text in enumerate(replay["actions"], 1):
        _take(state, step, text)
    return state


def verify(replay: dict[str, Any]) -> None:
    """Run a replay again and compare everything. Raise ReplayError with the first step that differs, and why."""
    state, events = _begin(replay)
    compared = _compare(0, state.events, events, 0)
    for step, text in enumerate(replay["actions"], 1):
        _take(state, step, text)
        compared = _compare(step, state.events, events, compared)
    if len(events) > len(state.events):
        raise ReplayError(
            len(replay["actions"]),
            f"the replay has {len(events) - len(state.events)} more events than its actions produce",
        )
    for name, here in (("over", state.is_over), ("scores", state.scores())):
        if replay.get(name) != here:
            raise ReplayError(
                len(replay["actions"]), f"{name} is {replay.get(name)!r} in the replay and {here!r} by the rules"
            )


def _begin(replay: dict[str, Any]) -> tuple[Any, list[Any]]:
    if not isinstance(replay, dict) or replay.get("format") != FORMAT:
        raise ReplayError(0, f"this is not a replay: its format is not {FORMAT!r}")
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
        raise ReplayError(0, f"the header is invalid: {error!r}") from None
    except ValueError as error:
        raise ReplayError(0, f"the header is invalid: {error}") from None
    if not isinstance(events, list) or not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ReplayError(0, "actions must be a list of texts, and events a list")
    return state, events


def parse(state: Any, step: int, text: str) -> int:
    """Return the legal action that a text of a replay means. Raise ReplayError."""
    try:
        action = int(state.game.parse_action(text))
    except EngineError as error:
        raise ReplayError(step, f"action {text!r} cannot be taken: {error}") from None
    if action not in state.legal_actions():
        raise ReplayError(step, f"action {text!r} cannot be taken: it is not legal")
    return action


def _take(state: Any, step: int, text: str) -> None:
    try:
        state.apply(state.game.parse_action(text))
    except EngineError as error:
        raise ReplayError(step, f"action {text!r} cannot be taken: {error}") from None


def _compare(step: int, expected: list[Any], actual: list[Any], start: int) -> int:
    for place in range(start, len(expected)):
        here = json.loads(json.dumps(expected[place]))
        if place >= len(actual):
            raise ReplayError(step, f"event {place} ({here['e']}) is missing from the replay")
        if here != actual[place]:
            raise ReplayError(
                step, f"event {place} is {_short(actual[place])} in the replay and {_short(here)} by the rules"
            )
    return len(expected)


def _short(event: Any) -> str:
    text = json.dumps(event, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."
