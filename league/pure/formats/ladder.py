"""Ladder: continuous. A few matches are always open; each new one goes where it tells most.

Newcomers (fewest boards, below 48) come first. Otherwise a pair is drawn with a weight: the chance that its order is wrong, times what
one more board would take off its uncertainty; with `head` divided by the rank of its better entry, which finds the best one sooner.
Drawing, rather than taking the largest weight, keeps everybody in play and the field connected. At larger tables the other seats
are drawn by their weights with those who sit there; mixed pairs are then parted as in a Swiss event.

One table in ten is drawn evenly from everybody: where neighbours meet only neighbours, nothing tells how long the ladder is.

Measured against a round robin at equal order (docs/tournaments.md): 21 to 34 of 100 games saved at 10 to 30 bots.
Whom a match is given to depends on what was known when it was made. So the tables that exist stand as they are, and only what is
missing to the number of open ones is drawn.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from math import erf, sqrt

import numpy as np

from league.pure.formats.base import Format, Outcome, Parameter, Size
from league.pure.formats.ranks import fitted, rank_by_strength
from league.pure.formats.sheet import REVISION, Field, Sheet, partners
from league.pure.formats.swiss import parted
from league.pure.rating.bradley_terry import GROUP_SD, Fit
from league.pure.refusal import translatable

FAR = 0.1  # of the tables are drawn evenly: 5 to 10% of all pairs are then far apart (docs/ratings.md, "Is it right?")
NEW = 48  # boards until an entry counts as placed: an error of about 50 Elo


def play(field: Field, sheet: Sheet) -> Outcome:
    """Seat the tables that exist; add new ones up to the number of open ones, while the budget lasts."""
    field = replace(field, revision=REVISION)  # what was drawn stands; what is missing is drawn by the present ratings
    boards: Counter[int] = Counter()
    for table in sheet.drawn:
        sheet.stand(table)
        boards.update(dict.fromkeys(table.entries, table.boards))
    active = [entry for entry in range(field.entries) if entry not in field.withdrawn]
    budget = field.number("budget")
    weights: _Weights | None = None
    while sheet.waiting < _open(field, len(active)):
        hungry = [entry for entry in active if not budget or boards[entry] < budget]
        if not hungry or len(active) < field.table:
            break
        weights = weights or _Weights(field, sheet)
        rng = random.Random(f"ladder\n{field.lot}\n{len(sheet.pairings)}")
        seated = weights.draw(rng, active, hungry, boards)
        sheet.seat(1, seated, field.boards)
        boards.update(dict.fromkeys(seated, field.boards))
    done = bool(budget) and not sheet.waiting and all(boards[entry] >= budget for entry in active)
    return Outcome(done, lambda: rank_by_strength(field, sheet), "budget" if done else "")


def _open(field: Field, active: int) -> int:
    return field.number("open") or max(1, active // field.table)


class _Weights:
    """What one more board between two entries would tell, from the fit of all boards so far."""

    def __init__(self, field: Field, sheet: Sheet) -> None:
        self.seats = field.table
        self.together = sheet.partnerships() if field.mixed else None
        self.head = field.flag("head")
        found = fitted(field, sheet)
        self.theta, self.sd = _everybody(found, field.entries)
        line = sorted(range(field.entries), key=lambda entry: (-self.theta[entry], entry))
        self.rank = {entry: place for place, entry in enumerate(line, 1)}
        self.open = Counter(
            entry for table in sheet.pairings if table.slot not in sheet.results for entry in table.entries
        )

    def draw(self, rng: random.Random, active: list[int], hungry: list[int], boards: Counter[int]) -> tuple[int, ...]:
        """Who sits at the next table."""
        fresh = [entry for entry in hungry if boards[entry] < NEW]
        if fresh:
            table = [min(fresh, key=lambda entry: (boards[entry], entry))]
        else:
            table = [_pick(rng, {entry: sum(self.weight(entry, o) for o in active if o != entry) for entry in hungry})]
        anybody = rng.random() < FAR
        while len(table) < self.seats:
            others = [entry for entry in active if entry not in table]
            near = {entry: 1.0 if anybody else sum(self.weight(entry, o) for o in table) for entry in others}
            table.append(_pick(rng, near))
        self.open.update(table)
        if self.together is None:
            return tuple(table)
        seated = parted(sorted(table, key=self.rank.__getitem__), self.together)
        self.together.update(partners(seated))
        return seated

    def weight(self, a: int, b: int) -> float:
        """P(wrong order) x the gain of one board, shared by the tables at which the two sit already and which are not over."""
        apart, sd = abs(self.theta[a] - self.theta[b]), self.sd[a][b]
        wrong = (1 - erf(apart / sd / sqrt(2))) / 2
        chance = 1 / (1 + np.exp(-apart))
        q = chance * (1 - chance)
        told = wrong * q * sd**2 / (1 + q * sd**2)
        head = min(self.rank[a], self.rank[b]) if self.head else 1
        return float(told / head / (1 + self.open[a] + self.open[b]))


def _everybody(found: Fit, entries: int) -> tuple[list[float], list[list[float]]]:
    """Strengths and standard deviations of differences; of one who has not played: what is believed of anybody."""
    place = {entry: i for i, entry in enumerate(found.bots)}
    sds = found.sd_of_differences() if len(found.bots) else np.zeros((0, 0))
    theta = [float(found.theta[place[entry]]) if entry in place else 0.0 for entry in range(entries)]
    unknown = GROUP_SD * sqrt(2)
    table = [
        [
            max(float(sds[place[a], place[b]]), 1e-6) if a in place and b in place and a != b else unknown
            for b in range(entries)
        ]
        for a in range(entries)
    ]
    return theta, table


def _pick(rng: random.Random, weights: dict[int, float]) -> int:
    """One key, drawn by weight. Only `Random.random` is used: the same in all versions of Python."""
    total = sum(weights.values())
    mark = rng.random() * total
    for entry, weight in weights.items():
        mark -= weight
        if mark < 0:
            return entry
    return next(reversed(weights))


def size(field: Field) -> Size:
    """Entries x budget / seats boards; without a budget it goes on until its owner ends it."""
    boards = -(-field.entries * field.number("budget") // field.table)
    matches = -(-boards // field.boards)
    return Size((matches, 2 * matches), (boards, 2 * matches * field.boards)) if boards else Size((0, 0), (0, 0))


FORMAT = Format(
    key="ladder",
    place=7,
    title=translatable("ladder"),
    sentence=translatable(
        "It goes on without an end: some matches are always open, chosen where they tell most, and bots may join and leave."
    ),
    rounds=False,
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="open",
            default=0,
            low=0,
            high=200,
            help=translatable("How many matches are open at a time. 0: as many as tables can be filled."),
        ),
        Parameter(
            name="budget",
            can_grow=True,
            default=0,
            low=0,
            high=1_000_000,
            help=translatable("Boards of each bot, then the ladder ends. 0: it goes on until you end it."),
        ),
        Parameter(
            name="head",
            default=False,
            help=translatable("Prefer the head of the table: it finds the best sooner and orders the rest later."),
        ),
    ),
    grows=True,
    eager=True,
)
