"""A table at which a person sits: the referee's loop of a match, with one seat that answers in its own time.

The person plays every card, even a forced one; other forced actions follow from the rules. The bots are started, asked, timed and frozen as in a
match. Each board is played once, because the person would recognise it. Decisions are numbered through all boards and stored by the caller, so that,
if the process is lost, the same deals and actions can be sent to fresh bots as events, like forced decisions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import engine
from engine.runner import protocol
from engine.runner.bot_processes import BotProcesses, Starter
from engine.runner.faults import Fault, Infrastructure
from engine.runner.feed import Feed
from engine.runner.match import deal, load, say_end, scored, starter_of
from engine.runner.result import FaultReport
from engine.runner.seat import Seat
from engine.runner.sitting import BoardRun, Texts
from engine.runner.spec import MatchSpec
from engine.sandbox import Sandbox, SandboxError, TurnStopped

NEXT = "next"  # The person's answer to a finished board, before the next one is dealt.


@dataclass(frozen=True)
class Taken:
    """One decision: the seat and its action. Forced actions follow from the rules and are not stored, except the person's cards."""

    seat: int
    action: str


@dataclass(frozen=True)
class Question:
    """A question to the person. number: the number of the decision, from 0 and through all boards; events: what the seat may know of this board."""

    number: int
    board: int
    legal: list[str]
    hand: list[str]
    events: list[dict[str, Any]]
    scores: list[list[int]]  # Scores of the finished boards, by seat.


Advise = Callable[[], "str | None"]  # Returns the advisor's choice in the person's place; None if the advisor failed.
Ask = Callable[[Question, Sequence[Taken], Advise], str]


