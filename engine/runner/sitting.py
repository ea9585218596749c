"""One sitting: the referee's loop, and what it writes down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import engine
from engine.runner.faults import KINDS, Fault, event_of
from engine.runner.feed import Feed
from engine.runner.protocol import encode
from engine.runner.result import FaultReport
from engine.runner.seat import Seat

NOTES = 4000  # characters of notes kept per seat and sitting


class Texts:
    """Texts of the actions of one game, encoded, and back. Filled as they come up."""

    def __init__(self, game: engine.Game) -> None:
        self._game = game
        self._encoded: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    def legal(self, actions: Sequence[int]) -> str:
        """The inside of the JSON list of these actions."""
        encoded = self._encoded
        try:
            return ",".join([encoded[action] for action in actions])
        except KeyError:
            for action in actions:
                text = self._game.action_text(action)
                encoded[action] = encode(text)
                self._numbers[text] = action
            return ",".join([encoded[action] for action in actions])

    def number(self, text: str) -> int:
        """The action of a bot's text. ValueError with the reason if it is none."""
        number = self._numbers.get(text)
        return self._game.parse_action(text) if number is None else number


class Sitting:
    """One playing of one board by the processes of one pass."""

    def __init__(
        self, state: engine.State, seats: Sequence[Seat], feed: Feed, texts: Texts, board: int, number: int
    ) -> None:
        self.state = state
        self.seats = seats
        self.feed = feed
        self.texts = texts
        self.board = board
        self.number = number
        self.faults: list[FaultReport] = []
        self.decisions = 0
        self._steps: list[tuple[int, int]] = []
        self._used: list[tuple[int, int, int]] = []
        self._notes: list[dict[str, Any]] = []
        self._room = [NOTES] * state.seats  # the seats themselves may still be empty: the first sitting starts its pass
        feed.begin(state.events, board)

    def play(self, stop: Callable[[], bool] | None = None) -> bool:
        """Play to the end, to a fault or until `stop` says so; False in the last case."""
        state = self.state
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) == 1:  # forced: nothing to ask
                state.apply(legal[0])
                continue
            if stop is not None and stop():
                return False
            seat = self.seats[state.current_seat]
            try:
                self._decide(seat, legal)
            except Fault as fault:
                self.blame(seat, fault, len(state.actions))
                return True
        return True

    def _decide(self, seat: Seat, legal: Sequence[int]) -> None:
        state = self.state
        self.decisions += 1
        answer = seat.ask(self.feed.take(seat.seat), self.texts.legal(legal))
        self._steps.append((len(state.actions), seat.seat))
        self._used.append(seat.last_us)
        if answer.note and self._room[seat.seat] > 0:
            self._room[seat.seat] -= len(answer.note)
            self._notes.append({"step": len(state.actions), "seat": seat.seat, "note": answer.note})
        try:
            action = self.texts.number(answer.do)
            if action not in legal:
                state.apply(action)  # where the rules let a revoke through they settle it; otherwise they refuse it
                return
        except engine.EngineError:
            options = self.texts.legal(legal).replace('"', "").replace(",", ", ")
            raise Fault("illegal_action", f"the bot answered {answer.do[:60]!a}; legal were: {options}") from None
        state.apply(action)

    def blame(self, seat: Seat, fault: Fault, step: int) -> None:
        """Write down a fault, and tell everybody."""
        request, answer = seat.evidence()
        self.faults.append(
            FaultReport(seat.party, seat.seat, self.board, self.number, step, fault.kind, fault.detail, request, answer)
        )
        self.feed.announce(event_of(seat.seat, fault.kind))

    def record(self, meta: dict[str, Any]) -> dict[str, Any]:
        """The replay: what `engine.replay` proves, and beside it faults, notes and times, which no rule can prove.

        `timings` are whole microseconds per decision asked; `steps` are the numbers of the actions, from 0, that they belong
        to, `seats` who was asked.
        """
        replay = engine.replay.make(self.state, meta)
        replay["faults"] = [
            {"step": fault.step, "seat": fault.seat, "fault": fault.kind, "detail": KINDS.get(fault.kind, "")}
            for fault in self.faults
        ]
        replay["notes"] = self._notes
        steps, seats = ([step[i] for step in self._steps] for i in range(2))
        cpu, wall, latency = ([used[i] for used in self._used] for i in range(3))
        replay["timings"] = {
            "unit": "us",
            "steps": steps,
            "seats": seats,
            "cpu": cpu,
            "wall": wall,
            "latency": latency,
        }
        return replay
