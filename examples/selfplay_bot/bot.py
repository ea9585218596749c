"""A bot that plays by the network that `examples/selfplay.py` has trained: the same inputs and the same network.

`weights.npz` lies beside it: weights and added numbers of each layer in turn.
"""

from pathlib import Path

import numpy as np
from tute_bot import Bot, View, plays, run
from tute_sense import announce

INPUTS = 336
RANKS = "24567SCR31"  # weakest first
POINTS = dict(zip(RANKS, (0, 0, 0, 0, 0, 2, 3, 4, 10, 11), strict=True))


def read(path: Path) -> list[np.ndarray]:
    """Return the arrays of the network in order."""
    with np.load(path) as stored:
        return [stored[name] for name in stored.files]


def inputs(view: View) -> np.ndarray:
    """Return the inputs of a decision; see `planes` of the training program."""
    suits = view.trump + "oceb".replace(view.trump, "")
    place = {
        rank + suit: 10 * number + strength for number, suit in enumerate(suits) for strength, rank in enumerate(RANKS)
    }
    lying = dict(view.table)
    gone = set(view.played) - set(lying.values())
    unseen = place.keys() - gone - set(lying.values()) - set(view.hand)
    values = np.zeros(INPUTS, np.float32)
    for card in view.hand:
        values[place[card]] = 1
        values[80 + place[card]] = not any(other[1] == card[1] and place[other] > place[card] for other in unseen)
        values[120 + place[card]] = view.would_win(card)
    for card in gone:
        values[40 + place[card]] = 1
    for seat, card in lying.items():
        values[120 + 40 * ((seat - view.seat) % 4) + place[card]] = 1
    if view.best and lying:
        values[280 + place[view.best[1]]] = 1
        values[334] = view.best[0] == (view.seat + 2) % 4
    values[320 + len(view.hand) - 1] = 1
    values[330 + len(lying)] = 1
    values[335] = sum(POINTS[card[0]] for card in lying.values()) / 10
    return values


def expected(arrays: list[np.ndarray], values: np.ndarray) -> np.ndarray:
    """Return the points that the network expects for each card, suits renamed."""
    for weights, added in zip(arrays[:-2:2], arrays[1:-2:2], strict=True):
        values = np.maximum(values @ weights + added, 0)
    return values @ arrays[-2] + arrays[-1]


class LearnedBot(Bot):
    """Sings whenever it can and plays the card for which the network expects most."""

    def __init__(self) -> None:
        self.arrays = read(Path(__file__).parent / "weights.npz")

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of the legal actions."""
        cards = plays(legal)
        word = announce(view, legal)
        if word or len(cards) == 1:
            return word or "play " + cards[0]
        worth = expected(self.arrays, inputs(view))
        suits = view.trump + "oceb".replace(view.trump, "")
        return "play " + max(cards, key=lambda card: worth[10 * suits.index(card[1]) + RANKS.index(card[0])])


if __name__ == "__main__":
    run(LearnedBot())
