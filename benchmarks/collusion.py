"""False and true cases of collusion (league.domain.upkeep.cases) on simulated ladders, as Markdown.

    .venv/bin/python benchmarks/collusion.py [LEAGUES [PAIRS]]

Forty owners have a bot each, of normal strengths (standard deviation 208 Elo). Bots play at the rhythm of a standing ladder against whoever is near,
and every pair has a style: the true difference shifts by a normal amount. In a second run, the bots of one pair of owners, who are near in strength,
collude: one throws a share of its boards to the other. The table is fitted from all boards, the thrown ones included.

A third run follows single pairs for a year and looks after every match, as the league does: at results, and from a small shortfall on at the points
that decisions of lost boards give away. Losses have the means and spreads that docs/search.md measured: an honest board like `counting`, a thrown
one like `random`. An honest board that is lost costs more points than one that is won, and the loss against one opponent differs from the usual one
by a normal amount.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.places import share
from engine.intervals import wilson
from league.pure.rating.collusion import LEAST_BOARDS, PairRecord, surprise, throwing
from league.pure.rating.leaderboard import ELO, Z95, fit_leaderboard
from league.pure.rating.tallies import tally_arrays

OWNERS = 40
SPREAD = 208.0
MEETINGS = 16  # Mean number of opponents.
LOSER, WINNER = 18, 19  # Neighbours in the order of strength.


def league(rng: Any, boards: int, style: float, thrown: float, together: int) -> tuple[int, bool]:
    """Play a league with a number of boards for each bot; return the number of cases of honest pairs, and True if the guilty pair is one.

    style: standard deviation in Elo; thrown: share of the boards that LOSER gives to WINNER; together: their boards, if they collude.
    """
    theta = np.sort(rng.normal(0, SPREAD / ELO, OWNERS))
    styles = np.triu(rng.normal(0, style / ELO, (OWNERS, OWNERS)), 1)
    styles -= styles.T
    first = np.repeat(np.arange(OWNERS), boards // 2)
    second = (first + rng.choice([-1, 1], len(first)) * rng.integers(1, MEETINGS // 2 + 1, len(first))) % OWNERS
    if thrown:
        first = np.concatenate([first, np.full(together, LOSER)])
        second = np.concatenate([second, np.full(together, WINNER)])
    won = rng.random(len(first)) < 1 / (1 + np.exp(theta[second] - theta[first] - styles[first, second]))
    guilty = (np.minimum(first, second) == LOSER) & (np.maximum(first, second) == WINNER)
    if thrown:
        won = np.where(guilty & (rng.random(len(first)) < thrown), first == WINNER, won)
    parties = np.stack([first, second], axis=1)
    rows = {
        row.bot: row
        for row in fit_leaderboard(tally_arrays(parties, np.stack([won, ~won], axis=1).astype(np.int64))).rows
    }
    met = np.zeros((2, OWNERS, OWNERS))
    np.add.at(met[0], (first, second), 1)
    np.add.at(met[1], (first, second), won)
    cases = set()
    for a in range(OWNERS):
        for b in range(OWNERS):
            count = int(met[0, a, b] + met[0, b, a])
            if a != b and count:
                points = float(met[1, a, b] + met[0, b, a] - met[1, b, a])
                sd = float(np.hypot(rows[a].margin, rows[b].margin) / Z95)
                if surprise([PairRecord(count, points, rows[a].elo, rows[b].elo, sd)]).makes_a_case:
                    cases.add((a, b))
    return len(cases - {(LOSER, WINNER)}), (LOSER, WINNER) in cases


EVIDENCE = 24  # Matches of each kind that the league analyses (league.domain.upkeep.cases).
MATCH = 8  # Boards of a match of a ladder.
HONEST, RANDOM = (
    (3.28, 1.86),
    (6.45, 2.74),
)  # Mean and standard deviation of the points that a decision gives away, over boards.
DECISIONS = 26  # Of a bot on a board.
LUCK = 0.5  # Correlation of the loss on a board with losing it.
STRENGTH = 40.0 / ELO  # Standard deviation of what the ratings miss: their error and the style of the pair.


def losses(rng: Any, latent: Any, usual: tuple[float, float]) -> Any:
    """Return the loss of a decision on boards: gamma variables with this mean and deviation, increasing in normal variables."""
    mean, deviation = usual
    shape = (mean / deviation) ** 2
    # Wilson and Hilferty: the cube root of a gamma variable is nearly normal.
    root = 1 - 1 / (9 * shape) + latent / (3 * np.sqrt(shape))
    return mean * np.maximum(root, 0) ** 3


def year_of(rng: Any, matches: int, style: float, thrown: float) -> tuple[bool, bool]:
    """Let a pair of equals play a year; return True if its results make a case, and if results or decisions do.

    style: how much the honest loss against one opponent differs, a share of the usual loss; thrown: the share of boards that are thrown.
    """
    boards = matches * MATCH
    latent = rng.normal(size=boards)
    is_thrown = rng.random(boards) < thrown
    luck = LUCK * latent + np.sqrt(1 - LUCK**2) * rng.normal(size=boards)
    won = (luck < rng.normal(0, STRENGTH) * 1.7 / np.sqrt(1.7**2 + 1)) & ~is_thrown
    honest = losses(rng, latent, HONEST) * max(0.0, 1 + style * rng.normal())
    lost = DECISIONS * np.where(is_thrown, losses(rng, latent, RANDOM), honest)
    for end in range(LEAST_BOARDS, boards + 1, MATCH):
        shortfall = surprise([PairRecord(end, float(won[:end].sum()), 1000, 1000, 25)])
        if shortfall.makes_a_case:
            return True, True
        if shortfall.is_watched:
            most = EVIDENCE * MATCH
            latent_there = rng.normal(size=most)
            is_lost = LUCK * latent_there + np.sqrt(1 - LUCK**2) * rng.normal(size=most) > 0
            elsewhere = DECISIONS * losses(rng, latent_there, HONEST)[is_lost]
            here = lost[max(0, end - most) : end][~won[max(0, end - most) : end]]
            result = throwing([([(value, DECISIONS) for value in here], [(value, DECISIONS) for value in elsewhere])])
            if result is not None and result.makes_a_case(shortfall.deviations):
                return False, True
    return False, False


def years(pairs: int, matches: int, style: float, thrown: float) -> Any:
    """Return how many of these pairs make a case in a year by results, and by results or decisions."""
    rng = np.random.default_rng([pairs, matches, int(100 * style), int(100 * thrown)])
    return np.sum([year_of(rng, matches, style, thrown) for _ in range(pairs)], axis=0)


def main(leagues: int, pairs: int) -> None:
    """Print the tables."""
    print(
        f"False cases, {leagues} leagues of {OWNERS} owners a row\n\n"
        "| boards a bot | styles differ by | leagues with a false case |\n| ---: | ---: | ---: |"
    )
    for boards in (300, 1800):
        for style in (0.0, 30.0, 60.0):
            rng = np.random.default_rng([boards, int(style)])
            false = sum(league(rng, boards, style, 0.0, 0)[0] > 0 for _ in range(leagues))
            print(f"| {boards} | {style:.0f} Elo | {share(false / leagues, leagues)} |", flush=True)
    print(
        "\nThe guilty pair is found, 1,800 boards a bot, styles 30 Elo\n\n| boards together | half thrown | all thrown |\n| ---: | ---: | ---: |"
    )
    for together in (0, 64, 128):
        cells = []
        for thrown in (0.5, 1.0):
            rng = np.random.default_rng([together, int(10 * thrown)])
            cells.append(
                share(sum(league(rng, 1800, 30.0, thrown, together)[1] for _ in range(leagues)) / leagues, leagues)
            )
        print(f"| about 110 and {together} more | {' | '.join(cells)} |", flush=True)

    print(
        f"\nFalse cases of 1,000 pairs of owners in a year, {pairs} pairs a row, losses differ by 10% of the usual loss\n\n"
        "| boards together | by results | and by decisions | the same, losses differ by 20% |\n| ---: | ---: | ---: | ---: |"
    )
    for matches in (14, 50):
        (first, both), (_, more) = years(pairs, matches, 0.1, 0.0), years(pairs, matches, 0.2, 0.0)
        cells = [per_thousand(n, pairs) for n in (first, both, more)]
        print(f"| {matches * MATCH} | {' | '.join(cells)} |", flush=True)
    some = max(20, pairs // 20)
    print(
        f"\nGuilty pairs found in a year, by results / by results or decisions, {some} pairs a cell\n\n"
        "| boards together | a quarter thrown | half thrown | all thrown |\n| ---: | ---: | ---: | ---: |"
    )
    for matches in (8, 14, 25, 50):
        rows = [years(some, matches, 0.1, thrown) for thrown in (0.25, 0.5, 1.0)]
        print(f"| {matches * MATCH} | {' | '.join(f'{a / some:.0%} / {b / some:.0%}' for a, b in rows)} |", flush=True)


def per_thousand(count: int, pairs: int) -> str:
    """Format a number of cases as a rate of 1,000 pairs, with its 95% interval."""
    low, high = wilson(count / pairs, pairs)
    return f"{1000 * count / pairs:.1f} ({1000 * low:.1f} to {1000 * high:.1f})"


if __name__ == "__main__":
    main(*map(int, [*sys.argv[1:], *["100", "2000"][len(sys.argv) - 1 :]]))
