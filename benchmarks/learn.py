"""Learn how the house bot `champion` should value hands while there is a stock, from its own play: the weights in bots/house/champion/learned.py.

    .venv/bin/python benchmarks/learn.py [-g two_player] [--deals N] [--first 1] [--jobs 2] [--write]

The players are `champion` without learned weights, so the same deals give the same numbers, whatever learned.py holds. After each trick while there
is a stock, the features of both hands (`engine.search.foresight`) are recorded, and how many more points the leader won from then on. Ridge
regression fits one row of weights for each number of cards in the stock; the positions of the two neighbouring rows count with a lower weight. The
output is the share of the remaining points that the weights explain. --write stores the weights in learned.py. With compiled rules (`make fast`) a
deal takes about 0.2 s.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from textwrap import wrap

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.

import engine  # noqa: E402
from engine.search.deals import Deal  # noqa: E402
from engine.search.foresight import FEATURES, Foresight, Weights  # noqa: E402
from tests.bots.harness import Seated, house, play, tute_bot  # noqa: E402

# Game: the deals (or games of several deals) to learn from, and the deals of hidden cards that a player samples.
GAMES = {"two_player": (20_000, 800), "corriente": (2_500, 40)}
OPTIONS = {"corriente": {"target": 1000, "claim_mode": "none"}}  # Deals are played to their end, about eight in a game.
EACH = 50  # Number of deals that a process plays before it reports.
BESIDE = 0.4  # Weight of the positions of the neighbouring rows.
RIDGE = 200.0
PLACE = ROOT / "bots/house/champion/learned.py"


@dataclass
class Sums:
    """The sums over positions that a fit needs, one row for each number of card pairs in the stock."""

    squares: np.ndarray  # (rows, FEATURES, FEATURES)
    products: np.ndarray  # (rows, FEATURES): features times points won
    won: np.ndarray  # (rows,): squares of the points won
    number: np.ndarray  # (rows,): number of positions

    @classmethod
    def empty(cls, rows: int) -> Sums:
        """Return the sums over no positions."""
        return cls(np.zeros((rows, FEATURES, FEATURES)), np.zeros((rows, FEATURES)), np.zeros(rows), np.zeros(rows))

    def add_position(self, row: int, features: Sequence[int], won: float) -> None:
        """Add a position. won: halves of points that the leader won from then on, less the other's."""
        x = np.array(features, float)
        self.squares[row] += np.outer(x, x)
        self.products[row] += x * won
        self.won[row] += won * won
        self.number[row] += 1

    def add(self, other: Sums) -> None:
        """Add the sums of other deals."""
        self.squares += other.squares
        self.products += other.products
        self.won += other.won
        self.number += other.number

    def fit(self, row: int) -> np.ndarray:
        """Return the weights of a row, in halves of points."""
        squares, products = RIDGE * np.eye(FEATURES), np.zeros(FEATURES)
        for beside, weight in ((row - 1, BESIDE), (row, 1.0), (row + 1, BESIDE)):
            if 0 <= beside < len(self.number):
                squares += weight * self.squares[beside]
                products += weight * self.products[beside]
        return np.linalg.solve(squares, products)

    def unexplained(self, row: int, weights: np.ndarray) -> tuple[float, float]:
        """Return the root mean square of the points won, and of the part that the weights do not explain."""
        unknown = self.won[row] - 2 * weights @ self.products[row] + weights @ self.squares[row] @ weights
        return tuple(
            float(np.sqrt(max(0.0, square_sum) / max(1.0, self.number[row]))) / 2
            for square_sum in (self.won[row], unknown)
        )


def plain(key: str) -> tute_bot.Bot:
    """Return a champion for a game without learned weights."""
    champion = house("champion")()
    champion.learned = {}
    champion.plans = {
        table: plan._replace(late=0, deals=GAMES[key][1]) for table, plan in champion.plans.items() if table[0] == key
    }
    return champion


