"""`tute bench`: the speed of the rules, the runner and the start of a bot, relative to a floor measured in the same run."""

from __future__ import annotations

import argparse
import importlib
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import table
from engine.cli.output import command, json_flag
from engine.cli.problem import Problem

if TYPE_CHECKING:
    from engine.sandbox import Runtime

EXAMPLE = """
tute bench engine
tute bench engine -g partnership --seconds 10
tute bench runner --json
tute bench sandbox --seconds 20
"""
DETAILS = """
engine   random playouts of every game as multiples of OpenSpiel's hearts, driven from Python in the same way in the same run; without
         pyspiel, of a plain Python loop. Also with a record, and by `engine.playout` and `engine.play_many` against OpenSpiel's C++ rollouts
runner   the time of one decision between sandboxed bots as a multiple of the floor, the same bytes exchanged with the same bot over bare
         pipes on the same core, without supervision
sandbox  milliseconds from the start of a Python bot to its first answer in every tier that holds, compared with the same interpreter
         without a sandbox
Rounds of both alternate. The medians of ratios within a round and the best rounds are printed, which a busy machine distorts little.
"""

PARTS = ("engine", "runner", "sandbox")  # Each part is a module.


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "bench", "measure the engine, the runner or the sandbox", EXAMPLE, DETAILS)
    parser.add_argument("what", nargs="?", choices=PARTS, default="engine")
    parser.add_argument("-g", "--game", action="append", help="only this game (may be repeated; runner: partnership)")
    parser.add_argument("--seconds", type=float, default=2.0, help="approximate time to measure each game (2)")
    parser.add_argument(
        "--bot", default=None, help="runner: the bot at every seat (by default a plain one of ten lines)"
    )
    table.add_sandbox_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Run the chosen benchmark and print it."""
    if args.seconds <= 0:
        raise Problem(f"--seconds {args.seconds}: give a number above 0")
    args.game = [table.find_game(game) for game in args.game or []]
    code: int = importlib.import_module(f"{__name__}.{args.what}").run(args)
    return code


def bare_process(runtime: Runtime, folder: Path, entry: str) -> tuple[subprocess.Popen[bytes], int, int]:
    """Start a bot of `folder` without a sandbox. Return its process, and the descriptors that lead to it and back."""
    root = str(runtime.root)
    child = subprocess.Popen(
        replace(runtime, gate=()).argv(root, str(folder), entry),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env=runtime.environ(root, str(folder)),
        cwd=folder,
    )
    assert child.stdin
    assert child.stdout
    return child, child.stdin.fileno(), child.stdout.fileno()
