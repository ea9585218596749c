"""`tute cases`: run the worked cases of the rules book against the engine."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.cli.output import command, json_flag, print_json, progress
from engine.cli.problem import FAILED, OK, Problem

EXAMPLE = """
tute cases tests/cases
tute cases tests/cases/partnership.yaml --json
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "cases", "run worked cases against the engine", EXAMPLE)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="case file (.yaml) or a folder of them")
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Run every worked case. Return exit code 1 if one fails."""
    from engine import cases
    from engine.errors import EngineError

    passed = 0
    failures = []
    files = [file for path in args.paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
    if not files:
        raise Problem(f"no .yaml file in {', '.join(map(str, args.paths))}")
    with progress("cases") as advance:
        for number, file in enumerate(files, 1):
            try:
                for result in cases.run(file):
                    if result.holds:
                        passed += 1
                    else:
                        failures.append(
                            {"file": str(file), "case": result.case, "kind": result.kind, "problem": result.problem}
                        )
            except EngineError as error:
                raise Problem(str(error)) from None
            advance(number, len(files))
    if args.json:
        print_json({"held": passed, "failed": failures})
        return FAILED if failures else OK
    for failure in failures:
        print("{file}: {case} ({kind}): {problem}".format(**failure))
    print(f"{passed} of {passed + len(failures)} cases pass")
    return FAILED if failures else OK