def learn(key: str, seeds: Sequence[int]) -> Sums:
    """Play these deals and sum up their positions."""
    game = engine.load(key, **OPTIONS.get(key, {}))
    table, sums = Foresight(game, ((0,) * FEATURES,)), Sums.empty(game.rules.stock // 2)
    for seed in seeds:
        noted: list[tuple[int, int, list[int], int, int]] = []
        events_read = 0

        def watch(state: engine.State, _seats: list[Seated], noted: list = noted) -> None:
            nonlocal events_read
            news, events_read = state.events[events_read:], len(state.events)
            drawn = [state.game.pack.texts.index(event["card"]) for event in news if event["e"] == "draw"]
            if not drawn or state.in_trick or any(event["e"] in ("song", "tute") for event in news):
                return
            table.begin(state, 0)
            table.put(Deal([sorted(state.hand_of(seat)) for seat in range(2)], state.stock[:], []))
            points = state.seat_points()
            lead = points[state.turn] - points[1 - state.turn]
            noted.append((state.deal_no, (state.n + len(drawn)) // 2 - 1, table.features(drawn), state.turn, lead))

        state, _ = play(game, [lambda: plain(key)] * 2, seed, watch=watch, deals=1)
        # A deal that is won at once tells nothing about points.
        points = {
            event["deal"]: event["points"] for event in state.events if event["e"] == "score" and event["why"] != "tute"
        }
        for deal, row, features, leader, lead in noted:
            if deal in points:
                sums.add_position(row, features, 2.0 * (points[deal][leader] - points[deal][1 - leader] - lead))
    return sums


def chunks(first: int, deals: int) -> Iterator[range]:
    """Split the deals into parts."""
    for start in range(first, first + deals, EACH):
        yield range(start, min(start + EACH, first + deals))


def sum_deals(key: str, first: int, deals: int, jobs: int) -> Sums:
    """Sum over many deals in order, so that the sums are the same for any number of processes."""
    total = Sums.empty(engine.load(key).rules.stock // 2)
    with get_context("spawn").Pool(jobs) as pool:
        parts = [pool.apply_async(learn, (key, part)) for part in chunks(first, deals)]
        for number, part in enumerate(parts, 1):
            total.add(part.get())
            print(f"\r{key}: {min(deals, number * EACH)} of {deals} deals", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return total


def learned_source(weights: dict[tuple[str, int], Weights]) -> str:
    """Return the source of learned.py with these weights."""
    lines = [PLACE.read_text(encoding="utf-8").partition("LEARNED = ")[0] + "LEARNED = {"]
    for (key, seats), rows in weights.items():
        lines.append(f'    ("{key}", {seats}): (')
        for row in rows:
            lines += [
                "        (",
                *wrap(", ".join(map(str, row)) + ",", 108, initial_indent=" " * 12, subsequent_indent=" " * 12),
                "        ),",
            ]
        lines.append("    ),")
    return "\n".join([*lines, "}"]) + "\n"


def main() -> None:
    """Play, fit and print; write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], choices=GAMES, help="only this game")
    parser.add_argument("--deals", type=int, help="deals to learn from, or games (20000, corriente 2500)")
    parser.add_argument("--first", type=int, default=1, help="number of the first deal (1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--write", action="store_true", help="put the weights into bots/house/champion/learned.py")
    chosen = parser.parse_args()
    by_table: dict[tuple[str, int], Weights] = dict(sys.modules[house("champion").__module__].LEARNED)
    for key in chosen.game or GAMES:
        sums = sum_deals(key, chosen.first, chosen.deals or GAMES[key][0], chosen.jobs)
        rows = []
        print(
            f"\n| {key}: cards in the stock | positions | points to come, rms | unexplained, rms |\n|---|---|---|---|"
        )
        for row in range(len(sums.number)):
            weights = sums.fit(row)
            rows.append(tuple(int(weight) for weight in np.rint(100 * weights)))
            whole, unknown = sums.unexplained(row, weights)
            print(f"| {2 * row + 2} | {sums.number[row]:.0f} | {whole:.1f} | {unknown:.1f} |")
        by_table[key, engine.load(key).players] = tuple(rows)
    if chosen.write:
        PLACE.write_text(learned_source(by_table), encoding="utf-8")
        print(f"\nwritten: {PLACE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
