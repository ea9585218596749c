"""The tables of docs/house-bots.md and docs/house-bots-strength.md: how clearly each house bot beats the ones below it, as Markdown.

    .venv/bin/python benchmarks/house.py [-g GAME ...] [--pair greedy:random ...] [--boards 100] [--forms] [--jobs 2]
    .venv/bin/python benchmarks/house.py --inside -g GAME ... --pair deep:counting ... [--boards 100] [--first 0] [--store FILE]

Each cell is one `tute play BETTER WORSE ... -n BOARDS --seed house --no-sandbox`. At a table of two sides each bot has one; elsewhere the better bot
has one seat and the worse one all others. Every board is played in every seating. `--forms` adds the other player counts and forms. A cell shows the
share of board comparisons that the first bot won (a draw counts half) and its lead per board over the others' mean, both with 95% intervals over
boards; and "level" if one of the intervals contains equality. Exit status 1 if that happens against random.

`--inside` plays in this process, without pipes, for bots that think long. It prints a line for each game and pair, with Elo and times. Seed N deals
board N, from `--first` on. Each board played is stored as a line of `--store`, so the same command continues where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.

from engine.compiled import described  # noqa: E402
from engine.game import games, load  # noqa: E402
from engine.intervals import t95  # noqa: E402
from engine.sprt import elo_of  # noqa: E402
from tests.bots.harness import Duel, house  # noqa: E402

STORE = ROOT / "var/house.jsonl"
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
class TableCell:
    """One measurement: a game at a table, and the two bots."""

    game: str
    options: dict[str, Any]
    better: str
    worse: str
    boards: int

    @property
    def title(self) -> str:
        """Game and options, for people."""
        return ", ".join([self.game, *(f"{name} {value}" for name, value in self.options.items())])

    def command(self) -> list[str]:
        """Return the command line of the measurement."""
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
class CellResult:
    """The result of a cell: means over boards with the half-width of their 95% intervals, and CPU milliseconds per decision of `better`."""

    share: float
    share_margin: float
    lead: float
    lead_margin: float
    unit: str
    each_ms: float
    faults: int

    @property
    def clear(self) -> bool:
        """True if neither interval contains equality."""
        return self.share - self.share_margin > 0.5 and self.lead > self.lead_margin


def measure(cell: TableCell) -> CellResult:
    """Play the boards of a cell. Raise RuntimeError with the output if that fails."""
    command = [sys.executable, "-m", "engine.cli", *cell.command()]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {process.stderr}")
    data = json.loads(process.stdout)
    game = load(cell.game, **cell.options)
    shares, leads = [], []
    for board in data["boards"]:
        own_score, *others = board["scores"]
        shares.append(fmean((own_score > score) + (own_score == score) / 2 for score in others))
        leads.append((own_score - fmean(others)) / game.score_size)
    first = data["parties"][0]
    return CellResult(
        share=fmean(shares),
        share_margin=margin(shares),
        lead=fmean(leads),
        lead_margin=margin(leads),
        unit=game.score_unit,
        each_ms=1000 * first["cpu_s"] / max(1, first["decisions"]),
        faults=sum(len(party["faults"]) for party in data["parties"]),
    )


@dataclass(frozen=True)
class PlayedBoard:
    """One board that was played in this process: the share of comparisons that `better` won, its lead in the game's unit, its milliseconds."""

    game: str
    better: str
    worse: str
    seed: int
    share: float
    lead: float
    took: tuple[float, ...]


def boards_of(cell: TableCell, first: int, store: Path) -> list[PlayedBoard]:
    """Return the boards of a cell, from the seed `first` on: those in the file, and the others, which it plays and appends to the file."""
    seeds = range(first, first + cell.boards)
    bots = (cell.better, cell.worse)
    lines = store.read_text(encoding="utf-8").splitlines() if store.exists() else []
    boards = [PlayedBoard(**json.loads(line)) for line in lines]
    by_seed = {board.seed: board for board in boards if board.game == cell.game and (board.better, board.worse) == bots}
    game = load(cell.game)
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file:
        for seed in seeds:
            if seed not in by_seed:
                duel = Duel(game, house(cell.better), house(cell.worse), [seed])
                took = tuple(round(1000 * seconds, 2) for seconds in duel.took)
                by_seed[seed] = PlayedBoard(cell.game, *bots, seed, duel.rate, duel.mean / game.score_size, took)
                print(json.dumps(asdict(by_seed[seed])), file=file, flush=True)
    return [by_seed[seed] for seed in seeds]


