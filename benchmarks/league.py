"""Measure how the league scales: fits, refits, creating a large tournament, transactions of a match. Print limits and ratios as Markdown.

    .venv/bin/python benchmarks/league.py [fits] [tournament] [match] [claims] [workers]        all parts without an argument

Fits are measured in CPU seconds on one thread, the median of several, and as a multiple of a floor of the same run: one numpy pass over the same
boards, the gather and the logistic that every fit needs at least once. The other parts use a PostgreSQL server of the test tools.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # One core: the limits are meant for one.

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from league.pure.rating.bradley_terry import fit  # noqa: E402
from league.pure.rating.leaderboard import BASE, ELO, fit_leaderboard  # noqa: E402
from league.pure.rating.tallies import Ints, Tallies, load, tally_arrays  # noqa: E402

PARTS = ("fits", "tournament", "match", "claims", "workers")


def cpu(work: Callable[[], object], rounds: int) -> float:
    """Return the median CPU seconds of `rounds` calls."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return median(times)


def boards(bots: int, count: int, seats: int, seed: int = 1) -> tuple[Ints, Ints]:
    """Draw boards that follow the model: (count, seats) ids and scores."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 0.6, bots)
    parties = (
        np.argsort(rng.random((count, bots)), axis=1)[:, :seats]
        if bots < 50
        else _draw_distinct(rng, bots, count, seats)
    )
    noise = rng.gumbel(size=parties.shape)
    return parties.astype(np.int64), np.argsort(np.argsort(theta[parties] + noise, axis=1), axis=1).astype(np.int64)


def _draw_distinct(rng: np.random.Generator, bots: int, count: int, seats: int) -> Ints:
    """Draw different bots for each table: draw again where a bot sits twice."""
    parties: Ints = rng.integers(0, bots, (count, seats))
    while True:
        ordered = np.sort(parties, axis=1)
        bad = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not bad.any():
            return parties
        parties[bad] = rng.integers(0, bots, (int(bad.sum()), seats))


def floor(parties: Ints) -> Callable[[], object]:
    """Return the floor: a function that looks at every board once, gathers the strengths of two seats and takes their logistic."""
    theta = np.random.default_rng(0).normal(size=int(parties.max()) + 1)
    return lambda: 1 / (1 + np.exp(theta[parties[:, 0]] - theta[parties[:, 1]]))


def row(what: str, seconds: float, limit: float | None, base: float | None = None) -> None:
    """Print one row of the table."""
    ratio = "" if base is None else f"{seconds / base:.0f}"
    verdict = "" if limit is None else f"{limit:g} s: {'held' if seconds < limit else 'MISSED'}"
    print(f"| {what} | {seconds:.4f} | {ratio} | {verdict} |", flush=True)


def fits() -> None:
    """Measure cold fits of the largest pools, and refits after a match."""
    print("| what | CPU seconds | times the floor | limit |\n| --- | ---: | ---: | --- |")
    for seats, limit in ((2, 1.0), (4, 15.0)):
        parties, scores = boards(1000, 1_000_000, seats)
        base = cpu(floor(parties), 5)
        name = f"1,000 bots, 1,000,000 boards of {seats} parties"
        row(f"{name}: sums", cpu(lambda p=parties, s=scores: tally_arrays(p, s), 3), None, base)
        sums = tally_arrays(parties, scores)
        row(f"{name}: cold fit of the sums", cpu(lambda t=sums: fit(t), 3), None, base)
        row(f"{name}: both", cpu(lambda p=parties, s=scores: fit(tally_arrays(p, s)), 3), limit, base)
        row(
            f"{name}: both, and the table",
            cpu(lambda p=parties, s=scores: fit_leaderboard(tally_arrays(p, s)), 1),
            None,
            base,
        )
    for bots in (30, 100):
        row(f"{bots} bots: refit after a match", _refit(bots), 0.01 if bots == 100 else None)
        row(f"{bots} bots: kept sums read, match added, refit, table, sums written", _round(bots), None)


def _season(bots: int) -> tuple[Tallies, Tallies]:
    """Return the sums of a double round robin of 16 boards per match, and those of one more match."""
    parties, scores = boards(bots, bots * (bots - 1) * 16, 2)
    return tally_arrays(parties, scores), tally_arrays(parties[:16, :].copy(), scores[:16])


def _refit(bots: int) -> float:
    season, match = _season(bots)
    start = dict(zip(season.ids.tolist(), fit(season).theta.tolist(), strict=True))
    after = season + match
    return cpu(lambda: fit(after, start=start), 60)


def _round(bots: int) -> float:
    season, match = _season(bots)
    stored = season.dump()
    start = {r.bot: (r.elo - BASE) / ELO for r in fit_leaderboard(season).rows}

    def work() -> None:
        after = load(stored) + match
        fit_leaderboard(after, start=start)
        after.dump()

    return cpu(work, 60)


def on_postgres(program: str, file: str = "league") -> None:
    """Run a function of a file of this folder against a new PostgreSQL database."""
    from tests.support.postgres import PostgresServer

    server = PostgresServer(durable=True)
    try:
        environment = {
            **os.environ,
            "DATABASE_URL": server.create_database(),
            "SECRET_KEY": "only for this benchmark",
            "MAX_ENTRIES": "256",
            "UPLOADS_PER_HOUR": "1000",
            "LOG_LEVEL": "ERROR",
            "DJANGO_SETTINGS_MODULE": "league.settings",
        }
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True
        )
        code = f"import django; django.setup(); from benchmarks import {file}; {file}.{program}()"
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
    finally:
        server.close()


class Counted:
    """Counts statements. Django's own list writes out each statement, which takes longer than sending it."""

    times = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        """Count one statement and run it."""
        self.times += 1
        return execute(*arguments)


