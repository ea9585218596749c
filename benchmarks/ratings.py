"""The ratings of a large pool: what a match costs there, as ratios to a floor of the same run, as Markdown.

    .venv/bin/python benchmarks/ratings.py [BOTS=10000] [BOARDS=1000000]

CPU seconds on one thread. Opponents are of like strength, one board in ten is between any two. The floor is one look of numpy at every board.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core, as the limits are meant

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.league import cpu, floor, row
from league.pure.rating.leaderboard import fit_leaderboard
from league.pure.rating.sketch import fit_large
from league.pure.rating.tallies import Ints, tally_arrays

PAIRS = 40  # that a bot meets, in the mean: bots meet in matches, not on single boards


def pool(bots: int, boards: int) -> tuple[Ints, Ints]:
    """(boards, 2) ids and scores."""
    rng = np.random.default_rng(1)
    theta = np.sort(rng.normal(0, 0.8, bots))
    first = rng.integers(0, bots, bots * PAIRS)
    second = np.clip(first + np.rint(rng.normal(0, 0.03 * bots, len(first))).astype(int), 0, bots - 1)
    far = rng.random(len(first)) < 0.1
    second[far] = rng.integers(0, bots, far.sum())
    met = np.stack([first, second], axis=1)[first != second]
    parties = met[rng.integers(0, len(met), boards)].astype(np.int64)
    scores = theta[parties] + rng.gumbel(size=parties.shape)
    return parties, scores.argsort(axis=1).astype(np.int64)


def main(bots: int, boards: int) -> None:
    """Print the table."""
    parties, scores = pool(bots, boards)
    base = cpu(floor(parties), 5)
    sums = tally_arrays(parties, scores)
    match = tally_arrays(parties[:16], scores[:16])
    print(
        f"{bots} bots, {boards} boards, {len(sums.sides[1])} pairs\n\n| what | CPU seconds | times the floor | limit |"
    )
    print("| --- | ---: | ---: | --- |")
    row("a match added to the sums", cpu(lambda: sums + match, 3), None, base)
    found = fit_large(sums, errors=False)
    start = dict(zip(found.bots, found.theta.tolist(), strict=True))
    after = sums + match
    row("cold fit", cpu(lambda: fit_large(sums, errors=False), 3), None, base)
    row("warm fit after a match", cpu(lambda: fit_large(after, start=start, errors=False), 3), 0.2, base)
    row("with standard errors", cpu(lambda: fit_large(after, start=start), 1), None, base)
    row("and ranks, superiority: the table", cpu(lambda: fit_leaderboard(after, start=start), 1), 5, base)


if __name__ == "__main__":
    main(*(int(word) for word in (*sys.argv[1:], *("10000", "1000000")[len(sys.argv) - 1 :])))
