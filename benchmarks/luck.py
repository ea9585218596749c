"""Measure how much of a board is luck, with the house bots on the real engine, and derive the sizes of matches.

    .venv/bin/python benchmarks/luck.py [-g GAME ...] [--boards 60] [--json FILE]

Bots play in this process, without pipes and clocks; deals, sittings and scores are as in the league. The columns, for each game and pair of bots:

    score     share of the board points won by the better bot (a draw is half), with its standard error
    drawn     share of the boards that are drawn
    rho       correlation of the two sittings of a board (two sides): how much the cards decide; -1: everything
    duplicate variance of a bot's margin on independent deals over that on boards, for the same number of sittings
    elo       board Elo between the two
    boards    number of boards after which the better bot is known (two standard errors)

docs/luck.md has the table of the last run and what follows from it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "bots" / "sdk"))

import tute_bot  # noqa: E402

import engine  # noqa: E402

PAIRS = (("greedy", "random"), ("counting", "greedy"))
SECRET = b"the luck study of the Tute League"


def house(name: str) -> Callable[[], tute_bot.Bot]:
    """Return the class of a house bot, loaded as if only its folder were on the path."""
    folder = ROOT / "bots" / "house" / name
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(f"house_{name}", folder / "bot.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.path.remove(str(folder))
    return next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, tute_bot.Bot) and value.__module__ == spec.name
    )


class BotSeat:
    """A bot at a seat. It receives only the events that the seat may see."""

    def __init__(self, make: Callable[[], tute_bot.Bot], game: engine.Game, seat: int, seed: int) -> None:
        self.session = tute_bot.Session(make())
        self.seat, self.events_read = seat, 0
        hello = {
            "type": "hello", "protocol": 1, "game": game.key, "revision": game.revision, "options": game.options,
            "seats": game.players, "seat": seat, "sides": [list(side) for side in game.sides], "boards": 1, "limits": {}, "seed": seed,
        }  # fmt: skip
        self.session.answer(hello)

    def act(self, state: engine.State, legal: list[str]) -> str:
        """Return the bot's choice."""
        news = engine.redact(state.events[self.events_read :], self.seat)
        self.events_read = len(state.events)
        answer = self.session.answer({"type": "act", "id": 0, "events": news, "legal": legal, "bank_s": 3})
        return str(answer["do"])


def sitting(game: engine.Game, seed: bytes, makers: list[Callable[[], tute_bot.Bot]], number: int) -> list[int]:
    """Return the scores by seat of one sitting."""
    state = game.new_match(seed=seed, deals=game.board_deals)
    seats = [BotSeat(make, game, place, number * 100 + place) for place, make in enumerate(makers)]
    while not state.is_over:
        actions = state.legal_actions()
        if len(actions) == 1:
            state.apply(actions[0])
            continue
        texts = [game.action_text(action) for action in actions]
        state.apply(actions[texts.index(seats[state.current_seat].act(state, texts))])
    return list(state.scores())


@dataclass
class BoardLuck:
    """The luck in the boards of one game and pair of bots. At tables of more than two parties the weaker bot has all seats but one."""

    game: str
    parties: int
    pair: str
    boards: int
    score: float
    error: float
    drawn: float
    rho: float | None
    duplicate: float
    elo: float
    needed: int | None


def study(game: engine.Game, better: str, worse: str, boards: int) -> BoardLuck:
    """Play `boards` boards and measure."""
    parties = len(game.sides)
    bots = [house(better), *[house(worse)] * (parties - 1)]
    margins = []  # (boards, sittings): score of the better bot less the mean of the others
    for number in range(1, boards + 1):
        seed = engine.board_seed(SECRET, game.key, f"{better}-{worse}", number)
        row = []
        for place, seating in enumerate(game.sittings(parties)):
            scores = sitting(game, seed, [bots[party] for party in seating], number * 10 + place)
            own = next(scores[side[0]] for side in game.sides if seating[side[0]] == 0)
            others = [scores[side[0]] for side in game.sides if seating[side[0]] != 0]
            row.append(own - float(np.mean(others)))
        margins.append(row)
    return measure(game.key, parties, f"{better} / {worse}", np.array(margins))


def measure(game: str, parties: int, pair: str, margins: np.ndarray[Any, np.dtype[np.float64]]) -> BoardLuck:
    """Compute the numbers of the table from the margins (boards, sittings) of the better bot."""
    boards, sittings = margins.shape
    points = (np.sign(margins.sum(axis=1)) + 1) / 2
    score = float(points.mean())
    sd = float(points.std(ddof=1)) or 0.5 / math.sqrt(boards)
    centred = margins - margins.mean(axis=0)  # The advantage of a seat is not luck.
    alone = float((centred**2).mean()) / sittings
    together = float(centred.mean(axis=1).var())
    clipped = min(max(score, 0.5 / boards), 1 - 0.5 / boards)
    away = abs(score - 0.5)
    return BoardLuck(
        game=game,
        parties=parties,
        pair=pair,
        boards=boards,
        score=score,
        error=sd / math.sqrt(boards),
        drawn=float((points == 0.5).mean()),
        rho=float(np.corrcoef(margins.T)[0, 1]) if sittings == 2 and margins.std(axis=0).all() else None,
        duplicate=alone / together if together else math.inf,
        elo=400 * math.log10(clipped / (1 - clipped)),
        needed=math.ceil((2 * sd / away) ** 2) if away > sd / math.sqrt(boards) else None,
    )


def rows(games: list[str], boards: int) -> Iterator[BoardLuck]:
    """Yield the results, game by game and pair by pair."""
    for key in games:
        game = engine.load(key)
        elimination = game.board_deals is None and len(game.sides) > 2
        for better, worse in PAIRS:
            yield study(game, better, worse, max(8, boards // 4) if elimination else boards)


def main() -> None:
    """Measure every game and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", help="only this game (may be repeated)")
    parser.add_argument(
        "--boards", type=int, default=60, help="boards of each pair (60; a quarter of it for eliminations)"
    )
    parser.add_argument("--json", type=Path, help="also into this file, row by row")
    chosen = parser.parse_args()
    print("| game | parties | pair | boards | score | drawn | rho | duplicate | board Elo | boards for 2 sigma |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows(chosen.game or list(engine.games()), chosen.boards):
        rho = "" if row.rho is None else f"{row.rho:.2f}"
        needed = "more" if row.needed is None else str(row.needed)
        print(
            f"| {row.game} | {row.parties} | {row.pair} | {row.boards} | {row.score:.2f} ± {row.error:.2f} | {row.drawn:.2f} | {rho} | "
            f"{row.duplicate:.1f} | {row.elo:.0f} | {needed} |",
            flush=True,
        )
        if chosen.json:
            with chosen.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")


if __name__ == "__main__":
    main()
