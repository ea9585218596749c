"""The ratings of a large pool: what a match costs there, as multiples of a floor of the same run, and how soon its effect is visible, as Markdown.

    .venv/bin/python benchmarks/ratings.py [fits] [visible] [BOTS] [BOARDS]

Without an argument it runs both parts, for 2,000 and 10,000 bots with 100 boards each.

fits: CPU seconds on one thread. Opponents have similar strength, but one board in ten is between any two bots. The floor is one numpy pass over all
boards. visible: on PostgreSQL, threads count, fit and rank a pool of 10,000 bots (100 boards each) like those of the scheduler. Two other threads
report matches at a steady pace. From the commit of a report on, they look every 5 ms until it is counted and the rows of its bots are written.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # One core: the limits are meant for one.

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.league import cpu, floor, on_postgres, row
from league.pure.rating.bradley_terry import REVISION, fit
from league.pure.rating.leaderboard import BASE, ELO, fit_elo, fit_leaderboard
from league.pure.rating.local import estimate
from league.pure.rating.sketch import fit_large
from league.pure.rating.tallies import Ints, Tallies, around, tally_arrays

PAIRS = 40  # Mean number of opponents of a bot: bots meet in matches, not on single boards.
# Most bots for which the exact standard errors are computed as well, once: this takes half a minute and grows with the
# cube.
EXACT = 2000
MOVED = 0.05  # In Elo; see league.domain.ratings.refits.
MATCHES, PACE_S = 60, 0.5  # Number of reports of each of two workers, and seconds between two reports.
LOOK_S = 0.02  # Interval of the counting thread; the scheduler has hints instead.


def pool(bots: int, boards: int) -> tuple[Ints, Ints]:
    """Return (boards, 2) ids and scores."""
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


def matches(parties: Ints, count: int) -> Iterator[Tallies]:
    """Draw matches of 16 boards between two bots that have met before."""
    rng = np.random.default_rng(2)
    for pair in parties[rng.integers(0, len(parties), count)]:
        won = rng.random(16) < 0.5
        yield tally_arrays(np.tile(pair, (16, 1)), np.stack([won, ~won], axis=1).astype(np.int64))


def fits(bots: int, boards: int) -> None:
    """Measure the fits and print the table."""
    parties, scores = pool(bots, boards)
    base = cpu(floor(parties), 5)
    sums = tally_arrays(parties, scores)
    print(
        f"\n{bots} bots, {boards} boards, {len(sums.sides[1])} pairs\n\n| what | CPU seconds | times the floor | limit |"
    )
    print("| --- | ---: | ---: | --- |")
    match = next(matches(parties, 1))
    row("a match added to the sums", cpu(lambda: sums + match, 3), None, base)
    elo = fit_elo(sums)
    local(sums, list(matches(parties, 12)), elo, base)
    after = sums + match
    start = {bot: (rating - BASE) / ELO for bot, rating in elo.items()}
    row("cold fit", cpu(lambda: fit_large(sums, errors=False), 3), None, base)
    row("warm fit after a match", cpu(lambda: fit_elo(after, start=elo), 5), 0.2, base)
    row("with standard errors", cpu(lambda: fit_large(after, start=start), 1), None, base)
    row("and ranks, superiority: the table", cpu(lambda: fit_leaderboard(after, start=start), 1), 5, base)
    counts = []
    for count in (1, 10, 100):
        more = sum(matches(parties, count), sums)
        now = fit_elo(more, start=elo)
        counts.append(f"{count}: {sum(abs(now[bot] - rating) > MOVED for bot, rating in elo.items())}")
    print(f"\nRows that a fit of all writes after so many matches: {', '.join(counts)}.", flush=True)
    if bots <= EXACT:
        exact, estimate = fit(sums), fit_large(sums)
        line = np.argsort(-exact.theta)
        of_mean = estimate.sd_from_mean(np.ones(bots)) / exact.sd_from_mean(np.ones(bots)) - 1
        of_next = estimate.sd_of_pairs(line[:-1], line[1:]) / exact.sd_of_differences()[line[:-1], line[1:]] - 1
        far = ", ".join(
            f"{name} {np.quantile(np.abs(off), 0.99):.1%}" for name, off in (("rows", of_mean), ("neighbours", of_next))
        )
        print(
            f"Standard errors beside the exact ones, p99: {far}. Strengths: {ELO * np.abs(estimate.theta - exact.theta).max():.1e} Elo."
        )


def local(sums: Tallies, played: list[Tallies], elo: dict[int, float], base: float) -> None:
    """Measure the estimate of the two players of a match, and its distance from the fit of the whole pool."""
    around([sums], [0])  # From the first match on, the columns of the cached sums lie together.
    off = []

    def estimates_after(match: Tallies) -> dict[int, Any]:
        movers = match.ids.tolist()
        near = around([sums, match], movers)
        return estimate(near, movers, {bot: elo[bot] for bot in near.ids.tolist()})

    seconds = cpu(lambda: [estimates_after(match) for match in played], 3) / len(played)
    for match in played:
        true = fit_elo(sums + match, start=elo)
        off += [abs(local_fit.elo - true[bot]) for bot, local_fit in estimates_after(match).items()]
    row("who played, estimated", seconds, 0.005, base)
    print(f"| (at most {max(off):.2f} Elo off the fit of all, in {len(played)} matches) | | | |")


def fill(bots: int) -> tuple[Any, Ints]:
    """Fill the pool; return it, and the versions of its boards, shape (boards, 2)."""
    from django.db import transaction
    from django.utils import timezone

    from league.domain.people import players
    from league.domain.ratings import pools, refits, totals
    from league.models import Bot, BotVersion, Pool
    from tests.support.league import accepted

    parties, scores = pool(bots, 100 * bots)
    the_pool = pools.pool("partnership")
    Pool.objects.filter(pk=the_pool.pk).update(ratings_revision=REVISION)
    first = accepted(players.create("owner"), "first")
    new_bots = Bot.objects.bulk_create(
        (Bot(owner=first.bot.owner, slug=f"bot-{n}", created=first.created) for n in range(bots)), 2000
    )
    versions = BotVersion.objects.bulk_create(
        (BotVersion(bot=bot, number=1, package=first.package, created=first.created) for bot in new_bots), 2000
    )
    met = np.array([version.pk for version in versions], dtype=np.int64)[parties]
    with transaction.atomic():
        totals.write_stored(the_pool, tally_arrays(met, scores), matches=0, now=timezone.now(), settled=False)
    refits.rank(the_pool, now=timezone.now())
    return the_pool, met


def report(the_pool: Any, pair: list[int], name: str, rng: np.random.Generator) -> float:
    """Store a finished match of 16 boards. Return the seconds from its commit until it is counted and both rows are written."""
    from django.db import transaction
    from django.utils import timezone

    from league.models import Board, Match, Party
    from tests.support.league import SECRET

    with transaction.atomic():
        now = timezone.now()
        match = Match.objects.create(
            key=name, public_id=name, kind="tournament", pool=the_pool, status="finished", secret=SECRET, boards_planned=16,
            created=now, finished=now,
        )  # fmt: skip
        Party.objects.bulk_create(Party(match=match, number=number, version_id=pk) for number, pk in enumerate(pair))
        won = rng.random(16) < 0.5
        boards = [
            Board(match=match, number=n, scores=[int(first_won), int(not first_won)])
            for n, first_won in enumerate(won, 1)
        ]
        Board.objects.bulk_create(boards)
    began = time.perf_counter()
    # The rows of the bots are written in the transaction that marks the match as counted.
    while Match.objects.filter(pk=match.pk, counted=None).exists():
        time.sleep(0.005)
    return time.perf_counter() - began


def visible() -> None:
    """Measure the time from the commit of a report to the changed rows."""
    from django.db import connection

    from league.domain.ratings import refits

    bots = int(os.environ.get("BOTS", "10000"))
    the_pool, met = fill(bots)
    refits.keep_pools_as("benchmark")
    waits: list[float] = []
    ran = {"fits": 0, "tables": 0}
    over = threading.Event()

    def work(number: int) -> None:
        rng = np.random.default_rng([7, number])
        for turn in range(MATCHES):
            time.sleep(PACE_S)
            pair = met[rng.integers(0, len(met))].tolist()
            waits.append(report(the_pool, pair, f"m{number}-{turn}", rng))
        connection.close()

    def keep(turn: Any, every: float) -> None:
        while not over.wait(every):
            turn()
        connection.close()

    def fit_all() -> None:
        ran["fits"] += refits.fit_due()

    def rank_all() -> None:
        ran["tables"] += refits.rank_due()

    loops = [(lambda: refits.count_new(the_pool), LOOK_S), (fit_all, 1.0), (rank_all, 1.0)]
    threads = [threading.Thread(target=keep, args=loop) for loop in loops]
    workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    run(threads, workers, over)
    print_visible(bots, waits, f"{ran['fits']} fits and {ran['tables']} tables meanwhile")


def run(threads: list[threading.Thread], workers: list[threading.Thread], over: threading.Event) -> None:
    """Run all threads until the workers have finished."""
    for thread in threads + workers:
        thread.start()
    for thread in workers:
        thread.join()
    over.set()
    for thread in threads:
        thread.join()


def print_visible(bots: int, waits: list[float], meanwhile: str) -> None:
    """Print the row of the table. waits: the seconds of each report."""
    cut = quantiles(waits, n=100)
    verdict = "held" if cut[98] < 1 else "MISSED"
    print(f"\n| {len(waits)} reports of two workers into a pool of {bots} bots | p50 | p99 | longest | limit |")
    print("| --- | ---: | ---: | ---: | --- |")
    print(
        f"| s from commit to changed rows; {meanwhile} | {cut[49]:.3f} | {cut[98]:.3f} | {max(waits):.3f} | 1 s: {verdict} |"
    )


def main(words: list[str]) -> None:
    """Run the requested parts."""
    parts = [word for word in words if not word.isdigit()] or ["fits", "visible"]
    numbers = [int(word) for word in words if word.isdigit()]
    if "fits" in parts:
        sizes = (
            [(numbers[0], (numbers[1:] or [100 * numbers[0]])[0])]
            if numbers
            else [(2000, 200_000), (10_000, 1_000_000)]
        )
        for bots, boards in sizes:
            fits(bots, boards)
    if "visible" in parts:
        if numbers:
            os.environ["BOTS"] = str(numbers[0])
        on_postgres("visible", "ratings")


if __name__ == "__main__":
    main(sys.argv[1:])
