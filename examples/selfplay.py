"""Learn partnership Tute by playing against itself: plain numpy, one file, one core.

    .venv/bin/python examples/selfplay.py train learned.npz --minutes 20        # continues from the file if it exists
    .venv/bin/python examples/selfplay.py bot learned.npz learned               # makes a bot (a folder) of the checkpoint
    .venv/bin/tute play learned greedy -g partnership -n 100                    # plays it in the sandbox
    .venv/bin/tute submit learned                                               # enters it in a league (`tute login` first)

How it learns. The input of the network is what a seat may know. For each of the forty cards it predicts how many more points the seat's side will win
than the other side from here to the end of the deal, if the seat plays this card now and all continue as usual. All four seats play the card with the
highest prediction, and sometimes a random card. At the end of the deal the actual result of every decision is known, and the network is fitted to it
(Monte Carlo returns, Adam, Huber loss). Songs are always sung, so only cards are learned.

Its input (`planes`): the suits are renamed so that trump comes first, so what it learns with coins holds with cups. `examples/selfplay_bot/bot.py`
computes the same numbers from a bot's messages; a test compares the two.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.adapters.vector import Matches
from engine.search import encoding
from engine.search.batch import KEEP

Floats = NDArray[np.float32]

CARDS = 40
# own hand; gone; masters of the hand; cards of the hand that would win; unseen cards of each other seat; the winning
# card
PLANES = 8
SCALARS = (
    # ten for the number of cards left, four for the place in the trick, one if the partner is winning, points on the
    # table
    16
)
INPUTS = PLANES * CARDS + SCALARS
HIDDEN = (192, 96)
UNIT = 30.0  # number of points that make 1 in the network
POINTS = np.array([0, 0, 0, 0, 0, 2, 3, 4, 10, 11], np.float32)  # Points of 2 4 5 6 7 S C R 3 1.
SUITS = np.array([[trump, *(suit for suit in range(4) if suit != trump)] for trump in range(4)])  # trump first
PLACE_OF = np.argsort(SUITS, axis=1)  # index of a suit after renaming, by trump


# ---- the input


def planes(observations: NDArray[np.uint8]) -> Floats:
    """Return the inputs, shape (n, INPUTS), of observations as bytes (`engine.search.encoding`), shape (n, SIZE)."""
    n = len(observations)
    trump = observations[:, 72]
    # cards with renamed suits
    cards = observations[:, :64].reshape(n, 4, 16)[:, :, :10][np.arange(n)[:, None], SUITS[trump]]
    hand = (cards & encoding.OWN) > 0
    unseen = (cards & (encoding.OWN | encoding.ON_TABLE | encoding.GONE)) == 0
    # number of unseen cards of the suit from this one upwards
    above = np.cumsum(unseen[:, :, ::-1], axis=2)[:, :, ::-1]
    winning = (cards & encoding.WINNING) > 0
    beaten = np.cumsum(winning, axis=2) - winning > 0  # True if the card is stronger than the winning card of its suit
    leads = ~winning.any(axis=(1, 2))
    trumped = winning[:, 0].any(axis=1)
    beaten[:, 0] |= ~trumped[:, None]
    beaten |= leads[:, None, None]
    result = np.zeros((n, INPUTS), np.float32)
    by_card = result[:, : PLANES * CARDS].reshape(n, PLANES, 4, 10)
    by_card[:, 0] = hand
    by_card[:, 1] = (cards & encoding.GONE) > 0
    by_card[:, 2] = hand & (above == 0)
    by_card[:, 3] = hand & beaten
    by_card[:, 7] = winning
    rows = np.arange(n)
    partner = np.zeros(n, np.bool_)
    for other in (1, 2, 3):
        indices = np.flatnonzero(observations[:, 64 + other])
        card = observations[indices, 64 + other] - 1
        suit, strength = PLACE_OF[trump[indices], card // 10], card % 10
        by_card[indices, 3 + other, suit, strength] = 1
        if other == 2:
            partner[indices] = winning[indices, suit, strength]
    table = (cards & encoding.ON_TABLE) > 0
    scalars = result[:, PLANES * CARDS :]
    scalars[rows, hand.sum(axis=(1, 2)) - 1] = 1
    scalars[rows, 10 + table.sum(axis=(1, 2))] = 1
    scalars[:, 14] = partner
    scalars[:, 15] = (table * POINTS).sum(axis=(1, 2)) / 10
    return result


def lead_in_points(observations: NDArray[np.uint8]) -> Floats:
    """Return the lead of the seat's side in points of cards and songs, shape (n,)."""
    by_seat = observations[:, 80:84].astype(np.float32) + observations[:, 88:92]
    return by_seat[:, 0] - by_seat[:, 1] + by_seat[:, 2] - by_seat[:, 3]


