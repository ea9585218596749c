"""A table at which people sit: the referee's loop of a match, with seats that answer in their own time.

A person plays every card, even a forced one; other forced actions follow from the rules. The bots are started, asked, timed and frozen as in a
match. Each board is played once, because people would recognise it. Decisions are numbered through all boards and stored by the caller, so that,
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

NEXT = "next"  # The answer of any of the people to a finished board, before the next one is dealt.


@dataclass(frozen=True)
class Taken:
    """One decision: the seat and its action. Forced actions follow from the rules and are not stored, except the cards of people."""

    seat: int
    action: str


@dataclass(frozen=True)
class SeatView:
    """The part of the current board that a person may know: the cards in their hand, and the events."""

    seat: int
    hand: list[str]
    events: list[dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """A question to the person at a seat, with what that seat may know of this board.

    number: of the decision, from 0 and through all boards. others: the views of the other people; spectated: the events for spectators. After
    a board the only choice is NEXT, and the first of all people to make it goes on.
    """

    number: int
    board: int
    legal: list[str]
    hand: list[str]
    events: list[dict[str, Any]]
    scores: list[list[int]]  # Scores of the finished boards, by seat.
    seat: int = 0
    others: Sequence[SeatView] = ()
    spectated: list[dict[str, Any]] = field(default_factory=list)


Advise = Callable[
    [], "str | None"
]  # Returns the choice of the bot behind the seat that is asked; None if the bot failed.
Ask = Callable[[Question, Sequence[Taken], Advise], str]


@dataclass
class TableResult:
    """The result of a table: scores by seat and the record of each board; a fault ends the table with the forfeited board.

    views: what each person may know of the last board. decisions: those since the last call of `ask`.
    """

    scores: list[list[int]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    views: list[SeatView] = field(default_factory=list)
    decisions: list[Taken] = field(default_factory=list)
    fault: FaultReport | None = None
    spectated: list[dict[str, Any]] = field(default_factory=list)


class Person:
    """The seat of a person."""

    def __init__(self, seat: int, ask: Callable[[Person, list[str]], str]) -> None:
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
        action = self._ask(self, json.loads(f"[{legal}]"))
        self.took_s = self.latency_s = time.monotonic() - began
        self.requests += 1
        return f'{{"id":{self.requests},"do":{protocol.encode(action)}}}'.encode()

    def evidence(self) -> tuple[str, str]:
        """Return no evidence: a person commits no fault."""
        return "", ""


class _Sitting(BoardRun):
    """A sitting that reports each decision, and asks people for every card."""

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
    people: Sequence[int],
    box: Sandbox,
    *,
    taken: Sequence[Taken],
    ask: Ask,
    stop: Callable[[], bool],
    delay: int | None = None,
) -> TableResult | None:
    """Play the boards of a table, once each. Return None if `stop` returned True.

    seating: the party of `spec` at each seat; the party at a seat of `people` does not play, it only answers `advise`. taken: the earlier decisions.
    `ask(question, decisions, advise)` returns the action of the person at `question.seat`, one of `question.legal`. `decisions` are those of bots
    since the last call. Its exceptions pass through. delay: None: spectators see no hidden card; else they see all hands this many decisions later,
    and when the board is over. Raise what `play_match` raises.
    """
    game = load(spec)
    starter = starter_of(spec, game, box)
    policy = replace(starter.policy, leaves_room=True)
    starter = replace(starter, policy=policy, stop=stop, absent=tuple(people))
    return _TableReferee(spec, game, starter, tuple(seating), tuple(people), taken, ask, stop, delay).play()


@dataclass
class _TableReferee:
    spec: MatchSpec
    game: engine.Game
    starter: Starter
    seating: tuple[int, ...]
    places: tuple[int, ...]  # The seats of people.
    taken: Sequence[Taken]
    ask: Ask
    stop: Callable[[], bool]
    delay: int | None

    def __post_init__(self) -> None:
        self.people = {place: Person(place, self.answer) for place in self.places}
        self.texts = Texts(self.game)
        self.number = 0  # Number of the next decision.
        self.result = TableResult()
        self.board = 0
        self.feed = Feed(self.game.players)
        self.seats: list[Seat] = []
        self.state: engine.State  # State of the current board.
        self.lengths: list[int] = []  # The number of its events when it was dealt, and after each decision.

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

    def answer(self, person: Person, legal: list[str]) -> str:
        """Ask a person for an action, and report to the others what has happened."""
        new_decisions, self.result.decisions = self.result.decisions, []
        view = self.view(person)
        question = Question(
            self.number,
            self.board,
            legal,
            view.hand,
            view.events,
            [list(row) for row in self.result.scores],
            person.seat,
            [self.view(other) for other in self.people.values() if other is not person],
            self.spectated(),
        )
        return self.ask(question, new_decisions, lambda: self.advise(person, legal))

    def view(self, person: Person) -> SeatView:
        """Return what a person may know of the board."""
        person.hear(self.feed.take(person.seat))
        texts = self.state.game.pack.texts
        return SeatView(person.seat, [texts[card] for card in self.state.hand_of(person.seat)], person.events)

    def spectated(self) -> list[dict[str, Any]]:
        """Return what spectators may know of the board. Cards that nobody holds yet are hidden from all until it is over."""
        events = self.state.events
        if self.delay is None:
            return engine.redact(events, None)
        if self.state.is_over:
            return list(events)
        shown_events = events[: self.lengths[-1 - self.delay]] if self.delay < len(self.lengths) else []
        return [{name: value for name, value in event.items() if name != "rest"} for event in shown_events]

    def advise(self, person: Person, legal: list[str]) -> str | None:
        """Return the choice of the party at a person's seat, from a fresh process with the limits and the knowledge of that seat."""
        seat = person.seat
        starter = replace(self.starter, absent=[place for place in range(self.game.players) if place != seat])
        bots = BotProcesses()
        try:
            bots = starter.start(self.seating, None)
            starter.begin(bots, starter.pass_record(0, self.seating), self.seating, None)
            if bots.faults:
                return None
            (advisor,) = bots.seats
            choices = ",".join(map(protocol.encode, legal))
            do = protocol.answer(advisor.ask(person.heard, choices), advisor.requests).do
        except (Fault, SandboxError, OSError):
            # A failure of the platform must not cost the table either: if the table were played again, the advice would fail again.
            return None
        finally:
            bots.close()
        return do if do in legal else None

    def go_on(self) -> None:
        """Let people look at the result of the previous board, until one of them goes on."""
        if self.number < len(self.taken):
            self.number += 1
            return
        self.answer(self.people[self.places[0]], [NEXT])
        self.number += 1

    def play_board(self, board: int) -> bool:
        """Play one board, from where an earlier process left it. Return False if stopped."""
        self.board = board
        for person in self.people.values():
            person.heard = []
        self.state = state = deal(self.spec, self.game, board, 0)
        self.lengths = [len(state.events)]
        self.catch_up(state)
        acknowledged = state.is_over and self.number < len(self.taken)  # Somebody has gone on from the board's result.
        holders: list[Any] = [None] * self.game.players
        sitting = _Sitting(state, holders, self.feed, self.texts, board, 0)
        sitting.record_decision, sitting.asks_forced = self.record_decision, self.asks_forced
        if not state.is_over and not self.seats:
            self.start(sitting)
        for seat in self.seats:
            holders[seat.seat] = seat
        for place, person in self.people.items():
            holders[place] = person
        if not acknowledged and not sitting.faults and not sitting.play(self.stop):
            return False
        self.store_board(sitting)
        return True

    def catch_up(self, state: engine.State) -> None:
        """Apply the earlier decisions to the state."""
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) == 1 and not self.asks_forced(state, legal[0]):
                state.apply(legal[0])
            elif len(legal) == 1 and self.number < len(self.taken):
                # The journals of older tables lack the forced cards of people.
                is_stored = self.taken[self.number] == Taken(state.current_seat, state.game.action_text(legal[0]))
                self.number += is_stored
                state.apply(legal[0])
                if is_stored:
                    self.lengths.append(len(state.events))
            elif self.number < len(self.taken):
                state.apply(self.texts.number(self.taken[self.number].action))
                self.number += 1
                self.lengths.append(len(state.events))
            else:
                return

    def asks_forced(self, state: engine.State, action: int) -> bool:
        """Return True if this only action is a card of a person, who plays it by hand: no card should be played unseen."""
        return state.current_seat in self.people and state.game.action_text(action).startswith("play ")

    def start(self, sitting: BoardRun) -> None:
        """Start the bots, and wait until each is ready."""
        bots = self.starter.start(self.seating, None)
        self.starter.begin(bots, self.starter.pass_record(0, self.seating), self.seating, None)
        self.seats += bots.seats
        for failure in bots.faults:
            sitting.blame(failure.party, failure.seat, failure.fault, -1, failure.evidence)

    def record_decision(self, seat: int, action: str) -> None:
        """Record a decision. The caller stores the decisions of people."""
        self.number += 1
        self.lengths.append(len(self.state.events))
        if seat not in self.people:
            self.result.decisions.append(Taken(seat, action))

    def store_board(self, sitting: BoardRun) -> None:
        """Store a finished board."""
        replay = sitting.record(
            {"match": self.spec.match_id, "table": self.spec.table, "board": sitting.board, "sitting": 0}
        )
        replay["notes"] = []  # Notes are for the bots' authors; one of them may sit at this table.
        self.result.fault = sitting.faults[0] if sitting.faults else None
        scores = scored(self.game, sitting, replay, {fault.seat for fault in sitting.faults})
        self.result.scores.append(list(scores))
        self.result.records.append(replay)
        self.result.views = [self.view(person) for person in self.people.values()]
        self.result.spectated = self.spectated()

    def end(self) -> None:
        """Send the bots the end of the table."""
        failed = {self.result.fault.seat} if self.result.fault else set()
        totals = [sum(column) for column in zip(*self.result.scores, strict=True)]
        say_end(self.seats, self.feed, totals, failed)
