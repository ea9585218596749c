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
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.

import engine  # noqa: E402
from tests.bots.harness import house, play  # noqa: E402

PAIRS = (("greedy", "random"), ("counting", "greedy"))


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
        row = []
        for seating in game.sittings(parties):
            scores = play(game, [bots[party] for party in seating], f"{better}-{worse} {number}")[0].scores()
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