@dataclass
class TableResult:
    """The result of a table: scores by seat and the record of each board; a fault ends the table with the forfeited board.

    events: what the person's seat may know of the last board. decisions: those since the last call of `ask`.
    """

    scores: list[list[int]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[Taken] = field(default_factory=list)
    fault: FaultReport | None = None


class Person:
    """The seat of a person."""

    def __init__(self, seat: int, ask: Callable[[list[str]], str]) -> None:
        self.party = -1
        self.seat = seat
        self.requests = 0
        self.cpu_us = 0
        self.took_s = 0.0
        self.latency_s = 0.0
        self.heard: list[str] = []  # Events of the current board.
        self._ask = ask

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events that the seat has received, decoded."""
        return [json.loads(event) for event in self.heard]

    def hear(self, events: list[str]) -> None:
        """Add events that the seat receives."""
        self.heard += events

    def ask(self, events: list[str], legal: str) -> bytes:
        """Ask for one decision; return the answer in the form of the protocol."""
        self.hear(events)
        began = time.monotonic()
        action = self._ask(json.loads(f"[{legal}]"))
        self.took_s = self.latency_s = time.monotonic() - began
        self.requests += 1
        return f'{{"id":{self.requests},"do":{protocol.encode(action)}}}'.encode()

    def evidence(self) -> tuple[str, str]:
        """Return no evidence: a person commits no fault."""
        return "", ""


class _Sitting(BoardRun):
    """A sitting that reports each decision, and asks the person for every card."""

    record_decision: Callable[[int, str], None]
    asks_forced: Callable[[engine.State, int], bool]

    def _asks(self, action: int) -> bool:
        return self.asks_forced(self.state, action)

    def _decide(self, seat: Any, legal: Sequence[int]) -> None:
        super()._decide(seat, legal)
        self.record_decision(seat.seat, self.state.game.action_text(self.state.taken_actions[-1]))


def play_table(
    spec: MatchSpec,
    seating: Sequence[int],
    person: int,
    box: Sandbox,
    *,
    taken: Sequence[Taken],
    ask: Ask,
    stop: Callable[[], bool],
) -> TableResult | None:
    """Play the boards of a table, once each. Return None if `stop` returned True.

    seating: the party of `spec` at each seat; the party at the seat `person` does not play, it only gives advice. taken: the earlier decisions.
    `ask(question, decisions, advise)` returns the person's action, one of `question.legal`; `decisions` are the decisions of bots since the last
    call. Its exceptions pass through. Raise what `play_match` raises.
    """
    game = load(spec)
    starter = replace(starter_of(spec, game, box), stop=stop, absent=(person,))
    return _TableReferee(spec, game, starter, tuple(seating), person, taken, ask, stop).play()


@dataclass
class _TableReferee:
    spec: MatchSpec
    game: engine.Game
    starter: Starter
    seating: tuple[int, ...]
    place: int  # The person's seat.
    taken: Sequence[Taken]
    ask: Ask
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        self.person = Person(self.place, self.answer)
        self.texts = Texts(self.game)
        self.number = 0  # Number of the next decision.
        self.result = TableResult()
        self.board = 0
        self.feed = Feed(self.game.players)
        self.seats: list[Seat] = []
        self.state: engine.State  # State of the current board.

    def play(self) -> TableResult | None:
        """Play all boards."""
        try:
            for board in self.spec.boards:
                if board != self.spec.boards[0]:
                    self.go_on()
                if not self.play_board(board):
                    return None
                if self.result.fault is not None:
                    break
            self.end()
        except TurnStopped:
            return None
        finally:
            for seat in self.seats:
                seat.close()
        if damage := self.starter.copies.damage({self.result.fault.party} if self.result.fault else ()):
            raise Infrastructure(f"table {self.spec.match_id} was played from damaged files: {damage}")
        return self.result

    def answer(self, legal: list[str]) -> str:
        """Ask the person for an action."""
        new_decisions, self.result.decisions = self.result.decisions, []
        scores = [list(row) for row in self.result.scores]
        texts = self.state.game.pack.texts
        hand = [texts[card] for card in self.state.hand_of(self.person.seat)]
        return self.ask(
            Question(self.number, self.board, legal, hand, self.person.events, scores),
            new_decisions,
            lambda: self.advise(legal),
        )

    def advise(self, legal: list[str]) -> str | None:
        """Return the choice of the advising party, from a fresh process with the limits and the knowledge of the person's seat."""
        seat = self.person.seat
        starter = replace(self.starter, absent=[place for place in range(self.game.players) if place != seat])
        bots = BotProcesses()
        try:
            bots = starter.start(self.seating, None)
            starter.begin(bots, starter.pass_record(0, self.seating), self.seating, None)
            if bots.faults:
                return None
            (advisor,) = bots.seats
            choices = ",".join(map(protocol.encode, legal))
            do = protocol.answer(advisor.ask(self.person.heard, choices), advisor.requests).do
        except (Fault, SandboxError, OSError):
            # A failure of the platform must not cost the table either: if the table were played again, the advice would fail again.
            return None
        finally:
            bots.close()
        return do if do in legal else None

    def go_on(self) -> None:
        """Let the person look at the result of the previous board."""
        if self.number < len(self.taken):
            self.number += 1
            return
        self.answer([NEXT])
        self.number += 1

    def play_board(self, board: int) -> bool:
        """Play one board, from where an earlier process left it. Return False if stopped."""
        self.board = board
        self.person.heard = []
        self.state = state = deal(self.spec, self.game, board, 0)
        self.catch_up(state)
        acknowledged = state.is_over and self.number < len(self.taken)  # The person has seen the board's result.
        holders: list[Any] = [None] * self.game.players
        sitting = _Sitting(state, holders, self.feed, self.texts, board, 0)
        sitting.record_decision, sitting.asks_forced = self.record_decision, self.asks_forced
        if not state.is_over and not self.seats:
            self.start(sitting)
        for seat in self.seats:
            holders[seat.seat] = seat
        holders[self.person.seat] = self.person
        if not acknowledged and not sitting.faults and not sitting.play(self.stop):
            return False
        self.person.hear(self.feed.take(self.person.seat))
        self.store_board(sitting)
        return True

    def catch_up(self, state: engine.State) -> None:
        """Apply the earlier decisions to the state."""
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) == 1 and not self.asks_forced(state, legal[0]):
                state.apply(legal[0])
            elif len(legal) == 1 and self.number < len(self.taken):
                # The journals of older tables lack the forced cards of the person.
                self.number += self.taken[self.number] == Taken(self.person.seat, state.game.action_text(legal[0]))
                state.apply(legal[0])
            elif self.number < len(self.taken):
                state.apply(self.texts.number(self.taken[self.number].action))
                self.number += 1
            else:
                return

    def asks_forced(self, state: engine.State, action: int) -> bool:
        """Return True if this only action is a card of the person, who plays it by hand: no card should be played unseen."""
        return state.current_seat == self.person.seat and state.game.action_text(action).startswith("play ")

    def start(self, sitting: BoardRun) -> None:
        """Start the bots, and wait until each is ready."""
        bots = self.starter.start(self.seating, None)
        self.starter.begin(bots, self.starter.pass_record(0, self.seating), self.seating, None)
        self.seats += bots.seats
        for failure in bots.faults:
            sitting.blame(failure.party, failure.seat, failure.fault, -1, failure.evidence)

    def record_decision(self, seat: int, action: str) -> None:
        """Record a decision. The caller stores the person's decisions."""
        self.number += 1
        if seat != self.person.seat:
            self.result.decisions.append(Taken(seat, action))

    def store_board(self, sitting: BoardRun) -> None:
        """Store a finished board."""
        replay = sitting.record(
            {"match": self.spec.match_id, "table": self.spec.table, "board": sitting.board, "sitting": 0}
        )
        replay["notes"] = []  # Notes are for the bots' authors; one of them may be the person at this table.
        self.result.fault = sitting.faults[0] if sitting.faults else None
        scores = scored(self.game, sitting, replay, {fault.seat for fault in sitting.faults})
        self.result.scores.append(list(scores))
        self.result.records.append(replay)
        self.result.events = self.person.events

    def end(self) -> None:
        """Send the bots the end of the table."""
        failed = {self.result.fault.seat} if self.result.fault else set()
        totals = [sum(column) for column in zip(*self.result.scores, strict=True)]
        say_end(self.seats, self.feed, totals, failed)
