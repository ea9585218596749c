"""`tute puzzles`: find decisions with one clearly best choice in logs, and let a bot solve them."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import remote, table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem, require
from engine.cli.repro import documents

if TYPE_CHECKING:
    from engine.puzzles import Puzzle, Score
    from engine.runner import BotSpec
    from engine.sandbox import Sandbox

EXAMPLE = """
tute puzzles find games.jsonl > puzzles.jsonl
tute puzzles find h7k2m9xq4d --league https://tute.example -o puzzles.jsonl
tute puzzles try my_bot.py puzzles.jsonl
"""
DETAILS = """
find LOG        finds decisions where, over deals that agree with what the seat knew, every choice but the best loses at least --margin, with
                99% certainty; prints one per line. LOG is the output of tute play --log, the log of a whole match from the site, or the id
                of a match there. With Python source only endings can be solved; compiled rules (make fast) solve whole deals of most games.
try BOT FILE    sends each puzzle of a file to a fresh process of the bot, in the sandbox, as one request with all events; reports how many
                it solves and how much its answers lose.

exit codes of try:
  0  the bot answered every puzzle, rightly or not
  1  the bot failed at a puzzle
"""
WORST = 5  # Number of answers printed; --json has all.


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "puzzles", "find puzzles in logs, or let a bot solve them", EXAMPLE, DETAILS)
    parser.add_argument("action", choices=("find", "try"))
    parser.add_argument("target", metavar="LOG|ID|BOT")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="try: the file of puzzles")
    remote.add_league_flag(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="find: write to this new file")
    parser.add_argument("--deals", type=int, metavar="N", help="find: prove each puzzle over this many deals (64)")
    parser.add_argument(
        "--margin",
        type=float,
        metavar="X",
        help="find: least loss of every other choice (10 points, 250 thousandths of a game, else 1)",
    )
    parser.add_argument("--nodes", type=int, metavar="N", help="find: limit of search nodes per choice and deal")
    table.add_sandbox_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Find puzzles, or let a bot solve them."""
    if args.action == "find":
        if args.file is not None:
            raise Problem("tute puzzles find takes one log; write to a file with -o")
        return _find(args)
    if args.file is None:
        raise Problem("tute puzzles try BOT FILE: the file of the puzzles is missing")
    return _try(args)


# ---- find


