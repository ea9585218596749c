"""`tute verify`: replays against the rules."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.cli.output import command, json_flag, print_json, progress
from engine.cli.problem import FAILED, OK, Problem

EXAMPLE = """
tute verify games.jsonl
tute verify replay.json other.jsonl --json
"""
DETAILS = """
Runs every action again through the rules and compares every event and the scores. A .jsonl file holds one replay a line, any other file
one replay. Exit code 1 if one does not hold: the file, line and step are named."""


def add(commands: Any) -> None:
    parser = command(commands, "verify", "re-run replays and compare everything", EXAMPLE, DETAILS)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="replay, or a log of replays, one a line (.jsonl)"
    )
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from engine.runner.replays import check

    total = sum(path.stat().st_size for path in args.files)
    done = held = 0
    failures: list[dict[str, Any]] = []
    with progress("verifying") as advance:
        for path in args.files:
            for line, text in _documents(path):
                done += len(text)
                problem = _problem(text, check)
                if problem is None:
                    held += 1
                else:
                    failures.append({"file": str(path), "line": line, "step": problem[0], "problem": problem[1]})
                if advance is not None:
                    advance(done, total)
    if held + len(failures) == 0:
        raise Problem(f"no replay in {', '.join(map(str, args.files))}: write one with tute play --log FILE")
    if args.json:
        print_json({"held": held, "failed": failures})
        return FAILED if failures else OK
    for failure in failures:
        print("{file}:{line}: {problem}".format(**failure))
    print(f"{held} of {held + len(failures)} replays hold")
    return FAILED if failures else OK


def _documents(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number, text) of each replay in a file."""
    if path.suffix != ".jsonl":
        yield 1, path.read_bytes()
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def _problem(text: bytes, check: Any) -> tuple[int, str] | None:
    from engine.replay import ReplayError

    try:
        replay = json.loads(text)
    except (ValueError, RecursionError) as error:
        return 0, f"not JSON: {error}"
    try:
        check(replay)
    except ReplayError as error:
        return error.step, str(error)
    return None