# ---- the network


class Network:
    """The network: inputs, two layers of rectified units, one output for each card of the renamed suits."""

    def __init__(self, rng: np.random.Generator) -> None:
        sizes = (INPUTS, *HIDDEN, CARDS)
        self.weights: list[Floats] = []
        for fan_in, fan_out in pairwise(sizes):
            spread = 0.1 if fan_out == CARDS else 1.0  # the network begins by predicting 0 for every card
            self.weights.append(
                (rng.standard_normal((fan_in, fan_out)) * spread * np.sqrt(2 / fan_in)).astype(np.float32)
            )
            self.weights.append(np.zeros(fan_out, np.float32))
        self.mean = [np.zeros_like(weight) for weight in self.weights]
        self.square = [np.zeros_like(weight) for weight in self.weights]
        self.updates = 0

    def forward(self, inputs: Floats) -> list[Floats]:
        """Return the inputs, the values of each hidden layer, and the outputs."""
        layers = [inputs]
        for number in range(0, len(self.weights), 2):
            out = layers[-1] @ self.weights[number] + self.weights[number + 1]
            layers.append(out if number == len(self.weights) - 2 else np.maximum(out, 0, out=out))
        return layers

    def learn(self, inputs: Floats, cards: NDArray[np.intp], targets: Floats, rate: float) -> float:
        """Make one step of Adam towards the targets of the played cards; return the mean absolute error before the step."""
        layers = self.forward(inputs)
        rows = np.arange(len(inputs))
        error = layers[-1][rows, cards] - targets
        slope = np.zeros_like(layers[-1])
        slope[rows, cards] = np.clip(error, -2, 2) / len(inputs)
        self.updates += 1
        correction = np.sqrt(1 - 0.999**self.updates) / (1 - 0.9**self.updates)
        for number in range(len(self.weights) - 2, -1, -2):
            below = layers[number // 2]
            changes = (below.T @ slope, slope.sum(axis=0))
            if number:
                slope = (slope @ self.weights[number].T) * (below > 0)
            for place, change in enumerate(changes, start=number):
                self.mean[place] += 0.1 * (change - self.mean[place])
                self.square[place] += 0.001 * (change * change - self.square[place])
                self.weights[place] -= rate * correction * self.mean[place] / (np.sqrt(self.square[place]) + 1e-8)
        return float(np.abs(error).mean())

    def save(self, path: Path, decisions: int) -> None:
        """Save the weights and the state of Adam."""
        arrays = {
            f"{name}{place}": values
            for name in ("weights", "mean", "square")
            for place, values in enumerate(getattr(self, name))
        }
        np.savez(path, updates=self.updates, decisions=decisions, **arrays)

    def load(self, path: Path) -> int:
        """Load a checkpoint; return the number of decisions that it was trained on."""
        with np.load(path) as stored:
            for name in ("weights", "mean", "square"):
                setattr(self, name, [stored[f"{name}{place}"] for place in range(len(self.weights))])
            self.updates = int(stored["updates"])
            return int(stored["decisions"])


# ---- playing and learning


def choose(
    network: Network | None,
    observations: NDArray[np.uint8],
    masks: NDArray[np.int8],
    explore: float,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], Floats | None]:
    """Return an action for each row, and the inputs: a song if possible, else the best card; a random card without a network or to explore."""
    n = len(observations)
    songs = masks[:, 52:]
    legal = masks[:, :CARDS] > 0
    inputs = None
    if network is None:
        worth = rng.random((n, CARDS), np.float32)
    else:
        inputs = planes(observations)
        order = SUITS[observations[:, 72]]
        renamed = network.forward(inputs)[-1].reshape(n, 4, 10)
        worth = np.empty((n, 4, 10), np.float32)
        worth[np.arange(n)[:, None], order] = renamed
        worth = worth.reshape(n, CARDS)
        free = np.flatnonzero(rng.random(n) < explore)
        worth[free] = rng.random((len(free), CARDS), np.float32)
    actions = np.where(legal, worth, -np.inf).argmax(axis=1)
    return np.where(songs.any(axis=1), 52 + songs.argmax(axis=1), actions), inputs