def format_row(cell: TableCell, boards: Sequence[PlayedBoard]) -> str:
    """Format the table row of a cell that was played in this process."""
    shares, leads = [board.share for board in boards], [board.lead for board in boards]
    took = sorted(value for board in boards for value in board.took)
    share, half = fmean(shares), margin(shares)
    elo, low, high = (elo_of(rate) for rate in (share, share - half, share + half))
    places = 0 if margin(leads) >= 10 else 1 if margin(leads) >= 1 else 2
    lead = f"{fmean(leads):+.{places}f} ± {margin(leads):.{places}f} {load(cell.game).score_unit}"
    times = (fmean(took), median(took), took[int(0.99 * (len(took) - 1))], took[-1])
    who = f"{cell.better}, {cell.worse}"
    elos = f"{elo:+.0f}, {low:.0f} to {high:.0f}"
    return f"| {cell.game} | {who} | {len(boards)} | {share:.1%} ± {half:.1%} | {lead} | {elos} | {', '.join(f'{value:.0f}' for value in times)} |"


def inside(cells: Sequence[TableCell], first: int, store: Path) -> None:
    """Play cells in this process, one after another, and print their rows."""
    print(f"rules: {described()}; boards {first} on", file=sys.stderr)
    print("| game | bots | boards | share | lead a board | Elo | ms a decision: mean, median, p99, longest |")
    print("|---" * 7 + "|", flush=True)
    for cell in cells:
        print(format_row(cell, boards_of(cell, first, store)), flush=True)


def margin(values: Sequence[float]) -> float:
    """Return the half-width of the 95% interval of a mean."""
    return t95(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def rows(chosen: argparse.Namespace) -> Iterator[list[TableCell]]:
    """Yield the requested measurements, table by table."""
    for key in chosen.game or games():
        for options in ({}, *(FORMS.get(key, ()) if chosen.forms else ())):
            yield [TableCell(key, options, better, worse, chosen.boards) for better, worse in pairs(chosen)]


def pairs(chosen: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the pairs to play, the better bot first."""
    return [(better, worse) for better, _, worse in (pair.partition(":") for pair in chosen.pair)] or list(PAIRS)


def format_cell(cell: CellResult) -> str:
    """Format a cell of the table."""
    places = 0 if cell.lead_margin >= 10 else 1 if cell.lead_margin >= 1 else 2
    mark = "" if cell.clear else ", level"
    faults = f", {cell.faults} faults!" if cell.faults else ""
    won = f"{cell.share:.0%} ± {cell.share_margin:.0%}"
    return f"{won}, {cell.lead:+.{places}f} ± {cell.lead_margin:.{places}f}{mark}{faults}"


def main() -> int:
    """Measure the requested pairs. Return 1 if a bot is not clearly better than random."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], help="only this game (may be repeated)")
    parser.add_argument(
        "--pair", action="append", default=[], metavar="BETTER:WORSE", help="only these bots (may be repeated)"
    )
    parser.add_argument("--boards", type=int, default=60, help="boards of each cell (60)")
    parser.add_argument("--forms", action="store_true", help="also other player counts and forms")
    parser.add_argument("--jobs", type=int, default=2, help="matches played at a time (2)")
    parser.add_argument("--inside", action="store_true", help="play in this process, one board after the other")
    parser.add_argument("--first", type=int, default=0, help="seed of the first board, with --inside (0)")
    parser.add_argument(
        "--store", type=Path, default=STORE, help="file of the boards that were played, with --inside (var/house.jsonl)"
    )
    chosen = parser.parse_args()
    todo = list(rows(chosen))
    if chosen.inside:
        inside([cell for row in todo for cell in row], chosen.first, chosen.store)
        return 0
    unclear = 0
    heads = [f"{better}, {worse}" for better, worse in pairs(chosen)]
    print("| game | boards | unit | " + " | ".join(heads) + " | ms a decision |\n" + "|---" * (len(heads) + 4) + "|")
    with ThreadPoolExecutor(chosen.jobs) as pool:
        started = [[pool.submit(measure, cell) for cell in row] for row in todo]
        for number, (row, futures) in enumerate(zip(todo, started, strict=True), 1):
            results = [future.result() for future in futures]
            cells = " | ".join(map(format_cell, results))
            print(
                f"| {row[0].title} | {chosen.boards} | {results[0].unit} | {cells} | {results[-1].each_ms:.1f} |",
                flush=True,
            )
            print(f"{number}/{len(todo)}", end="\r", file=sys.stderr, flush=True)
            unclear += any(cell.worse == "random" and not f.clear for cell, f in zip(row, results, strict=True))
    return 1 if unclear else 0


if __name__ == "__main__":
    sys.exit(main())
