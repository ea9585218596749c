"""Measure the time from the call that starts a Python bot to its first answer, compared with the same interpreter without a sandbox.

One round starts one bot of each kind, in turn, on the core of this process. The floor is an ordinary subprocess with the same program, files and
environment. A busy machine slows all kinds, so two differences are reported: between the best rounds, and the median over rounds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from engine.cli import table
from engine.cli.bench import bare_process
from engine.cli.output import print_json, print_table, progress
from engine.cli.problem import OK, Problem
from engine.runner import runtimes
from engine.runner.cores import pinned
from engine.sandbox import Policy, Runtime, Sandbox, check

ANSWERING = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"
# Pause between two starts, as long as that between the passes of a match: a worker prepares the next bot meanwhile.
PAUSE_S = 0.03
FLOOR = "no sandbox"


def measure(boxes: list[Sandbox], seconds: float, advance: Callable[[int, int], None] | None) -> dict[str, Any]:
    """Measure rounds for about `seconds`, at least ten."""
    runtime = runtimes.get("python", boxes[0].state_dir)
    times_by_kind: dict[str, list[float]] = {name: [] for name in (FLOOR, *(box.tier for box in boxes))}
    with _bot() as folder, pinned() as core:
        if core is None:
            os.sched_setaffinity(0, {core := min(os.sched_getaffinity(0))})
        began = time.monotonic()
        rounds = 0
        while rounds < 10 or time.monotonic() - began < seconds:
            times_by_kind[FLOOR].append(_floor(runtime, folder, core))
            for box in boxes:
                times_by_kind[box.tier].append(_start(box, runtime, folder, core))
            rounds += 1
            if advance is not None:
                advance(rounds, max(rounds, 10))
    rows = [
        {
            "what": name,
            "best_ms": 1e3 * min(times),
            "over_best_ms": 1e3 * (min(times) - min(times_by_kind[FLOOR])),
            "over_median_ms": 1e3
            * median(time_s - bare for time_s, bare in zip(times, times_by_kind[FLOOR], strict=True)),
        }
        for name, times in times_by_kind.items()
    ]
    return {"rounds": rounds, "core": core, "control_groups": boxes[0].control_groups, "rows": rows}


@contextmanager
def _bot() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        Path(name, "bot.py").write_text(ANSWERING)
        yield Path(name)


def _floor(runtime: Runtime, folder: Path, core: int | None) -> float:
    began = time.perf_counter()
    child, to, back = bare_process(runtime, folder, "bot.py")
    os.write(to, b"ready?\n")
    os.read(back, 100)
    taken = time.perf_counter() - began
    child.kill()
    child.communicate()
    time.sleep(PAUSE_S)
    return taken


def _start(box: Sandbox, runtime: Runtime, folder: Path, core: int | None) -> float:
    began = time.perf_counter()
    with box.start(folder, runtime, "bot.py", Policy(), core=core) as process:
        process.ask(b"ready?\n", 5.0, 60.0)  # As in a match: the bot is stopped again before the clock is read.
        taken = time.perf_counter() - began
    time.sleep(PAUSE_S)
    return taken


def run(args: argparse.Namespace) -> int:
    """Measure the start of a bot in each tier and print a table."""
    tiers = [report.name for report in check(table.state_dir()) if report.holds]
    boxes = [Sandbox(name, table.state_dir()) for name in tiers if args.sandbox in ("auto", name)]
    if not boxes:
        raise Problem(f"the tier {args.sandbox} does not hold here; run `tute sandbox check` to see why")
    with progress("sandbox") as advance:
        result = measure(boxes, args.seconds, advance)
    if args.json:
        print_json({"format": "tute-bench-sandbox/1", **result})
        return OK
    cells = [
        (row["what"], f"{row['best_ms']:.1f}", f"{row['over_best_ms']:.1f}", f"{row['over_median_ms']:.1f}")
        for row in result["rows"]
    ]
    print_table(("case", "best ms", "over the floor, best", "over the floor, median"), cells)
    print(f"\n{result['rounds']} rounds in turn on core {result['core']}, control groups: {result['control_groups']}")
    return OK