def play(
    table: Matches, network: Network, explore: float, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Play one deal at each table; return inputs, renamed cards and results (in UNITs) of all decisions between several cards."""
    arrays = table.arrays
    n = arrays.count
    going = np.ones(n, np.bool_)
    rewards = np.zeros((n, 4), np.float32)
    steps = []
    while going.any():
        rows = np.flatnonzero(going)
        observations, masks, seats = arrays.observations[rows], arrays.masks[rows], arrays.turns[rows]
        chosen, inputs = choose(network, observations, masks, explore, rng)
        actions = np.full(n, KEEP)
        actions[rows] = chosen
        picks = np.flatnonzero((chosen < CARDS) & (masks.sum(axis=1) > 1))
        cards = PLACE_OF[observations[picks, 72], chosen[picks] // 10] * 10 + chosen[picks] % 10
        steps.append((inputs[picks], cards, rows[picks], seats[picks], lead_in_points(observations[picks])))
        table.step(actions)
        rewards += arrays.rewards
        going &= ~arrays.ended
    inputs, cards, rows, seats, leads = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    # a reward is half of the difference between the sides
    return inputs, cards, (2 * rewards[rows, seats] - leads) / UNIT


def train(
    network: Network,
    *,
    seed: int,
    minutes: float | None = None,
    rounds: int | None = None,
    tables: int = 256,
    batch: int = 512,
    explore: float = 0.08,
    decisions: int = 0,
    tell: Callable[[int, str], None] | None = None,
) -> int:
    """Play and learn for `minutes` minutes of this process's CPU time, or `rounds` rounds of one deal at each table. Return the number of decisions.

    `tables` deals are played side by side, `batch` decisions make one step of learning, `explore` is the share of random cards at the beginning.
    `tell` is called every half minute with the number of decisions so far and a line about them.
    """
    rng = np.random.default_rng(seed)
    table = Matches("partnership", tables, seed=int(rng.integers(2**31)), deals=1)
    began = reported_at = time.process_time()
    number = 0
    while True:
        spent = (time.process_time() - began) / 60
        share = number / rounds if rounds else spent / minutes
        if share >= 1:
            return decisions
        inputs, cards, targets = play(table, network, explore * (1 - 0.75 * share), rng)
        order = rng.permutation(len(cards))
        rate = 1e-3 * (1 - 0.95 * share)
        errors = [
            network.learn(inputs[some], cards[some], targets[some], rate)
            for some in np.array_split(order, max(1, len(order) // batch))
        ]
        decisions += len(cards)
        number += 1
        if tell and time.process_time() - reported_at > 30:
            reported_at = time.process_time()
            tell(decisions, f"{spent:5.1f} min  {decisions:>11,} decisions  error {np.mean(errors) * UNIT:5.2f} points")


def against_random(network: Network, deals: int, seed: int) -> float:
    """Return the points per deal by which the network's side beats a side that plays random cards and sings. Sides alternate from deal to deal."""
    rng = np.random.default_rng(seed)
    table = Matches("partnership", deals, seed=seed, deals=1)
    arrays = table.arrays
    side = np.arange(deals) % 2
    total = np.zeros(deals)
    going = np.ones(deals, np.bool_)
    while going.any():
        ours = arrays.turns % 2 == side
        actions = np.full(deals, KEEP)
        for rows, player in ((np.flatnonzero(going & ours), network), (np.flatnonzero(going & ~ours), None)):
            if len(rows):
                actions[rows], _ = choose(player, arrays.observations[rows], arrays.masks[rows], 0, rng)
        table.step(actions)
        total += 2 * arrays.rewards[np.arange(deals), side]
        going &= ~arrays.ended
    return float(total.mean())


# ---- a bot


def export(network: Network, folder: Path) -> None:
    """Write a bot for the league: its program, its manifest and the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("bot.py", "bot.toml"):
        shutil.copyfile(Path(__file__).parent / "selfplay_bot" / name, folder / name)
    np.savez(folder / "weights.npz", *network.weights)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="play and learn")
    training.add_argument("checkpoint", type=Path)
    training.add_argument("--minutes", type=float, default=20, help="of CPU time (20)")
    training.add_argument("--seed", type=int, default=1)
    making = commands.add_parser("bot", help="make a bot of a checkpoint")
    making.add_argument("checkpoint", type=Path)
    making.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    network = Network(np.random.default_rng(chosen.seed if chosen.command == "train" else 0))
    decisions = network.load(chosen.checkpoint) if chosen.checkpoint.exists() else 0
    if chosen.command == "bot":
        if not decisions:
            parser.error(f"{chosen.checkpoint} is no checkpoint: train first")
        export(network, chosen.folder)
        print(
            f"{chosen.folder} plays after {decisions:,} decisions of training. Try: tute play {chosen.folder} greedy -g partnership -n 50"
        )
        return

    def tell(total: int, line: str) -> None:
        network.save(chosen.checkpoint, total)
        print(line, flush=True)

    decisions = train(network, seed=chosen.seed + decisions, minutes=chosen.minutes, decisions=decisions, tell=tell)
    network.save(chosen.checkpoint, decisions)
    print(f"{against_random(network, 2000, 1):+.1f} points a deal against random cards")


if __name__ == "__main__":
    main()
