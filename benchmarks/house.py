"""The table of docs/house-bots.md: how clearly each house bot beats the ones below it, in every game, as Markdown.

    .venv/bin/python benchmarks/house.py [-g GAME ...] [--pair greedy:random ...] [--boards 100] [--forms] [--jobs 2]

Each line is one `tute play BETTER WORSE ... -n BOARDS --seed house --no-sandbox`: at a table of two sides the bots hold one each, elsewhere
one seat of the better among the worse, with every board played in every seating. `--forms` adds the other player counts and forms.
Intervals are 95%, over boards; `won` is the share of comparisons of board scores, a draw counting half. Lines whose interval holds the level
(no lead, half of the boards) are marked. Exit status 1 if there is one against random.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a file, Python looks in benchmarks/ first

from engine.cli.stats import t95  # noqa: E402
from engine.game import games, load  # noqa: E402

PAIRS = (("greedy", "random"), ("counting", "random"), ("counting", "greedy"))
FORMS: dict[str, tuple[dict[str, Any], ...]] = {
    "americano": ({"exchange": "immediate"},),
    "arrastrado": ({"players": 4},),
    "bato": ({"players": 3}, {"players": 6}, {"settlement": "loss_marks"}),
    "brisca": ({"players": 3}, {"players": 4}),
    "cabrero": ({"players": 3}, {"players": 5}, {"players": 6}),
    "chancho": ({"players": 3},),
    "codillo": ({"players": 5},),
    "gana_pierde_3": ({"result": "cabron_loses"},),
    "gana_pierde_4_5": ({"players": 5},),
    "guinote": ({"players": 2}, {"players": 3}, {"form": "full"}),
    "individual": ({"players": 3},),
    "podrida": ({"players": 3}, {"players": 6}, {"preset": "podrida52"}),
    "remate": ({"players": 3}, {"players": 5}, {"settlement": "loss_marks"}),
    "subastado": ({"players": 4}, {"players": 4, "censor": True}),
}


@dataclass(frozen=True)
class Line:
    """One measurement: a game at a table, and who plays whom."""

    game: str
    options: dict[str, Any]
    better: str
    worse: str
    boards: int

    @property
    def title(self) -> str:
        return ", ".join([self.game, *(f"{name} {value}" for name, value in self.options.items())])

    def command(self) -> list[str]:
        """The command line of the measurement."""
        sides = len(load(self.game, **self.options).sides)
        bots = [self.better, *[self.worse] * (sides - 1)]
        values = {name: value if isinstance(value, str) else json.dumps(value) for name, value in self.options.items()}
        options = [word for name, value in values.items() for word in ("-o", f"{name}={value}")]
        return [
            "play",
            *bots,
            "-g",
            self.game,
            *options,
            "-n",
            str(self.boards),
            "--seed",
            "house",
            "--no-sandbox",
            "--json",
        ]


@dataclass(frozen=True)
class Found:
    """What came out, as means over boards with the half width of their 95% intervals, and milliseconds of CPU a decision of `better`."""

    share: float
    share_margin: float
    lead: float
    lead_margin: float
    unit: str
    each_ms: float
    faults: int

    @property
    def clear(self) -> bool:
        """Whether both intervals exclude the level."""
        return self.share - self.share_margin > 0.5 and self.lead > self.lead_margin


def measure(line: Line) -> Found:
    """Plays the boards of a line. RuntimeError with what was printed if that did not work."""
    command = [sys.executable, "-m", "engine.cli", *line.command()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    data = json.loads(done.stdout)
    game = load(line.game, **line.options)
    shares, leads = [], []
    for board in data["boards"]:
        mine, *others = board["scores"]
        shares.append(fmean((mine > score) + (mine == score) / 2 for score in others))
        leads.append((mine - fmean(others)) / game.score_size)
    first = data["parties"][0]
    return Found(
        share=fmean(shares),
        share_margin=margin(shares),
        lead=fmean(leads),
        lead_margin=margin(leads),
        unit=game.score_unit,
        each_ms=1000 * first["cpu_s"] / max(1, first["decisions"]),
        faults=sum(len(party["faults"]) for party in data["parties"]),
    )


def margin(values: Sequence[float]) -> float:
    """Half width of the 95% interval of a mean."""
    return t95(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def lines(chosen: argparse.Namespace) -> Iterator[Line]:
    """The measurements asked for."""
    pairs = [tuple(pair.split(":")) for pair in chosen.pair] or PAIRS
    for key in chosen.game or games():
        for options in ({}, *(FORMS.get(key, ()) if chosen.forms else ())):
            for better, worse in pairs:
                yield Line(key, options, better, worse, chosen.boards)


def row(line: Line, found: Found) -> str:
    """A line of the table."""
    mark = "" if found.clear else " (not clear)"
    faults = f" {found.faults} faults!" if found.faults else ""
    return (
        f"| {line.title} | {line.better}, {line.worse} | {line.boards} | {found.share:.1%} ± {found.share_margin:.1%} "
        f"| {found.lead:+.2f} ± {found.lead_margin:.2f} {found.unit}{mark}{faults} | {found.each_ms:.2f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], help="only this game (may be repeated)")
    parser.add_argument(
        "--pair", action="append", default=[], metavar="BETTER:WORSE", help="only these bots (may be repeated)"
    )
    parser.add_argument("--boards", type=int, default=100, help="boards of each line (100)")
    parser.add_argument("--forms", action="store_true", help="also other player counts and forms")
    parser.add_argument("--jobs", type=int, default=2, help="matches played at a time (2)")
    chosen = parser.parse_args()
    todo = list(lines(chosen))
    unclear = 0
    print("| game | bots | boards | won | ahead by, a board | ms a decision |\n|---|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for number, (line, found) in enumerate(zip(todo, pool.map(measure, todo), strict=True), 1):
            print(row(line, found), flush=True)
            print(f"{number}/{len(todo)}", end="\r", file=sys.stderr, flush=True)
            unclear += line.worse == "random" and not found.clear
    return 1 if unclear else 0


if __name__ == "__main__":
    sys.exit(main())
