"""Awkward states for `tute bot check`: what a bot meets once in a hundred boards, sought out and put to it on purpose.

Boards are searched, by playing them out with a player who announces whatever may be announced, for the decisions that a game can ask for: every word
of `legal`, windows after a trick, the last choice of a deal, tables with eliminated seats. Then the bot plays those boards from that seat, against
the same player, until it was asked each of them or the boards are through.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import engine
    from engine.runner import BotSpec, Limits
    from engine.runner.sitting import Sitting
    from engine.sandbox import Sandbox

SEARCHED = 240  # boards; every 12th is played for several deals, every 48th to the end of its match
SEVERAL = 6  # deals
LONGEST = 800  # actions of a board that is searched
EACH = 2  # times that a bot is to meet each situation
BOARDS = 10  # played at one seat at most
WINDOW, LAST, OUT, BOTH = "window", "last choice", "eliminated seats", "announcement or card"
WEIGHTS = {"claim": 0.02, "capote": 0.1, "accuse": 0.01, "pass": 4.0, "take": 4.0, "play": 1.0, "tute": 1.0}
ANNOUNCED = 12.0  # of every other word


@dataclass
class Found:
    """What came of it: how often the bot was asked in each situation, which others the game has, and its faults with the situation of each."""

    asked: Counter[str] = field(default_factory=Counter)
    possible: set[str] = field(default_factory=set)
    decisions: int = 0
    max_cpu_s: float = 0.0
    faults: list[dict[str, Any]] = field(default_factory=list)
    stderr: str = ""

    @property
    def missed(self) -> list[str]:
        """Situations that other players came to and the bot did not."""
        return sorted(self.possible - self.asked.keys())


def situations(state: engine.State, legal: Sequence[str]) -> set[str]:
    """What is special about a decision; the words of its actions at least."""
    words = {text.split()[0] for text in legal}
    found = set(words)
    if state.window:
        found.add(WINDOW)
    if state.out:
        found.add(OUT)
    if "play" in words and len(words) > 1 and any(" " in text for text in legal if text.startswith("play")):
        found.add(BOTH)
    if words == {"play"} and sum(state.hand[:4]).bit_count() <= 2 and len(legal) == 2:
        found.add(LAST)
    return found


def choose(legal: Sequence[str], dice: random.Random) -> str:
    """Announce what may be announced; cut a deal short seldom."""
    return dice.choices(legal, [WEIGHTS.get(text.split()[0], ANNOUNCED) for text in legal])[0]


@dataclass(frozen=True)
class RandomBoard:
    """One that may be played again: its number is its seed."""

    number: int
    deals: int | None

    def begin(self, game: engine.Game, *, record: bool) -> engine.State:
        """Dealt, before the first action."""
        return game.new_match(seed=f"awkward {self.number}", deals=self.deals, record=record)

    def dice(self) -> random.Random:
        """For the player who announces everything."""
        return random.Random(self.number)


def boards(game: engine.Game) -> Iterator[RandomBoard]:
    """Those that are searched."""
    for number in range(1, SEARCHED + 1):
        yield RandomBoard(number, None if number % 48 == 0 else SEVERAL if number % 12 == 0 else game.board_deals)


def search(game: engine.Game) -> dict[str, dict[int, list[RandomBoard]]]:
    """Situation -> seat -> boards on which that seat came to it."""
    found: dict[str, dict[int, list[RandomBoard]]] = defaultdict(lambda: defaultdict(list))
    for board in boards(game):
        state = board.begin(game, record=False)
        dice = board.dice()
        for _ in range(LONGEST):
            if state.is_over:
                break
            actions = state.legal_actions()
            texts = [game.action_text(action) for action in actions]
            if len(actions) > 1:
                for name in situations(state, texts):
                    there = found[name][state.current_seat]
                    if board not in there:
                        there.append(board)
            state.apply(actions[texts.index(choose(texts, dice))])
    return found


class Announcer:
    """Sits where a bot would, and answers as `choose` does."""

    cpu_us = 0
    took_s = latency_s = 0.0

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.party = 1
        self.requests = 0
        self.dice = random.Random(seat)

    def ask(self, events: list[str], legal: str) -> bytes:
        """As `Seat.ask`."""
        import json

        self.requests += 1
        return json.dumps({"id": self.requests, "do": choose(json.loads(f"[{legal}]"), self.dice)}).encode()


def check(bot: BotSpec, game: engine.Game, box: Sandbox, limits: Limits) -> Found:
    """Put the awkward states of one table to a bot. Raises SandboxError where something of ours fails."""
    there = search(game)
    found = Found(possible=set(there))
    for seat in range(game.players):
        wanted = {name: seats[seat] for name, seats in there.items() if seats.get(seat)}
        _converse(bot, game, box, limits, seat, wanted, found)
    return found


def _converse(
    bot: BotSpec,
    game: engine.Game,
    box: Sandbox,
    limits: Limits,
    seat: int,
    wanted: dict[str, list[RandomBoard]],
    found: Found,
) -> None:
    """One process at one seat, board after board, the rarest situations first."""
    from engine.runner import Fault, FaultReport, rebuild, runtimes
    from engine.runner.crew import start_bot
    from engine.runner.feed import Feed
    from engine.runner.noise import measure_noise
    from engine.runner.seat import Seat
    from engine.runner.sitting import Sitting, Texts
    from engine.sandbox import Policy

    policy = Policy(memory_mb=limits.memory_mb, threads=limits.threads, stderr_kib=limits.stderr_kib)
    told = {"boards": range(1, BOARDS + 1), "limits": asdict(limits), "seeds": [1] * game.players}
    feed, texts = Feed(game.players), Texts(game)
    try:
        process = start_bot(box, bot, runtimes.get(bot.runtime, box.state_dir), policy)
    except Fault as fault:
        found.faults.append({"at": "start", **asdict(FaultReport(0, seat, 1, 0, -1, fault.kind, fault.detail))})
        return
    with process:
        mine = Seat(0, seat, process, limits, noise=measure_noise())
        try:
            mine.start(rebuild.hello(told, game, seat))
        except Fault as fault:
            found.faults.append(
                {"at": "start", **asdict(FaultReport(0, seat, 1, 0, -1, fault.kind, fault.detail, *mine.evidence()))}
            )
            return
        for number in range(1, BOARDS + 1):
            board = _next(wanted, found)
            if board is None:
                break
            table: list[Any] = [mine if place == seat else Announcer(place) for place in range(game.players)]
            sitting = Sitting(board.begin(game, record=True), table, feed, texts, number, 0)
            now: list[str] = []
            sitting.play(partial(_note, sitting, seat, game, found, now))
            if sitting.faults:
                found.faults.append({"at": ", ".join(now), **asdict(sitting.faults[0])})
                break
        found.decisions += mine.requests
        found.max_cpu_s = max(found.max_cpu_s, mine.max_cpu_s)
        process.close()
        found.stderr += process.stderr().decode("utf-8", "replace")


def _next(wanted: dict[str, list[RandomBoard]], found: Found) -> RandomBoard | None:
    """A board, not yet played, on which something may come up that the bot has met too seldom."""
    for name in sorted(wanted, key=lambda name: (found.asked[name], len(wanted[name]), name)):
        if found.asked[name] < EACH and wanted[name]:
            board = wanted[name][0]
            for others in wanted.values():
                if board in others:
                    others.remove(board)
            return board
    return None


def _note(sitting: Sitting, seat: int, game: engine.Game, found: Found, now: list[str]) -> bool:
    """Before each decision: write down the situation of the bot's. Never stops the sitting."""
    state = sitting.state
    if state.current_seat == seat:
        now[:] = sorted(situations(state, [game.action_text(action) for action in state.legal_actions()]))
        found.asked.update(now)
    return len(state.actions) > LONGEST
