"""Simultaneous perturbation (SPSA): tune numbers of a bot from boards between two versions that differ in all numbers at once.

A pair moves each number up or down by c, at random, and plays boards between the bot with these values and the bot with the opposite ones. The
number of boards won less those lost, times the direction, moves each number. The gains are those of Spall (1998), as fishtest uses them, with one
board as one iteration: c falls to the declared step at the last board, and A is a tenth of all boards. Results may arrive in any order: each pair
knows its own gains, so a late one counts like the others, as in fishtest.

Sources: Spall, Implementation of the simultaneous perturbation algorithm for stochastic optimization (1998); fishtest,
server/fishtest/spsa_handler.py.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ALPHA, GAMMA = 0.602, 0.101  # The exponents of the two gains.
STABLE = 0.1  # A, as a share of all boards.
# At the last board a decided board moves a number by RATE / sqrt(boards) steps: by the usual 0.002 of fishtest if there are 250,000. A number without
# effect then wanders by about one step, however many boards there are.
RATE = 1.0
DIGITS = 6  # Significant digits of the values that bots get.
LARGEST = 1e9

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class BotParameter:
    """A number that a bot declares: its value in matches, its range, and the least change that matters. whole: the bot gets whole numbers only."""

    name: str
    start: float
    least: float
    most: float
    step: float
    whole: bool = False

    def __post_init__(self) -> None:
        numbers = (self.start, self.least, self.most, self.step)
        if not all(math.isfinite(number) and abs(number) <= LARGEST for number in numbers):
            raise ValueError(f"its numbers must lie between -{LARGEST:g} and {LARGEST:g}")
        if not self.least <= self.start <= self.most:
            raise ValueError("start must lie from least to most")
        if not 0 < self.step <= self.most - self.least:
            raise ValueError("step must be more than 0, and at most the distance from least to most")

    def inside(self, value: float) -> float:
        """Return the nearest value within the range."""
        return min(max(value, self.least), self.most)

    def given(self, value: float, chance: float = 0.5) -> float:
        """Return the value that a bot gets: within the range and rounded. A whole number is rounded up if its fraction is more than 1 - `chance`."""
        value = self.inside(value)
        return math.floor(value + chance) if self.whole else self.inside(float(f"{value:.{DIGITS}g}"))


@dataclass(frozen=True, slots=True)
class ValuePair:
    """The values of both sides, and by how much each number changes for a board that `plus` wins."""

    plus: Values
    minus: Values
    change: Values


def start_values(parameters: Sequence[BotParameter]) -> dict[str, float]:
    """Return the declared values."""
    return {parameter.name: parameter.given(parameter.start) for parameter in parameters}


def final_values(parameters: Sequence[BotParameter], values: Values) -> dict[str, float]:
    """Return tuned values as bots get them."""
    return {parameter.name: parameter.given(values[parameter.name]) for parameter in parameters}


def draw_pair(parameters: Sequence[BotParameter], values: Values, *, played: int, boards: int, seed: str) -> ValuePair:
    """Draw the pair to play at `values`, after `played` of `boards` boards. The same seed draws the same pair."""
    rng = random.Random(seed)  # noqa: S311 - directions of a search, no secret
    number = min(played, boards - 1) + 1
    shrinking, stable = (boards / number) ** GAMMA, STABLE * boards
    rate = RATE / math.sqrt(boards) * ((stable + boards) / (stable + number)) ** ALPHA
    plus, minus, change = {}, {}, {}
    for parameter in parameters:
        direction, chance = (1 if rng.random() < 0.5 else -1), rng.random()
        name, value, reach = parameter.name, values[parameter.name], parameter.step * shrinking
        plus[name] = parameter.given(value + direction * reach, chance)
        minus[name] = parameter.given(value - direction * reach, chance)
        change[name] = direction * rate * parameter.step / shrinking
    return ValuePair(plus, minus, change)


def learn(parameters: Sequence[BotParameter], values: Values, change: Values, lead: int) -> dict[str, float]:
    """Return the values after the boards of a pair. lead: boards that `plus` won, less those that it lost."""
    return {
        parameter.name: parameter.inside(values[parameter.name] + lead * change[parameter.name])
        for parameter in parameters
    }
