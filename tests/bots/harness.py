"""Play house bots against each other inside one process, on the real engine: a referee without pipes and clocks."""

from __future__ import annotations

import importlib.util
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import engine

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "bots" / "sdk"
HOUSE = ROOT / "bots" / "house"
sys.path.insert(0, str(SDK))  # In the runtime the SDK lies beside the standard library, too

import tute_bot  # noqa: E402

BotClass = Callable[[], tute_bot.Bot]
_CLASSES: dict[str, BotClass] = {}


def house(name: str) -> BotClass:
    """Return the class of a house bot, loaded as if its folder alone were on the path."""
    if name not in _CLASSES:
        folder = HOUSE / name
        sys.path.insert(0, str(folder))
        spec = importlib.util.spec_from_file_location(f"house_{name}", folder / "bot.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        sys.path.remove(str(folder))
        classes = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, tute_bot.Bot)]
        _CLASSES[name] = next(c for c in classes if c.__module__ == spec.name)
    return _CLASSES[name]


class Seated:
    """A bot at a seat; it gets only what the seat may see."""

    def __init__(self, bot: tute_bot.Bot, game: engine.Game, seat: int, seed: int) -> None:
        self.session = tute_bot.Session(bot)
        self.seat = seat
        self.events_read = 0
        self.took: list[float] = []  # seconds of CPU, by decision
        hello = {
            "type": "hello", "protocol": 1, "game": game.key, "revision": game.revision, "options": game.options,
            "seats": game.players, "seat": seat, "sides": [list(s) for s in game.sides], "boards": 1, "limits": {},
            "seed": seed,
        }  # fmt: skip
        assert self.session.answer(hello)["type"] == "ready"

    @property
    def view(self) -> tute_bot.View:
        return self.session.view

    def tell(self, state: engine.State) -> list[dict[str, Any]]:
        """Send the redacted events since the last call."""
        news = engine.redact(state.events[self.events_read :], self.seat)
        self.events_read = len(state.events)
        return news

    def ask(self, state: engine.State, legal: Sequence[str]) -> str:
        message = {"type": "act", "id": len(self.took), "events": self.tell(state), "legal": list(legal), "bank_s": 3}
        start = time.thread_time()
        answer = self.session.answer(message)["do"]
        self.took.append(time.thread_time() - start)
        return answer

    def end(self, state: engine.State) -> None:
        self.session.answer({"type": "end", "events": self.tell(state), "result": {"scores": state.scores()}})


def play(
    game: engine.Game,
    bots: Sequence[BotClass],
    seed: object,
    watch: Callable[[engine.State, list[Seated]], None] | None = None,
    deals: int | None = None,
) -> tuple[engine.State, list[Seated]]:
    """Play one sitting, bots by seat; an illegal answer is an AssertionError. `watch` is called at each decision."""
    table = f"board {seed}"
    state = game.new_match(seed=table, deals=deals or game.board_deals)
    seats = [Seated(bots[s](), game, s, engine.bot_seed(b"tests", table, 0, s)) for s in range(game.players)]
    while not state.is_over:
        actions = state.legal_actions()
        if watch is not None:
            watch(state, seats)
        choice = actions[0]
        if len(actions) > 1:
            legal = [game.action_text(a) for a in actions]
            seat = state.current_seat
            answer = seats[seat].ask(state, legal)
            assert answer in legal, f"{game.key} seed {seed} seat {seat}: {answer!r} is not one of {legal}"
            choice = actions[legal.index(answer)]
        state.apply(choice)
    for seated in seats:
        seated.end(state)
    return state, seats


def boards(
    game: engine.Game, a: BotClass, b: BotClass, seeds: Iterable[int]
) -> Iterator[tuple[list[int], list[Seated], list[Seated]]]:
    """Play duplicate boards of two bots, each deal in every seating; yield board scores by party, a's first.

    With more than two sides one seat of a sits among seats of b, in turn at each seat: b's seats are parties of their own, by
    their distance from a.
    """
    sides = len(game.sides)
    for seed in seeds:
        scores = [0] * sides
        of_a: list[Seated] = []
        of_b: list[Seated] = []
        for first in range(sides):
            seating = [a if seat in game.sides[first] else b for seat in range(game.players)]
            state, seats = play(game, seating, seed)
            by_seat = state.scores()
            for party in range(sides):
                scores[party] += by_seat[game.sides[(first + party) % sides][0]]
            of_a += [s for s in seats if s.seat in game.sides[first]]
            of_b += [s for s in seats if s.seat not in game.sides[first]]
        yield scores, of_a, of_b


class Duel:
    """The result of many boards for a, as in `tute play`, each with the half width of its 95% interval over boards.

    `rate`: share of its comparisons of board scores won, a draw counting half; `mean`: its score less the mean of the others'.
    """

    def __init__(self, game: engine.Game, a: BotClass, b: BotClass, seeds: Iterable[int]) -> None:
        self.differences = []
        self.shares = []
        self.took = []  # seconds of CPU, by decision of a
        for (own_score, *others), of_a, _ in boards(game, a, b, seeds):
            self.differences.append(own_score - sum(others) / len(others))
            self.shares.append(sum((own_score > score) + (own_score == score) / 2 for score in others) / len(others))
            self.took += [took for seated in of_a for took in seated.took]

    @property
    def rate(self) -> float:
        return sum(self.shares) / len(self.shares)

    @property
    def half_width(self) -> float:
        return _half_width(self.shares)

    @property
    def mean(self) -> float:
        return sum(self.differences) / len(self.differences)

    @property
    def mean_half_width(self) -> float:
        return _half_width(self.differences)

    def __str__(self) -> str:
        n = len(self.differences)
        return (
            f"{n} boards: {self.rate:.3f} +- {self.half_width:.3f}, "
            f"mean difference {self.mean:.1f} +- {self.mean_half_width:.1f}, "
            f"{1000 * sum(self.took) / len(self.took):.2f} ms/decision (slowest {1000 * max(self.took):.0f})"
        )


def _half_width(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1)
    return 1.96 * math.sqrt(variance / len(values))