def tournament() -> None:
    """Create a round robin of 200 bots and read its tables."""
    from django.db import connection

    from league.domain.people import players
    from league.domain.ratings import leaderboards
    from league.domain.tournaments import standings, tournaments
    from tests.support.league import SECRET, accepted

    owners = [players.create(f"player-{i}") for i in range(2)]
    versions = [accepted(owners[i % 2], f"bot-{i}", games=("partnership",)) for i in range(200)]
    print("| what | seconds | queries | limit |\n| --- | ---: | ---: | --- |")
    for size, limit in ((50, None), (100, None), (200, 10.0)):
        began, used = time.perf_counter(), time.process_time()
        with connection.execute_wrapper(entering := Counted()):
            cup = tournaments.create(
                owners[0], f"{size}", "partnership", boards=16, versions=versions[:size], secret=SECRET
            )
        entered = time.perf_counter() - began
        began = time.perf_counter()
        with connection.execute_wrapper(started := Counted()):
            tournaments.start(cup)
        took, own_cpu = time.perf_counter() - began, time.process_time() - used
        verdict = "" if limit is None else f"{limit:g} s: {'held' if took < limit else 'MISSED'}"
        print(f"| {size} bots entered | {entered:.2f} | {entering.times} | |")
        print(
            f"| their {cup.matches.count()} matches | {took:.2f} (CPU here, entries too: {own_cpu:.2f}) | {started.times} | {verdict} |",
            flush=True,
        )
        for name, look in (
            ("standings", lambda c=cup: standings.standings(c)),
            ("leaderboard", lambda c=cup: leaderboards.leaderboard(c.pool)),
        ):
            began = time.perf_counter()
            with connection.execute_wrapper(read := Counted()):
                look()
            print(f"| {name} of it | {time.perf_counter() - began:.2f} | {read.times} | |")


