"""A table at which a person sits: the referee's loop of a match, with one seat that answers in its own time.

The bots are started, asked, timed and frozen as in a match. Each board is played once: the person would know it again. What was decided is
numbered through all boards; who holds the table keeps these actions, so that after a loss of the process the same deals and actions
are put to fresh bots: they hear of them as events, as of decisions that were forced.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import engine
from engine.runner import protocol
from engine.runner.crew import Crew
from engine.runner.faults import Fault, Infrastructure
from engine.runner.feed import Feed
from engine.runner.match import forfeited, load, starter_of, suits_of
from engine.runner.result import FaultReport
from engine.runner.seat import END_S, Seat
from engine.runner.sitting import Sitting, Texts
from engine.runner.spec import MatchSpec
from engine.sandbox import Sandbox, SandboxError, Stopped

NEXT = "next"  # what a person answers to a board that is over, before the next one is dealt


@dataclass(frozen=True)
class Taken:
    """A decision: who took it, and what. Forced ones follow from the rules and are not kept."""

    seat: int
    action: str


@dataclass(frozen=True)
class Question:
    """What the person is asked. number: of the decision, from 0 through all boards; seen: what the seat may know of this board."""

    number: int
    board: int
    legal: list[str]
    hand: list[str]
    seen: list[dict[str, Any]]
    scores: list[list[int]]  # of the boards that are over, by seat


Advise = Callable[[], "str | None"]  # what the advisor would do in the person's place; None where it has failed
Ask = Callable[[Question, Sequence[Taken], Advise], str]


@dataclass
class TableResult:
    """What was played: scores by seat and the record of each board; a fault ends the table with the board that it forfeits.

    seen: what the person's seat may know of the last board; made: decisions that `ask` has not been told of.
    """

    scores: list[list[int]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)
    made: list[Taken] = field(default_factory=list)
    fault: FaultReport | None = None


class Person:
    """A seat of a person."""

    def __init__(self, seat: int, ask: Callable[[list[str]], str]) -> None:
        self.party = -1
        self.seat = seat
        self.requests = 0
        self.cpu_us = 0
        self.took_s = 0.0
        self.latency_s = 0.0
        self.heard: list[str] = []  # of the present board
        self._ask = ask

    @property
    def seen(self) -> list[dict[str, Any]]:
        """What the seat has heard, read."""
        return [json.loads(event) for event in self.heard]

    def hear(self, events: list[str]) -> None:
        """Note what the seat is told."""
        self.heard += events

    def ask(self, events: list[str], legal: str) -> bytes:
        """Ask for one decision: the answer in the words of the protocol."""
        self.hear(events)
        began = time.monotonic()
        action = self._ask(json.loads(f"[{legal}]"))
        self.took_s = self.latency_s = time.monotonic() - began
        self.requests += 1
        return f'{{"id":{self.requests},"do":{protocol.encode(action)}}}'.encode()

    def evidence(self) -> tuple[str, str]:
        """Nothing: a person commits no fault."""
        return "", ""


class _Sitting(Sitting):
    """A sitting that tells of each decision."""

    took: Callable[[int, str], None]

    def _decide(self, seat: Any, legal: Sequence[int]) -> None:
        super()._decide(seat, legal)
        self.took(seat.seat, self.state.game.action_text(self.state.taken_actions[-1]))


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
    """Play the boards of a table, once each; None where `stop` said so.

    seating: the party of `spec` at each seat; that at the seat `person` plays nothing and is asked only for advice. taken: the decisions that
    were taken before. `ask(question, made, advise)` gives what the person does, one of `question.legal`; `made` are the decisions of bots
    since it was asked last. What it raises comes through. Raises as `play_match`.
    """
    return _Table(spec, seating, person, box, taken, ask, stop).play()


class _Table:
    def __init__(
        self,
        spec: MatchSpec,
        seating: Sequence[int],
        person: int,
        box: Sandbox,
        taken: Sequence[Taken],
        ask: Ask,
        stop: Callable[[], bool],
    ) -> None:
        self.spec, self.seating, self.stop, self._ask = spec, tuple(seating), stop, ask
        self.game = load(spec)
        self.starter = replace(starter_of(spec, self.game, box), stop=stop, absent=(person,))
        self.texts = Texts(self.game)
        self.taken = taken
        self.number = 0  # of the next decision
        self.result = TableResult()
        self.person = Person(person, self.answer)
        self.board = 0
        self.feed = Feed(self.game.players)
        self.seats: list[Seat] = []
        self.state: engine.State  # of the present board

    def play(self) -> TableResult | None:
        """All boards."""
        try:
            for board in self.spec.boards:
                if board != self.spec.boards[0]:
                    self.go_on()
                if not self.play_board(board):
                    return None
                if self.result.fault is not None:
                    break
            self.end()
        except Stopped:
            return None
        finally:
            for seat in self.seats:
                seat.close()
        if damage := self.starter.copies.damage({self.result.fault.party} if self.result.fault else ()):
            raise Infrastructure(f"table {self.spec.match_id} was played from damaged files: {damage}")
        return self.result

    def answer(self, legal: list[str]) -> str:
        """What the person does now."""
        made, self.result.made = self.result.made, []
        scores = [list(one) for one in self.result.scores]
        texts = self.state.game.pack.texts
        hand = [texts[card] for card in self.state.hand_of(self.person.seat)]
        return self._ask(
            Question(self.number, self.board, legal, hand, self.person.seen, scores), made, lambda: self.advise(legal)
        )

    def advise(self, legal: list[str]) -> str | None:
        """What the party at the person's seat would do: started afresh, with that seat's limits, and told what that seat has been told."""
        seat = self.person.seat
        starter = replace(self.starter, absent=[place for place in range(self.game.players) if place != seat])
        crew = Crew()
        try:
            crew = starter.start(self.seating, None)
            starter.begin(crew, 0, self.seating, None)
            if crew.faults:
                return None
            (advisor,) = crew.seats
            choices = ",".join(map(protocol.encode, legal))
            do = protocol.answer(advisor.ask(self.person.heard, choices), advisor.requests).do
        except (Fault, SandboxError, OSError):
            # nor does a fault of ours cost the table: asked again, it would fail again
            return None
        finally:
            crew.close()
        return do if do in legal else None

    def go_on(self) -> None:
        """The person looks at what the board before has brought."""
        if self.number < len(self.taken):
            self.number += 1
            return
        self.answer([NEXT])
        self.number += 1

    def play_board(self, board: int) -> bool:
        """One board, from where it was left; False where stopped."""
        self.board = board
        self.person.heard = []
        seed = engine.board_seed(self.spec.secret, self.game.key, self.spec.table, board)
        deals = self.game.board_deals if self.spec.deals is None else self.spec.deals
        self.state = state = self.game.new_match(seed=seed, deals=deals, suits=suits_of(self.game, seed, 0))
        self.catch_up(state)
        known = state.is_over and self.number < len(self.taken)  # its result was looked at
        holders: list[Any] = [None] * self.game.players
        sitting = _Sitting(state, holders, self.feed, self.texts, board, 0)
        sitting.took = self.took
        if not state.is_over and not self.seats:
            self.start(sitting)
        for seat in self.seats:
            holders[seat.seat] = seat
        holders[self.person.seat] = self.person
        if not known and not sitting.faults and not sitting.play(self.stop):
            return False
        self.person.hear(self.feed.take(self.person.seat))
        self.note(sitting)
        return True

    def catch_up(self, state: engine.State) -> None:
        """Put the decisions to the state that were taken before."""
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) == 1:
                state.apply(legal[0])
            elif self.number < len(self.taken):
                state.apply(self.texts.number(self.taken[self.number].action))
                self.number += 1
            else:
                return

    def start(self, sitting: Sitting) -> None:
        """Start the bots, and hear from each that it is ready."""
        crew = self.starter.start(self.seating, None)
        self.starter.begin(crew, 0, self.seating, None)
        self.seats += crew.seats
        for late in crew.faults:
            sitting.blame(late.party, late.seat, late.fault, -1, late.evidence)

    def took(self, seat: int, action: str) -> None:
        """A decision has been taken. Those of the person are kept by who asked for them."""
        self.number += 1
        if seat != self.person.seat:
            self.result.made.append(Taken(seat, action))

    def note(self, sitting: Sitting) -> None:
        """The board is over."""
        replay = sitting.record(
            {"match": self.spec.match_id, "table": self.spec.table, "board": sitting.board, "sitting": 0}
        )
        replay["notes"] = []  # of bots to their authors, who may sit at this very table
        scores = sitting.state.scores()
        if sitting.faults:
            self.result.fault = sitting.faults[0]
            scores = forfeited(self.game, {fault.seat for fault in sitting.faults})
            replay["forfeit"] = {"seats": sorted({fault.seat for fault in sitting.faults}), "scores": scores}
        self.result.scores.append(list(scores))
        self.result.records.append(replay)
        self.result.seen = self.person.seen

    def end(self) -> None:
        """Tell the bots that it is over."""
        failed = self.result.fault.seat if self.result.fault else None
        totals = [sum(column) for column in zip(*self.result.scores, strict=True)]
        sound = [seat for seat in self.seats if seat.seat != failed]
        for seat in sound:
            seat.tell(protocol.end(self.feed.take(seat.seat), totals))
        until = time.monotonic() + END_S
        for seat in sound:
            seat.leave(until)
