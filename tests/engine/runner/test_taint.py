"""No byte that goes to a bot depends on a card that it may not know, nor on the secret of the deals: proved by changing both.

A random match is played through the referee's own code (`BoardRun`, `Seat`, `Feed`, the lines of `protocol`). At a decision of a seat the cards
that it may not know are given other places in the pack, so that the public course of the deal stays possible, the seed is exchanged, and the same
course is played again through the same code: every line that the seat was sent up to that decision must be equal.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

import engine
from engine.cards import actions as act
from engine.cards import chance
from engine.runner import BotSpec, Limits
from engine.runner.feed import Feed
from engine.runner.match import play_match
from engine.runner.seat import Seat
from engine.runner.sitting import BoardRun, Texts
from engine.sandbox import Sandbox
from engine.sandbox.process.bot import Reply
from tests.support import playing, tables
from tests.support.bots import match
from tests.support.knowing import AllowedCards
from tests.support.parts import mostly_slow

ON_GAMES = tables.on_games(tables.of_a_deal())
SILENT = ("window", "exchange")  # phases in which a seat that declines is not noticed by anybody
TRIES = 40  # other places for the hidden cards that are tried at a decision


class Impossible(Exception):
    """The public course was not possible with these cards."""


@dataclass
class Decision:
    """A moment at which a seat was asked: how many lines it had been sent, the public actions so far, what it may know."""

    seat: int
    lines: int
    public: int
    allowed: set[str]


@dataclass
class Course:
    """The trace of one playing of a deal. `deck` is the order in which the pack was dealt."""

    deck: list[int]
    lines: list[list[bytes]]
    public: list[tuple[int, str]] = field(default_factory=list)  # Public actions, and their window
    decisions: list[Decision] = field(default_factory=list)


class Place:
    """The end of the pipe at one seat: keeps each line and lets `decide` answer it, as a bot that uses no time."""

    pondering_s = 0.0
    counted_s = 0.0
    interlude_s = 0.0

    def __init__(self, game: engine.Game, sent: list[bytes], decide: Callable[[], int]) -> None:
        self.game, self.sent, self.decide = game, sent, decide

    def ask(self, line: bytes, cpu_s: float, wall_s: float, longest: int) -> Reply:
        self.sent.append(line)
        answer = {"id": json.loads(line)["id"], "do": self.game.action_text(self.decide())}
        return Reply(json.dumps(answer).encode() + b"\n", 0.0, 0.0)


class Stop(Exception):
    """The decision that was looked for has been reached."""


def silent(state: engine.State) -> bool:
    return state.phase is not None and state.phase.name in SILENT


def moment_of(state: engine.State) -> str:
    """Return the window, before or after the draw, of an action that is possible in both."""
    return state.window if silent(state) else ""


class Watched:
    """A state that reports its actions: the referee uses it as any other, and applies forced actions to it without asking."""

    def __init__(self, state: engine.State, before: Callable[[int], None], after: Callable[[int], None]) -> None:
        self._state, self._before, self._after = state, before, after

    def __getattr__(self, name: str) -> object:
        return getattr(self._state, name)

    def apply(self, action: int) -> None:
        self._before(action)
        self._state.apply(action)
        self._after(action)


def deal(
    game: engine.Game, seed: object, monkeypatch: pytest.MonkeyPatch, deck: list[int] | None
) -> tuple[engine.State, list[int]]:
    """Return a match whose first deal is `deck`, whatever the seed; its dealer is that of every seed here."""
    dealt: list[list[int]] = []

    def shuffled(key: bytes, number: int, cards: list[int]) -> list[int]:
        order = chance_shuffle(key, number, cards) if deck is None or number > 1 else deck
        dealt.append(order)
        return order

    with monkeypatch.context() as patch:
        patch.setattr(chance, "shuffle", shuffled)
        patch.setattr(chance, "pick", lambda key, label, n: 1 % n)
        state = game.new_match(seed=f"{seed}", deals=1)
    return state, dealt[0]


chance_shuffle = chance.shuffle


def run(state: engine.State, lines: list[list[bytes]], decide: Callable[[], int], watched: Watched) -> None:
    """Play one sitting by the referee's own code, to the end of the deal or until `decide` stops it."""
    game, feed = state.game.origin, Feed(state.seats)
    seats = [Seat(n, n, Place(game, lines[n], decide), Limits()) for n in range(state.seats)]  # type: ignore[arg-type]
    sitting = BoardRun(watched, seats, feed, Texts(game), 1, 0)  # type: ignore[arg-type]
    try:
        sitting.play(lambda: state.deal_no > 1)
    except Stop:
        return
    assert not sitting.faults, sitting.faults


