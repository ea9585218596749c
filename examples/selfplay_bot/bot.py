"""A bot that plays by the network that `examples/selfplay.py` has trained: the same inputs and the same network, without numpy.

`weights.bin` lies beside it. It holds each array of the network: one 32-bit float, its scale, then its numbers as 16-bit integers, row by row.
"""

from array import array
from itertools import pairwise
from operator import mul
from pathlib import Path

from tute_bot import Bot, View, plays, run
from tute_sense import announce

SIZES = (336, 192, 96, 40)  # number of inputs, of units in the hidden layers, of cards
RANKS = "24567SCR31"  # weakest first
POINTS = dict(zip(RANKS, (0, 0, 0, 0, 0, 2, 3, 4, 10, 11), strict=True))


def read(path: Path) -> list[tuple[list[array], array]]:
    """Return the layers: rows of weights (one per input in the first layer, one per output in the others) and the biases."""
    layers = []
    with path.open("rb") as file:
        for fan_in, fan_out in pairwise(SIZES):
            matrix, added = numbers(file, fan_in * fan_out), numbers(file, fan_out)
            rows = [matrix[start : start + fan_out] for start in range(0, len(matrix), fan_out)]
            if layers:  # only the first layer is summed input by input, because most inputs are 0
                rows = [array("d", column) for column in zip(*rows, strict=True)]
            layers.append((rows, added))
    return layers


def numbers(file, count: int) -> array:
    """Read `count` numbers from the file."""
    scale, short = array("f"), array("h")
    scale.fromfile(file, 1)
    short.fromfile(file, count)
    return array("d", [scale[0] * number for number in short])


def inputs(view: View) -> dict[int, float]:
    """Return the inputs that are not 0, by index; see `planes` of the training program."""
    suits = view.trump + "oceb".replace(view.trump, "")
    place = {
        rank + suit: 10 * number + strength for number, suit in enumerate(suits) for strength, rank in enumerate(RANKS)
    }
    lying = dict(view.table)
    gone = set(view.played) - set(lying.values())
    unseen = place.keys() - gone - set(lying.values()) - set(view.hand)
    values: dict[int, float] = {}
    for card in view.hand:
        values[place[card]] = 1
        if not any(other[1] == card[1] and place[other] > place[card] for other in unseen):
            values[80 + place[card]] = 1
        if view.would_win(card):
            values[120 + place[card]] = 1
    for card in gone:
        values[40 + place[card]] = 1
    for seat, card in lying.items():
        values[120 + 40 * ((seat - view.seat) % 4) + place[card]] = 1
    if view.best and lying:
        values[280 + place[view.best[1]]] = 1
        values[334] = float(view.best[0] == (view.seat + 2) % 4)
    values[320 + len(view.hand) - 1] = 1
    values[330 + len(lying)] = 1
    values[335] = sum(POINTS[card[0]] for card in lying.values()) / 10
    return values


def expected(layers: list[tuple[list[array], array]], features: dict[int, float]) -> list[float]:
    """Return the points that the network expects for each card, suits renamed."""
    (rows, added), *others = layers
    values = list(added)
    for number, weight in features.items():
        if weight:
            values = [value + weight * row for value, row in zip(values, rows[number], strict=True)]
    for rows, added in others:
        values = [value if value > 0 else 0.0 for value in values]
        values = [sum(map(mul, values, row)) + more for row, more in zip(rows, added, strict=True)]
    return values


class LearnedBot(Bot):
    """Sings whenever it can and plays the card for which the network expects most."""

    def __init__(self) -> None:
        self.layers = read(Path(__file__).parent / "weights.bin")

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of the legal actions."""
        cards = plays(legal)
        word = announce(view, legal)
        if word or len(cards) == 1:
            return word or "play " + cards[0]
        worth = expected(self.layers, inputs(view))
        suits = view.trump + "oceb".replace(view.trump, "")
        return "play " + max(cards, key=lambda card: worth[10 * suits.index(card[1]) + RANKS.index(card[0])])


if __name__ == "__main__":
    run(LearnedBot())