def _find(args: argparse.Namespace) -> int:
    from engine.analysis import USUAL_NODES
    from engine.puzzles import DEALS, find
    from engine.replay import ReplayError

    require(args, deals=2, nodes=1, margin=0)
    ids: set[str] = set()
    new_file: Path | None = None
    try:
        replays = list(documents(args.target, args.league))
        if not replays:
            raise Problem(f"{args.target} is empty")
        out = args.output.open("x", encoding="utf-8") if args.output else nullcontext(sys.stdout)
        new_file = args.output
        with out as file, progress("searching for puzzles") as advance:
            for finished, replay in enumerate(replays):
                advance(finished, len(replays))
                for puzzle in find(
                    replay, deals=args.deals or DEALS, margin=args.margin, nodes=args.nodes or USUAL_NODES
                ):
                    if puzzle.id not in ids:
                        ids.add(puzzle.id)
                        print(puzzle.line(), file=file, flush=True)
    except FileExistsError:
        raise Problem(f"{args.output} exists already; choose another name or remove it") from None
    except (ReplayError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        if new_file and not ids:
            new_file.unlink(missing_ok=True)  # The file is empty, and would block the next attempt.
        raise Problem(f"{args.target}: {error}") from None
    print(f"{len(ids)} puzzles in {len(replays)} sittings", file=sys.stderr)
    return OK


# ---- try


def _try(args: argparse.Namespace) -> int:
    from engine.puzzles import Score

    puzzles = list(_read(args.file))
    bot = table.find_bot(args.target)
    box = table.open_sandbox(args.sandbox)
    scores: dict[str, Score] = defaultdict(lambda: Score([], []))
    rows = []
    with progress(f"asking {bot.name}") as advance:
        for finished, puzzle in enumerate(puzzles):
            advance(finished, len(puzzles))
            answer, fault = _ask(bot, box, puzzle)
            for part in ("all", puzzle.game):
                scores[part].add(puzzle, answer)
            lost = scores["all"].lost[-1]
            rows.append(
                {
                    "id": puzzle.id,
                    "answer": answer,
                    "best": puzzle.best,
                    "lost": lost,
                    "unit": puzzle.unit,
                    "fault": fault,
                }
            )
    failed = any(row["fault"] for row in rows)
    if args.json:
        summed = {part: _plain(score, _unit(puzzles, part)) for part, score in scores.items()}
        print_json(
            {"format": "tute-puzzles-tried/1", "bot": bot.name, "sha256": bot.sha256, "sums": summed, "answers": rows}
        )
    else:
        _print(bot.name, puzzles, scores, rows)
    return FAILED if failed else OK


def _read(path: Path) -> Iterator[Puzzle]:
    from engine.puzzles import NotAPuzzleError, read

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not a file of puzzles: {error}. Create such files with tute puzzles find") from None
    if not any(line.strip() for line in lines):
        raise Problem(f"{path} is empty")
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield read(line)
            except NotAPuzzleError as error:
                raise Problem(f"{path}, line {number}: {error}. Create such files with tute puzzles find") from None


def _ask(bot: BotSpec, box: Sandbox, puzzle: Puzzle) -> tuple[str | None, str]:
    """Return the bot's answer and an empty text, or None and how it failed."""
    from engine.puzzles import ask
    from engine.runner import Limits
    from engine.sandbox import SandboxError

    try:
        answer, fault = ask(bot, box, puzzle, Limits())
    except (SandboxError, OSError) as error:
        raise Problem(f"{error}; this is not the bot's fault", INFRASTRUCTURE) from None
    return answer, f"{fault.kind}: {fault.detail}" if fault else ""


def _plain(score: Score, unit: str | None) -> dict[str, Any]:
    share, (mean, margin) = score.share, score.mean
    document: dict[str, Any] = {"puzzles": len(score.solved), "solved": share[0], "solved_interval": list(share[1:])}
    return document | ({"unit": unit, "lost": mean, "lost_margin": margin if margin < inf else None} if unit else {})


def _unit(puzzles: Sequence[Puzzle], part: str) -> str | None:
    """Return the unit of a part of the puzzles; None if they have several units, so that losses cannot be added."""
    units = {puzzle.unit for puzzle in puzzles if part in ("all", puzzle.game)}
    return units.pop() if len(units) == 1 else None


def _print(name: str, puzzles: Sequence[Puzzle], scores: dict[str, Score], rows: Sequence[dict[str, Any]]) -> None:
    table_rows = []
    for part, score in scores.items():
        unit = _unit(puzzles, part)
        lost = _mean(*score.mean) + f" {unit}" if unit else "-"
        table_rows.append([part, len(score.solved), "{:.0%} ({:.0%} to {:.0%})".format(*score.share), lost])
    print(f"{name}\n")
    print_table(["game", "puzzles", "solved", "lost per puzzle"], table_rows)
    worst = sorted((row for row in rows if row["lost"] or row["fault"]), key=lambda row: -row["lost"])[:WORST]
    if worst:
        print("\nCostliest answers:")
    for row in worst:
        answer = row["answer"] or f"failed ({row['fault'][:120]})"
        print(f"  {row['id']}: {answer} instead of {' or '.join(row['best'])}, {row['lost']:.4g} {row['unit']}")
    print()
    paragraph(
        "Solved and lost with 95% intervals over these puzzles. Choices are judged by what the seat could know; from the next card on every"
        " seat is assumed to see all cards."
    )


def _mean(mean: float, margin: float) -> str:
    return f"{mean:.2f}" + (f" ± {margin:.2f}" if margin < inf else "")