def first(game: engine.Game, seed: object, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Play a deal at random; note every decision of every seat with what that seat may know."""
    state, deck = deal(game, seed, monkeypatch, None)
    course = Course(deck, [[] for _ in range(state.seats)])
    knowledge = AllowedCards(state)
    rng = random.Random(str(seed))

    def decide() -> int:
        seat = state.current_seat
        course.decisions.append(
            Decision(seat, len(course.lines[seat]), len(course.public), set(knowledge.allowed(seat)))
        )
        return playing.choose(state, rng)

    def before(action: int) -> None:
        knowledge.before(action)
        if not (silent(state) and action == act.PASS):
            course.public.append((action, moment_of(state)))

    def after(action: int) -> None:
        if not state.is_over and state.deal_no == 1:
            knowledge.after(action)

    run(state, course.lines, decide, Watched(state, before, after))
    return course


def again(  # noqa: C901 - its four small functions share what has been done so far
    game: engine.Game, course: Course, moment: Decision, deck: list[int], monkeypatch: pytest.MonkeyPatch
) -> list[bytes]:
    """Return the lines to the seat of a decision when the same public course is played with the pack in another order. Raise Impossible."""
    state, _ = deal(game, f"another secret {moment.public}", monkeypatch, deck)
    lines: list[list[bytes]] = [[] for _ in range(state.seats)]
    actions_taken: list[int] = []

    def next_action() -> int:
        legal = state.legal_actions()
        if len(actions_taken) < len(course.public):
            action, when = course.public[len(actions_taken)]
            if action in legal and when == moment_of(state):
                return action
        if silent(state) and act.PASS in legal:
            return act.PASS
        raise Impossible

    def decide() -> int:
        if state.current_seat == moment.seat and len(lines[moment.seat]) == moment.lines:
            raise Stop
        if len(actions_taken) > moment.public:
            raise Impossible
        return next_action()

    def before(action: int) -> None:
        if silent(state) and action == act.PASS:
            return
        if len(actions_taken) >= len(course.public) or (action, moment_of(state)) != course.public[len(actions_taken)]:
            raise Impossible
        actions_taken.append(action)

    run(state, lines, decide, Watched(state, before, lambda action: None))
    if len(actions_taken) != moment.public or len(lines[moment.seat]) != moment.lines:
        raise Impossible
    return lines[moment.seat]


def elsewhere(game: engine.Game, course: Course, moment: Decision, rng: random.Random) -> Iterator[list[int]]:
    """Yield orders of the pack in which cards that the seat may not know have changed places: two of them, some, or all."""
    text = {flag: game.pack.texts[card] for card, flag in enumerate(game.pack.flag)}
    fixed = {"2o", "4o"} if game.rules.first_deal == "coins_2o" or game.rules.coins_start else set()
    hidden = [place for place, flag in enumerate(course.deck) if text[flag] not in moment.allowed | fixed]
    for attempt in range(TRIES):
        some = hidden if attempt % 8 == 7 else rng.sample(hidden, min(len(hidden), 2 + attempt % 4))
        other = rng.sample(some, len(some))
        deck = course.deck[:]
        for place, source in zip(some, other, strict=True):
            deck[place] = course.deck[source]
        if deck != course.deck:
            yield deck


@pytest.mark.slow
@ON_GAMES
def test_no_byte_depends_on_what_a_bot_may_not_know(
    key: str, group: list[tables.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each table a random deal, at each decision of it; nearly all of them have to admit other cards."""
    compared = total = 0
    for table in group:
        with tables.note_table(table):
            more, all_decisions = check(table, monkeypatch)
            compared, total = compared + more, total + all_decisions
    assert compared >= 0.8 * total, f"only {compared} of {total} decisions could be compared"


def check(table: tables.Table, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return the number of decisions at which other cards were possible and the lines equal, and the number of all decisions."""
    game = table.load()
    rng = random.Random(f"taint {table}")
    course = first(game, f"taint {table}", monkeypatch)
    compared = 0
    for moment in course.decisions:
        compared += any(same(game, course, moment, deck, monkeypatch) for deck in elsewhere(game, course, moment, rng))
    return compared, len(course.decisions)


def same(game: engine.Game, course: Course, moment: Decision, deck: list[int], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return True if the course was possible with these cards; then every line must be the same."""
    try:
        lines = again(game, course, moment, deck, monkeypatch)
    except Impossible:
        return False
    assert lines == course.lines[moment.seat][: moment.lines]
    return True


LEAKS: dict[str, Callable[[dict, int], dict]] = {
    "a card of a neighbour": lambda event, seat: {"next": event["hands"][seat - 1][0]} if event["e"] == "deal" else {},
    "the strength of a neighbour": lambda event, seat: (
        {"aces": sum(card[0] == "1" for card in event["hands"][seat - 1])} if event["e"] == "deal" else {}
    ),
    "what another draws": lambda event, seat: {"drawn": event.get("card")} if event["e"] == "draw" else {},
}


def found_out(seats: list[tables.Table], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return True if the proof fails at one of these tables, as it must if something leaks."""
    for table in seats:
        try:
            check(table, monkeypatch)
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("leak", LEAKS)
def test_the_proof_finds_a_leak(leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the redaction to let through a little, the lines would differ."""
    honest = engine.redact

    def leaky(events: list[dict], seat: int) -> list[dict]:
        return [
            event_seen | LEAKS[leak](event, seat)
            for event, event_seen in zip(events, honest(events, seat), strict=True)
        ]

    monkeypatch.setattr(engine, "redact", leaky)
    assert found_out(
        [tables.Table("corriente", 2, (("match_games", 1 + number),)) for number in range(10)], monkeypatch
    )


def test_the_proof_finds_that_somebody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof also catches a referee that reveals silent questions."""
    honest = Seat.ask
    questions = 0

    def telling(seat: Seat, events: list[str], legal: str) -> object:
        nonlocal questions
        questions += 1
        return honest(seat, [*events, str(questions)], legal)

    monkeypatch.setattr(Seat, "ask", telling)
    assert found_out([tables.Table("guinote", 4, (("cotos_to_win", 1 + number),)) for number in range(10)], monkeypatch)


@pytest.mark.parametrize(
    ("game", "parties"), mostly_slow([("partnership", 2), ("guinote", 2), ("cabrero", 4)], ("guinote", 2).__eq__)
)
def test_the_secret_reaches_a_bot_in_no_other_way(
    game: str, parties: int, box: Sandbox, honest: BotSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole matches of real processes, the same cards under two secrets: only the number given to bots for their own chance differs."""
    key = b"k" * 32
    monkeypatch.setattr(chance, "shuffle", lambda _, number, cards: chance_shuffle(key, number, cards))
    monkeypatch.setattr(chance, "pick", lambda _, label, n: 1 % n)
    conversations = []
    for secret in (b"one secret".ljust(32), b"another".ljust(32)):
        lines: list[tuple[int, int, bytes]] = []
        spec = replace(match(*[honest] * parties, game=game, boards=2), secret=secret)
        result = play_match(
            spec, box, tap=lambda number, seat, request, _, lines=lines: lines.append((number, seat, request))
        )
        assert [fault for board in result.boards for sitting in board.sittings for fault in sitting.faults] == [], (
            "all are honest"
        )
        assert not any(secret.hex().encode() in line for _, _, line in lines)
        conversations.append(
            [(number, seat, re.sub(rb'"(seed|bank_s)":[0-9.]+', b"", line)) for number, seat, line in lines]
        )
    assert len(conversations[0]) > 20
    assert conversations[0] == conversations[1]
