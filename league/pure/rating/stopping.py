"""Early stopping: the chance of being the best, and the entries that cannot be distinguished from the best.

Measured (docs/tournaments.md): if a round robin is checked once per cycle and stopped at .95, the declared winner is the best bot in 93 to 95 of
100 cases. Near-ties are never decided, hence a cap on the boards, and co-champions.
"""

from __future__ import annotations

import random
from statistics import NormalDist

import numpy as np

from league.pure.portable import comparable
from league.pure.rating.bradley_terry import Fit, Floats
from league.pure.rating.leaderboard import superiority

DRAWS = 1000
TIED = 0.95  # Two bots with a likelihood of superiority below this cannot be distinguished.


def chances_of_best(fitted: Fit, lot: str = "", *, level: bool = True) -> dict[int, float]:
    """Return for each bot the chance that it is the strongest: how often it is the largest in DRAWS draws from N(theta, covariance).

    The chance is computed with the robust and with the modelled covariance (scaled by the dispersion), and the smaller value counts, because a bot
    that never lost a board leaves no residuals and would be declared the best too early. Only `random.random` is used, which Python promises not to
    change.

    `level` uses the symmetric root of the covariance, which is unique. Without it the draws follow the eigenvectors of this machine, and for equal
    bots another processor finds different eigenvectors.
    """
    count = len(fitted.bots)
    rng = random.Random(f"best\n{lot}")
    normal = NormalDist()
    noise = np.array([[normal.inv_cdf(rng.random() or 0.5) for _ in range(count)] for _ in range(DRAWS)])
    shares = [
        _shares(fitted.theta, matrix, noise, level) for matrix in (fitted.robust, fitted.dispersion * fitted.naive)
    ]
    return {bot: float(min(share[i] for share in shares)) for i, bot in enumerate(fitted.bots)}


def _shares(theta: Floats, covariance: Floats, noise: Floats, level: bool) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = comparable(theta + noise @ (root @ vectors.T if level else root).T)
    shares: Floats = np.bincount(drawn.argmax(axis=1), minlength=len(theta)) / len(noise)
    return shares


def co_champions(fitted: Fit) -> list[int]:
    """Return the co-champions at the cap: the best bot, and all bots to which it is not superior with likelihood .95."""
    best = int(comparable(fitted.theta).argmax())
    los = superiority(fitted)
    return [bot for i, bot in enumerate(fitted.bots) if i == best or los[best, i] < TIED]