def match() -> None:
    """Measure what one match costs the database: transactions, statements, time."""
    import psycopg
    from django.db import connection, transaction
    from django.test.utils import CaptureQueriesContext

    from benchmarks.queueing import address
    from league.domain.core import clock, queue
    from league.domain.matches import leases, reports, workers
    from league.domain.people import players
    from league.domain.ratings import ratings
    from league.domain.upkeep import reconcile
    from tests.support.league import accepted, result, started

    def commits() -> int:
        with psycopg.connect(address()) as link:
            link.execute("SELECT pg_stat_clear_snapshot()")
            answer = link.execute(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
            ).fetchone()
        assert answer
        return int(answer[0])

    owners = [players.create(f"player-{i}") for i in range(2)]
    versions = [accepted(owners[i % 2], f"bot-{i}", games=("partnership",)) for i in range(24)]
    cup = started(owners[0], versions, boards=16)
    workers.register("w1", tier="landlock")
    steps: dict[str, list[tuple[float, int]]] = {}

    def timed(name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        began = time.perf_counter()
        with CaptureQueriesContext(connection) as queries:
            outcome = work(*arguments)
        steps.setdefault(name, []).append((time.perf_counter() - began, len(queries)))
        return outcome

    def start(match: Any) -> None:
        """Start a match as `MatchLease.start` does."""
        with transaction.atomic():
            leases.start(match)
            workers.note_alive("w1", match=match)

    def play_one_match() -> None:
        claimed_match = timed("claim", leases.claim, "w1")
        timed("start", start, claimed_match)
        played = result(claimed_match)
        timed("heartbeat", lambda: queue.beat(claimed_match, progress=50, now=clock.present()))
        timed("report", reports.report, claimed_match, played)
        timed("count", ratings.refresh, cup.pool)

    played = 30
    play_one_match()
    steps.clear()
    time.sleep(1.2)  # The server updates its counters with a delay.
    before = commits()
    for _ in range(played):
        play_one_match()
    connection.close()
    time.sleep(1.2)
    total = commits() - before - 2 - played  # Each simulated result read its parties once.
    print(
        f"\n{total / played:.1f} commits a match (claim, start, one heartbeat, report, count, and what the server does by itself)\n"
    )
    print("| step | ms | statements |\n| --- | ---: | ---: |")
    for name, runs in steps.items():
        print(
            f"| {name} | {1000 * median(seconds for seconds, _ in runs):.1f} | {median(count for _, count in runs):.0f} |"
        )
    began = time.perf_counter()
    reconcile.reconcile()
    print(
        f"| one run of the reconciler, {cup.matches.count()} matches | {1000 * (time.perf_counter() - began):.1f} | |"
    )


def _end(running: list[subprocess.Popen[bytes]]) -> None:
    for process in running:
        process.terminate()
    for process in running:
        process.wait(60)


def workers() -> None:
    """Count matches a minute of one worker process and of two, in turn on the same machine: real workers, sandboxed bots."""
    import tempfile

    from league.domain.people import players
    from tests.support.league import accepted, started

    owners = [players.create(f"player-{i}") for i in range(2)]
    versions = [accepted(owners[i % 2], f"bot-{i}", games=("partnership",)) for i in range(40)]
    cup = started(owners[0], versions, boards=16)
    state = Path(tempfile.mkdtemp(prefix="tute-bench-"))
    running: list[subprocess.Popen[bytes]] = []

    def begin() -> None:
        environment = {**os.environ, "STATE_DIR": str(state)}
        command = [sys.executable, "manage.py", "worker"]
        quiet = subprocess.DEVNULL
        running.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet))

    def count_finished() -> int:
        return cup.matches.filter(status="finished").count()

    def rate(seconds: float) -> float:
        before, began = count_finished(), time.perf_counter()
        time.sleep(seconds)
        return 60 * (count_finished() - before) / (time.perf_counter() - began)

    rates: dict[int, list[float]] = {1: [], 2: []}
    try:
        for count in (1, 2, 1, 2, 1, 2):
            while len(running) < count:
                begin()
            while len(running) > count:
                running[-1].terminate()
                running.pop().wait(60)
            base = count_finished()
            while count_finished() < base + 3 * count:  # Warm-up: the runtime is built and every worker plays.
                time.sleep(0.2)
            rates[count].append(rate(20))
    finally:
        _end(running)
        shutil.rmtree(state, ignore_errors=True)
    alone, two = median(rates[1]), median(rates[2])
    print("| workers | matches of 16 boards a minute (three rounds) | median |\n| --- | --- | ---: |")
    for count, values in rates.items():
        print(f"| {count} | {', '.join(f'{value:.0f}' for value in values)} | {median(values):.0f} |")
    print(f"\ntwo workers: {two / alone:.2f} times one (aim 1.8)", flush=True)


def main() -> None:
    """Run the requested parts."""
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in chosen if name not in PARTS]:
        sys.exit(f"error: unknown part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    for name in chosen:
        print(f"\n## {name} (load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)\n", flush=True)
        if name == "fits":
            fits()
        else:
            on_postgres(name, "queueing" if name == "claims" else "league")


if __name__ == "__main__":
    main()
