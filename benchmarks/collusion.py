"""False and true cases of collusion (league.domain.upkeep.cases) on simulated ladders, as Markdown.

    .venv/bin/python benchmarks/collusion.py [LEAGUES]

Forty owners have a bot each, of normal strengths (standard deviation 208 Elo). Bots play at the rhythm of a standing ladder against whoever is near,
and every pair has a style: the true difference shifts by a normal amount. In a second run, the bots of one pair of owners, who are near in strength,
collude: one throws a share of its boards to the other. The table is fitted from all boards, the thrown ones included.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.places import share
from league.pure.rating.collusion import PairRecord, surprise
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


def main(leagues: int) -> None:
    """Print the two tables."""
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


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["100"])[0]))
