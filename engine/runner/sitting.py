"""One sitting: the referee's loop, and its record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import engine
from engine.runner import protocol
from engine.runner.faults import KINDS, Fault, fault_event
from engine.runner.feed import Feed, opening
from engine.runner.protocol import encode
from engine.runner.result import FaultReport
from engine.runner.seat import SeatHolder

NOTES = 4000  # Characters of notes stored per seat and sitting.


class Texts:
    """The encoded texts of one game's actions, and the actions of texts. Filled on demand."""

    def __init__(self, game: engine.Game) -> None:
        self._game = game
        self._encoded: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        # End of an answer, after its id -> action; with and without the spaces of Python's encoder.
        self._tails: dict[bytes, int] = {}

    def legal(self, actions: Sequence[int]) -> str:
        """Return the inside of the JSON list of these actions."""
        encoded = self._encoded
        try:
            return ",".join([encoded[action] for action in actions])
        except KeyError:
            for action in actions:
                text = self._game.action_text(action)
                encoded[action] = word = encode(text)
                self._numbers[text] = action
                self._tails[f' "do": {word}}}'.encode()] = self._tails[f'"do":{word}}}'.encode()] = action
            return ",".join([encoded[action] for action in actions])

    def plain(self, line: bytes, number: int) -> int | None:
        """Return the action of an answer in the usual form; None for any other line, which `protocol.answer` then parses.

        If this returns an action, `protocol.answer` gives the same, without a note.
        """
        head, _, tail = line.partition(b",")
        if head == b'{"id": %d' % number or head == b'{"id":%d' % number:
            return self._tails.get(tail)
        return None

    def number(self, text: str) -> int:
        """Return the action of a bot's text. Raise ValueError with the reason if it is invalid."""
        number = self._numbers.get(text)
        return self._game.parse_action(text) if number is None else number


class BoardRun:
    """One playing of one board by the processes of one pass."""

    def __init__(
        self, state: engine.State, seats: Sequence[SeatHolder], feed: Feed, texts: Texts, board: int, number: int
    ) -> None:
        self.state = state
        self.seats = seats
        self.feed = feed
        self.texts = texts
        self.board = board
        self.number = number
        self.faults: list[FaultReport] = []
        self.decisions = 0
        # Of each decision: step, seat, CPU us, wall s, latency s.
        self._log: list[tuple[int, int, int, float, float]] = []
        self._notes: list[dict[str, Any]] = []
        self._room = [NOTES] * state.seats  # `seats` may still be empty: a pass has no seats before its first sitting.
        self._opening: list[list[str]] | None = opening(state.events, board, state.seats)

    def play(self, stop: Callable[[], bool] | None = None) -> bool:
        """Play until the end, a fault, or `stop` returns True; return False in the last case."""
        self._open()
        state, seats = self.state, self.seats
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) == 1 and not self._asks(legal[0]):  # Forced: there is nothing to ask.
                state.apply(legal[0])
                continue
            if stop is not None and stop():
                return False
            seat = seats[state.turn]
            try:
                self._decide(seat, legal)
            except Fault as fault:
                self.blame(seat.party, seat.seat, fault, len(state.actions), seat.evidence())
                return True
        return True

    def _asks(self, _action: int) -> bool:
        """Return True if the seat to move is asked although this is its only action."""
        return False

    def _open(self) -> None:
        """Begin to send this sitting's events to the seats; they learn nothing about a sitting that is never played."""
        if self._opening is not None:
            self.feed.begin(self.state, self.board, self._opening)
            self._opening = None

    def _decide(self, seat: SeatHolder, legal: Sequence[int]) -> None:
        self.decisions += 1
        line = seat.ask(self.feed.take(seat.seat), self.texts.legal(legal))
        action = self.texts.plain(line, seat.requests)
        if action is None or action not in legal:
            self._read(seat, line, legal)
            return
        self._note_times(seat)
        self.state.apply(action)

    def _read(self, seat: SeatHolder, line: bytes, legal: Sequence[int]) -> None:
        """Read an answer that `Texts.plain` did not understand or that is not one of the choices."""
        state = self.state
        answer = protocol.answer(line, seat.requests)
        self._note_times(seat)
        if answer.note and self._room[seat.seat] > 0:
            self._room[seat.seat] -= len(answer.note)
            self._notes.append({"step": len(state.actions), "seat": seat.seat, "note": answer.note})
        try:
            action = self.texts.number(answer.do)
            if action not in legal:
                state.apply(action)  # If the rules allow a revoke, they handle it; otherwise they refuse it.
                return
        except engine.EngineError:
            options = self.texts.legal(legal).replace('"', "").replace(",", ", ")
            raise Fault("illegal_action", f"the bot answered {answer.do[:60]!a}; legal were: {options}") from None
        state.apply(action)

    def _note_times(self, seat: SeatHolder) -> None:
        self._log.append((len(self.state.taken_actions), seat.seat, seat.cpu_us, seat.took_s, seat.latency_s))

    def blame(self, party: int, seat: int, fault: Fault, step: int, evidence: tuple[str, str]) -> None:
        """Record a fault with its last request and answer, and announce it to all seats."""
        self._open()
        self.faults.append(FaultReport(party, seat, self.board, self.number, step, fault.kind, fault.detail, *evidence))
        self.feed.announce(fault_event(seat, fault.kind))

    def record(self, meta: dict[str, Any]) -> dict[str, Any]:
        """Return the replay that `engine.replay` verifies, with faults, notes and times, which the rules cannot verify.

        `timings` holds, for each decision, its times in whole microseconds, its action number from 0 (`steps`) and its seat (`seats`).
        """
        replay = engine.replay.make(self.state, meta)
        replay["faults"] = [
            {"step": fault.step, "seat": fault.seat, "fault": fault.kind, "detail": KINDS.get(fault.kind, "")}
            for fault in self.faults
        ]
        replay["notes"] = self._notes
        replay["timings"] = {
            "unit": "us",
            "steps": [row[0] for row in self._log],
            "seats": [row[1] for row in self._log],
            "cpu": [row[2] for row in self._log],
            "wall": [int(1e6 * row[3]) for row in self._log],
            "latency": [int(1e6 * row[4]) for row in self._log],
        }
        return replay
