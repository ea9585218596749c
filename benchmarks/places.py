"""A simulation of an owner who stops when lucky: how often they come first among equals, and how soon a better version does, as Markdown.

    .venv/bin/python benchmarks/places.py [LEAGUES]

Thirty equal bots play at the rhythm of a standing ladder (`rest_s`). One owner cheats with the calendar: as soon as one of their versions leads, they
switch the bot off and keep that place; a version that does not do well is replaced by the next upload, up to the number of uploads. Rivals upload
once, or as often as the cheat at fixed times. A fair share is 1 in 30.

"model": a rating is that of a bot against a field whose strengths are known, many leagues. "sees all": an owner who knew the future and chose the
best moment of all; nobody can do better. "fit": the same by the fit of the leaderboard from every board, fewer leagues.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.intervals import wilson
from league.pure.pairing.standing import REST_S
from league.pure.pairing.telling import NEW
from league.pure.rating.leaderboard import CERTAIN, ELO, Z95, fit_leaderboard
from league.pure.rating.tallies import NOTHING, tally_arrays

BOTS = 30
LOOKS = 60  # Times at which the cheat looks at the table.
UPLOADS = (1, 5, 20)
DAYS = (1, 7, 30)
DAY_S = 86_400.0
PROMISING = 1.0  # The cheat keeps a version that is better than expected by this many standard deviations.
FULL = 100  # Leagues that are fitted from every board.


def boards_after(days: float) -> int:
    """Return the boards of a bot after some days on a ladder."""
    return int(np.sqrt(NEW**2 + 2 * 8 * NEW * days * DAY_S / REST_S)) // 8 * 8


def rate(wins: Any, boards: Any) -> tuple[Any, Any]:
    """Return Elo, less the mean of the field, and margin after these wins; one even board keeps them finite."""
    p = (wins + 0.5) / (boards + 1)
    return ELO * np.log(p / (1 - p)), Z95 * ELO / np.sqrt((boards + 1) * p * (1 - p))


def value(wins: Any, boards: Any, margins: float) -> Any:
    """Return Elo less a number of margins."""
    elo, margin = rate(wins, boards)
    return elo - margins * margin


class Model:
    """Many leagues at once, each with BOTS - 1 rivals and a cheat."""

    def __init__(self, leagues: int, days: float, uploads: int, rival_uploads: int, margins: float) -> None:
        self.rng = np.random.default_rng([leagues, int(days), uploads, rival_uploads])
        self.leagues, self.uploads, self.margins = leagues, uploads, margins
        self.boards = [boards_after(days * (look + 1) / LOOKS) for look in range(LOOKS)]
        self.newest = not margins  # The order of old: by the Elo of the newest version.
        self.best_rival = self._rivals(rival_uploads)

    def _rivals(self, uploads: int) -> Any:
        """Return (LOOKS, leagues) the value of the best rival at each look."""
        shape = (self.leagues, BOTS - 1)
        best, wins, boards = np.full(shape, -np.inf), np.zeros(shape), 0
        values, age = [], 0
        for look in range(LOOKS):
            if look and uploads > 1 and look % (LOOKS // uploads) == 0:
                best = best if self.newest else np.maximum(best, value(wins, boards, self.margins))
                wins, boards, age = np.zeros(shape), 0, 0
            wins = wins + self.rng.binomial(self.boards[age] - boards, 0.5, shape)
            boards, age = self.boards[age], age + 1
            values.append(np.maximum(best, value(wins, boards, self.margins)).max(axis=1))
        return np.array(values)

    def stopper(self) -> float:
        """Return how often the cheat is first at the end."""
        best, wins = np.full(self.leagues, -np.inf), np.zeros(self.leagues)
        boards, age, used = (np.zeros(self.leagues, dtype=int) for _ in range(3))
        off = np.zeros(self.leagues, dtype=bool)
        rhythm = np.array(self.boards)
        for look in range(LOOKS):
            more = np.where(off, 0, rhythm[age] - boards)
            wins, boards, age = wins + self.rng.binomial(more, 0.5), boards + more, np.minimum(age + 1, LOOKS - 1)
            here = value(wins, boards, self.margins)
            best = here if self.newest else np.maximum(best, here)
            off |= best > self.best_rival[look]
            poor = (wins - boards / 2) / np.sqrt(boards / 4) < PROMISING
            again = ~off & poor & (used + 1 < self.uploads) & (age >= max(1, LOOKS // self.uploads))
            used = used + again
            wins, boards, age = np.where(again, 0, wins), np.where(again, 0, boards), np.where(again, 0, age)
        return float((best > self.best_rival[-1]).mean())

    def patient(self) -> float:
        """Return how often an honest owner is first who uploads once and goes on playing."""
        wins = self.rng.binomial(self.boards[-1], 0.5, self.leagues)
        return float((value(wins, self.boards[-1], self.margins) > self.best_rival[-1]).mean())

    def sees_all(self) -> float:
        """Return how often the best moment of any version, of equally long lives, beats the rivals at the end."""
        best, boards = np.full(self.leagues, -np.inf), np.arange(8, self.boards[LOOKS // self.uploads - 1] + 1, 8)
        for _ in range(self.uploads):
            wins = self.rng.binomial(8, 0.5, (self.leagues, len(boards))).cumsum(axis=1)
            best = np.maximum(best, value(wins, boards, self.margins).max(axis=1))
        return float((best > self.best_rival[-1]).mean())


def fitted(leagues: int, days: float, uploads: int) -> float:
    """Return how often the cheat is first by the fit of the leaderboard, against rivals that upload once."""
    rng = np.random.default_rng(3)
    rhythm = [boards_after(days * (look + 1) / LOOKS) for look in range(LOOKS)]
    return sum(_fit_league(rng, rhythm, uploads) for _ in range(leagues)) / leagues


def _fit_league(rng: Any, rhythm: list[int], uploads: int) -> bool:
    sums, version, age, boards, wins, off, leads = NOTHING, BOTS - 1, 0, 0, 0, False, False
    for look, total in enumerate(rhythm):
        first = np.repeat(np.arange(BOTS - 1), (total - (rhythm[look - 1] if look else 0)) // 2)
        parties = np.stack([first, (first + rng.integers(1, BOTS - 1, len(first))) % (BOTS - 1)], axis=1)
        if not off:
            own = np.stack(
                [np.full(rhythm[age] - boards, version), rng.integers(0, BOTS - 1, rhythm[age] - boards)], axis=1
            )
            parties, boards, age = np.concatenate([parties, own]), rhythm[age], age + 1
        won = rng.random(len(parties)) < 0.5
        wins += int(won[parties[:, 0] == version].sum())
        sums = sums + tally_arrays(parties, np.stack([won, ~won], axis=1).astype(np.int64))
        rows = fit_leaderboard(sums).rows
        leads = rows[0].bot >= BOTS - 1  # Any of the cheat's versions: the bot stands where its best version stands.
        off |= leads
        poor = (wins - boards / 2) / np.sqrt(boards / 4) < PROMISING
        if not off and poor and version + 1 < BOTS - 1 + uploads and age >= max(1, LOOKS // uploads):
            version, age, boards, wins = version + 1, 0, 0, 0
    return leads


def share(chance: float, leagues: int) -> str:
    """Format a share with its 95% interval, in percent."""
    low, high = wilson(chance, leagues)
    return f"{chance:.1%} ({low:.1%} to {high:.1%})"


def rise(better: float, days: float, leagues: int = 2000) -> int:
    """Return after how many boards a version stronger by `better` Elo leads in half of the leagues, against equals after some days."""
    model = Model(leagues, days, 1, 1, CERTAIN)
    boards = np.arange(8, 4001, 8)
    wins = model.rng.binomial(8, 1 / (1 + np.exp(-better / ELO)), (leagues, len(boards))).cumsum(axis=1)
    leads = (value(wins, boards, CERTAIN) > model.best_rival[-1][:, None]).mean(axis=0)
    return int(boards[np.argmax(leads >= 0.5)])


def main(leagues: int) -> None:
    """Print the tables."""
    print(
        f"First among {BOTS} equals, {leagues} leagues a cell, with 95% intervals. Fair share {1 / BOTS:.1%}, limit {1.5 / BOTS:.1%}.\n"
    )
    print(
        "| order | rivals upload | days | "
        + " | ".join(f"{n} uploads" for n in UPLOADS)
        + " |\n| --- | --- | ---: |"
        + " ---: |" * len(UPLOADS)
    )
    for margins, name in (
        (0.0, "Elo of the newest version (before)"),
        (CERTAIN, f"Elo less {CERTAIN} margins, best version"),
    ):
        for rivals in ("once", "as often"):
            for days in DAYS:
                cells = [
                    share(Model(leagues, days, n, n if rivals == "as often" else 1, margins).stopper(), leagues)
                    for n in UPLOADS
                ]
                print(f"| {name} | {rivals} | {days} | {' | '.join(cells)} |", flush=True)
    for days in DAYS:
        cells = [share(Model(leagues, days, 1, n, CERTAIN).patient(), leagues) for n in UPLOADS]
        print(f"| the same, an honest owner who uploads once | that often | {days} | {' | '.join(cells)} |", flush=True)
    for days in DAYS:
        cells = [share(Model(leagues, days, n, 1, CERTAIN).sees_all(), leagues) for n in UPLOADS]
        print(f"| the same, an owner who sees all | once | {days} | {' | '.join(cells)} |", flush=True)
    cells = [share(fitted(FULL, 7, n), FULL) for n in UPLOADS]
    print(f"| the same, fitted from every board ({FULL} leagues) | once | 7 | {' | '.join(cells)} |")
    print("\n| better by | boards until it leads in half of the leagues, after 1, 7, 30 days |\n| ---: | --- |")
    for better in (30.0, 50.0, 100.0):
        print(f"| {better:.0f} Elo | {', '.join(str(rise(better, days)) for days in DAYS)} |", flush=True)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["4000"])[0]))
