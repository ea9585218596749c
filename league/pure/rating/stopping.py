"""When is enough played? The chance of being the best, and who cannot be told from the best.

Measured (docs/tournaments.md): looked at once per cycle and stopped at .95, the declared best is the best one in 93 to 95 of 100
round robins. Near-ties never settle, hence a cap on the boards, and co-champions.
"""

from __future__ import annotations

import random
from statistics import NormalDist

import numpy as np

from league.pure.portable import comparable
from league.pure.rating.bradley_terry import Fit, Floats
from league.pure.rating.leaderboard import superiority

DRAWS = 1000
TIED = 0.95  # likelihood of superiority below which two are not told apart


def chances_of_best(found: Fit, lot: str = "", *, level: bool = True) -> dict[int, float]:
    """For each bot the chance that it is the strongest: its share of the largest in 1000 draws from N(theta, covariance).

    Drawn once with the robust and once with the modelled covariance (scaled by the dispersion); the smaller share counts, so that
    a bot which never lost a board, and so leaves no residuals, is not believed too soon. Only `random.random` is used, which
    Python promises to keep the same in all versions.

    `level` takes the one symmetric root of the covariance. Without it the draws go along the eigenvectors as this machine finds them:
    where bots are equal, another processor finds others.
    """
    count = len(found.bots)
    rng = random.Random(f"best\n{lot}")
    normal = NormalDist()
    noise = np.array([[normal.inv_cdf(rng.random() or 0.5) for _ in range(count)] for _ in range(DRAWS)])
    shares = [_shares(found.theta, matrix, noise, level) for matrix in (found.robust, found.dispersion * found.naive)]
    return {bot: float(min(share[i] for share in shares)) for i, bot in enumerate(found.bots)}


def _shares(theta: Floats, covariance: Floats, noise: Floats, level: bool) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = comparable(theta + noise @ (root @ vectors.T if level else root).T)
    shares: Floats = np.bincount(drawn.argmax(axis=1), minlength=len(theta)) / len(noise)
    return shares


def not_told_from_best(found: Fit) -> list[int]:
    """The best bot, and all over which its likelihood of superiority is below .95: the co-champions when no more is played."""
    best = int(comparable(found.theta).argmax())
    los = superiority(found)
    return [bot for i, bot in enumerate(found.bots) if i == best or los[best, i] < TIED]
