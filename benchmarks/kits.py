"""The tables of docs/builds.md: what a decision of greedy costs by language, and whether each kit decides as the house bot.

    .venv/bin/python benchmarks/kits.py [--seeds 2] [--sandbox namespaces]

Every bot plays in the sandbox and answers the recorded requests of all games, each match in a process of its own. Times are CPU time as a match
counts it: from the start of the process to `ready`; the first decision; the mean of all others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from statistics import fmean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.

from engine.cli import table  # noqa: E402
from engine.cli.builds import ready  # noqa: E402
from engine.game import games  # noqa: E402
from engine.packages import archive  # noqa: E402
from engine.runner import BotSpec, Limits, bot_spec, runtimes  # noqa: E402
from engine.runner.bot_processes import start_bot  # noqa: E402
from engine.sandbox import Policy, Sandbox  # noqa: E402
from tests.bots.greedy import KITS, recorded, tables  # noqa: E402
from tests.support import languages  # noqa: E402

TOOLS = {
    "c": "cc",
    "cpp": "c++",
    "go": "go",
    "java": "javac",
    "javascript": "node",
    "rust": "rustc",
    "typescript": "tsc",
}
LIMITS = Limits()


def bots(state_dir: Path) -> dict[str, BotSpec]:
    """Return the house bot and each kit's, built as a league does."""
    specs = {"Python": bot_spec(archive.read_path(ROOT / "bots" / "house" / "greedy"), state_dir / "packages")}
    path, folders = os.environ["PATH"], {kit: languages.offer(tool) for kit, tool in TOOLS.items()}
    for kit, folder in folders.items():
        os.environ["PATH"] = f"{folder}:{path}"
        package = ready(archive.read_path(KITS / kit), state_dir)
        specs[package.manifest.name.removeprefix("kit ")] = bot_spec(package, state_dir / "packages")
    return specs


def measure(bot: BotSpec, box: Sandbox, requests: list[str]) -> tuple[list[str], list[float]]:
    """Return the answers to the requests of one match, and the CPU seconds of the start and of each decision."""
    answers, seconds = [], []
    policy = Policy(memory_mb=LIMITS.memory_mb, threads=LIMITS.threads)
    with start_bot(box, bot, runtimes.get(bot.runtime, box.state_dir), policy) as process:
        for request in requests:
            reply = process.ask(f"{request}\n".encode(), LIMITS.start_s, 60)
            answers.append(json.loads(reply.line).get("do", ""))
            seconds.append(reply.cpu_s)
    return answers[1:], seconds


def main() -> int:
    """Print both tables; return 1 if a kit decides differently."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="matches at each table of a game")
    parser.add_argument("--sandbox", default="namespaces", help="the tier")
    args = parser.parse_args()
    state_dir = table.state_dir()
    box, specs = Sandbox(args.sandbox, state_dir), bots(state_dir)
    times: dict[str, list[list[float]]] = {name: [] for name in specs}
    equal: dict[str, dict[str, list[bool]]] = {name: {key: [] for key in games()} for name in specs}
    for key in games():
        for form in tables(key):
            for seed in range(args.seeds):
                requests, expected = recorded(key, json.dumps(form), seed)
                for name, bot in specs.items():
                    answers, seconds = measure(bot, box, requests)
                    times[name].append(seconds)
                    equal[name][key] += [answer == right["do"] for answer, right in zip(answers, expected, strict=True)]
    print(
        "| language | start | of its allowance | first decision | a decision | package |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name, matches in times.items():
        start = median(seconds[0] for seconds in matches)
        first = median(seconds[1] for seconds in matches if len(seconds) > 1)
        rest = fmean(second for seconds in matches for second in seconds[2:])
        size = sum(path.stat().st_size for path in specs[name].path.rglob("*") if path.is_file())
        cells = [
            f"{1000 * start:.1f} ms",
            f"{start / LIMITS.start_s:.1%}",
            f"{1000 * first:.2f} ms",
            f"{1000 * rest:.2f} ms",
            f"{size // 1024} KiB",
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"\n| decisions as greedy | {' | '.join(specs)} |\n| --- |{' --- |' * len(specs)}")
    for key in games():
        cells = [f"{sum(equal[name][key])} of {len(equal[name][key])}" for name in specs]
        print(f"| {key} | {' | '.join(cells)} |")
    return 0 if all(all(results) for by_game in equal.values() for results in by_game.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
