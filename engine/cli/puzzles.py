"""`tute puzzles`: finds decisions with one clearly best choice in logs, and puts them to a bot."""

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
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem
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
find LOG        looks for decisions in which, over deals that agree with what the seat had been told, every choice but the best gives away at
                least so much (--margin), with 99 % certainty; prints them one a line. LOG is what tute play --log wrote, the log of a whole
                match from the site, or the id of a match there. As Python source only endings can be proved; compiled rules (make fast) prove
                whole deals of most games.
try BOT FILE    puts each puzzle of a file to a fresh process of the bot, in the sandbox, as one request with all that has happened; says how
                many it solves and what its answers give away.

exit codes of try:
  0  the bot answered every puzzle, rightly or not
  1  the bot failed at a puzzle
"""
WORST = 5  # answers that are printed; --json has all


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "puzzles", "find puzzles in logs, or put them to a bot", EXAMPLE, DETAILS)
    parser.add_argument("action", choices=("find", "try"))
    parser.add_argument("target", metavar="LOG|ID|BOT")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="try: the puzzles")
    remote.add_league_flag(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="find: write them here; a new file")
    parser.add_argument("--deals", type=int, metavar="N", help="find: prove each over so many deals (64)")
    parser.add_argument(
        "--margin",
        type=float,
        metavar="X",
        help="find: so much worse is every other choice (10 points, 250 thousandths of a game, else 1)",
    )
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="find: look at so many cards for each choice and deal at most"
    )
    table.add_sandbox_flags(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Find puzzles, or put them to a bot."""
    if args.action == "find":
        if args.file is not None:
            raise Problem("tute puzzles find takes one log; write to a file with -o")
        return _find(args)
    if args.file is None:
        raise Problem("tute puzzles try BOT FILE: name the file of the puzzles, too")
    return _try(args)


# ---- find


def _find(args: argparse.Namespace) -> int:
    from engine.analysis import USUAL_NODES
    from engine.puzzles import DEALS, find
    from engine.replay import ReplayError

    for name, least in (("deals", 2), ("nodes", 1), ("margin", 0)):
        given = getattr(args, name)
        if given is not None and given < least:
            raise Problem(f"--{name} {given}: at least {least}")
    seen: set[str] = set()
    made: Path | None = None
    try:
        replays = list(documents(args.target, args.league))
        if not replays:
            raise Problem(f"{args.target} is empty")
        out = args.output.open("x", encoding="utf-8") if args.output else nullcontext(sys.stdout)
        made = args.output
        with out as file, progress("looking for puzzles") as advance:
            for done, replay in enumerate(replays):
                advance(done, len(replays))
                for one in find(replay, deals=args.deals or DEALS, margin=args.margin, nodes=args.nodes or USUAL_NODES):
                    if one.id not in seen:
                        seen.add(one.id)
                        print(one.line(), file=file, flush=True)
    except FileExistsError:
        raise Problem(f"{args.output} is there already; choose another name or remove it") from None
    except (ReplayError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        if made and not seen:
            made.unlink(missing_ok=True)  # empty, and in the way of the next try
        raise Problem(f"{args.target}: {error}") from None
    print(f"{len(seen)} puzzles in {len(replays)} sittings", file=sys.stderr)
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
        for done, puzzle in enumerate(puzzles):
            advance(done, len(puzzles))
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
        raise Problem(f"{path} holds no puzzles: {error}. Make such files with tute puzzles find") from None
    if not any(line.strip() for line in lines):
        raise Problem(f"{path} is empty")
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield read(line)
            except NotAPuzzleError as error:
                raise Problem(f"{path}, line {number}: {error}. Make such files with tute puzzles find") from None


def _ask(bot: BotSpec, box: Sandbox, puzzle: Puzzle) -> tuple[str | None, str]:
    """Its answer, None where it failed; and how."""
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
    found: dict[str, Any] = {"puzzles": len(score.solved), "solved": share[0], "solved_interval": list(share[1:])}
    return found | ({"unit": unit, "lost": mean, "lost_margin": margin if margin < inf else None} if unit else {})


def _unit(puzzles: Sequence[Puzzle], part: str) -> str | None:
    """The unit of a part of the puzzles, None where there are several: what is lost cannot be added then."""
    units = {one.unit for one in puzzles if part in ("all", one.game)}
    return units.pop() if len(units) == 1 else None


def _print(name: str, puzzles: Sequence[Puzzle], scores: dict[str, Score], rows: Sequence[dict[str, Any]]) -> None:
    table_rows = []
    for part, score in scores.items():
        unit = _unit(puzzles, part)
        lost = _mean(*score.mean) + f" {unit}" if unit else "-"
        table_rows.append([part, len(score.solved), "{:.0%} ({:.0%} to {:.0%})".format(*score.share), lost])
    print(f"{name}\n")
    print_table(["game", "puzzles", "solved", "lost a puzzle"], table_rows)
    worst = sorted((row for row in rows if row["lost"] or row["fault"]), key=lambda row: -row["lost"])[:WORST]
    if worst:
        print("\nWhat cost most:")
    for row in worst:
        said = row["answer"] or f"failed ({row['fault'][:120]})"
        print(f"  {row['id']}: {said} instead of {' or '.join(row['best'])}, {row['lost']:.4g} {row['unit']}")
    print()
    paragraph(
        "Solved and lost with 95% intervals over these puzzles. Choices are judged by what the seat could know; from the next card on all"
        " seats are taken to see all cards."
    )


def _mean(mean: float, margin: float) -> str:
    return f"{mean:.2f}" + (f" ± {margin:.2f}" if margin < inf else "")
