"""The `tute` command. A command's module loads its dependencies only when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from engine.cli.problem import INFRASTRUCTURE, INTERRUPTED, OK, USAGE, Problem

COMMANDS = (
    "games",
    "play",
    "bot",
    "login",
    "submit",
    "status",
    "serve",
    "replay",
    "verify",
    "repro",
    "audit",
    "analyse",
    "puzzles",
    "probe",
    "cases",
    "rules",
    "sandbox",
    "bench",
)

DESCRIPTION = "Play, check and measure bots and rules of the Tute family of card games."
EPILOG = """\
exit codes:
  0  success; what was checked is valid
  1  what was checked is not valid
  2  the command or its input is wrong
  3  something on this machine failed (sandbox, disk); no bot is to blame

example:
  tute play greedy random -g partnership -n 100 --seed 7 --log games.jsonl
  tute verify games.jsonl
"""


class _Version(argparse.Action):
    """Prints the version and which rules run, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import engine
        from engine.compiled import described

        print(f"tute {engine.__version__}, rules: {described()}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Build the parser for all commands."""
    top = argparse.ArgumentParser(
        prog="tute", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and whether the rules are compiled")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"engine.cli.{name}").add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code (see EPILOG). Usage errors are printed to stderr and exit with 2."""
    args = parser().parse_args(argv)
    try:
        code = args.run(args)
        sys.stdout.flush()
    except Problem as problem:
        print(f"tute: {problem}", file=sys.stderr)
        return problem.code
    except KeyboardInterrupt:
        print("tute: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # The reader of our output is gone; avoid a second error at exit.
        return OK
    except OSError as error:
        if error.filename is None:
            print(f"tute: {error}", file=sys.stderr)
            return INFRASTRUCTURE
        print(f"tute: {error.filename}: {error.strerror}", file=sys.stderr)
        return USAGE
    return int(code)
