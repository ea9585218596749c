"""`tute verify`: check replays against the rules."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import data
from engine.cli.output import command, json_flag, print_json, progress, seats
from engine.cli.problem import FAILED, OK, Problem

if TYPE_CHECKING:
    from engine.runner.evidence.reveal import Revealed

EXAMPLE = """
tute verify games.jsonl
tute verify replay.json other.jsonl --json
tute verify --reveal 9f2c...e1 --commitment 41d0...7a match.jsonl
tute verify --reveal tournament.json match.jsonl
"""
DETAILS = """
Runs every action through the rules again and compares every event and the scores. A .jsonl file (also .jsonl.zst or .jsonl.gz) has one replay per
line, any other file one replay. Exit code 1 if a replay is invalid: file, line and step are named.

With --reveal it also checks the deals against the secret of the tournament, which is published when the tournament is finished: the hash of
the secret is the one in the log (and that of --commitment, if you noted it), every deal follows from the secret, and no board is left out.
docs/fairness.md explains how to do it by hand."""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "verify", "run replays again and compare everything", EXAMPLE, DETAILS)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a replay, or a log with one replay per line (.jsonl)"
    )
    parser.add_argument(
        "--reveal",
        metavar="SECRET|FILE",
        help="the secret: 64 hexadecimal digits, seed:TEXT of a local match, or a file with one of these or the tournament's JSON",
    )
    parser.add_argument("--commitment", metavar="SHA256", help="the hash that was published before play")
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Check every replay. Return exit code 1 if one is invalid."""
    from engine.runner.evidence.reveal import commitment

    revealed = _revealed(args.reveal, args.commitment)
    boards = SeenBoards()
    total = sum(path.stat().st_size for path in args.files)
    bytes_done = valid = 0
    failures: list[dict[str, Any]] = []
    with progress("verifying") as advance:
        for path in args.files:
            for line, text in _documents(path):
                bytes_done += len(text)
                problem = _problem(text, revealed, boards)
                if problem is None:
                    valid += 1
                else:
                    failures.append({"file": str(path), "line": line, **problem})
                advance(bytes_done, total)
    if valid + len(failures) == 0:
        raise Problem(f"no replay in {', '.join(map(str, args.files))}; create one with tute play --log FILE")
    left_out = boards.left_out() if revealed is not None else []
    if args.json:
        proved = {"commitment": commitment(revealed.secret), "left_out": left_out} if revealed is not None else {}
        print_json({"held": valid, "failed": failures, **proved})
        return FAILED if failures or left_out else OK
    for failure in failures:
        print("{file}:{line}: {problem}".format(**failure))
    for missing in left_out:
        print(missing["problem"])
    print(f"{valid} of {valid + len(failures)} replays are valid")
    if revealed is not None and not failures and not left_out:
        print(f"every deal follows from the secret with the hash {commitment(revealed.secret)}: {boards}")
    return FAILED if failures or left_out else OK


def _revealed(secret_text: str | None, published: str | None) -> Revealed | None:
    if secret_text is None:
        if published is not None:
            raise Problem("--commitment needs a secret to compare with; give one with --reveal")
        return None
    from engine.runner.evidence.reveal import Revealed, RevealError, parse

    path = Path(secret_text)
    try:
        text = path.read_text(encoding="utf-8") if len(secret_text) < 256 and path.is_file() else secret_text
        revealed = parse(text)
    except (ValueError, OSError) as error:
        raise Problem(f"--reveal: {error}") from None
    if published is not None and not re.fullmatch("[0-9a-fA-F]{64}", published):
        raise Problem(f"--commitment {published}: a SHA-256 has 64 hexadecimal digits")
    try:
        for noted in filter(None, (revealed.published, published)):
            Revealed(revealed.secret, noted).check_commitment()
    except RevealError as error:
        raise Problem(f"wrong_secret: {error}", FAILED) from None
    return Revealed(revealed.secret, published or revealed.published)


class SeenBoards:
    """The boards and sittings of each match so far, to find those that were left out."""

    def __init__(self) -> None:
        self._sittings_by_match: dict[tuple[str, str], set[tuple[int, int]]] = {}
        # First and last board of the match as the log declares them.
        self._whole: dict[tuple[str, str], tuple[int, int]] = {}

    def add(self, meta: dict[str, Any]) -> None:
        """Add a replay whose deal has been verified."""
        place = str(meta.get("match", "")), meta["table"]
        self._sittings_by_match.setdefault(place, set()).add((meta["board"], meta["sitting"]))
        first_and_last = meta.get("boards")
        first, last = (
            first_and_last
            if isinstance(first_and_last, list) and [type(n) for n in first_and_last] == [int, int]
            else (1, 1)
        )
        before = self._whole.get(place, (first, last))
        self._whole[place] = min(first, before[0], meta["board"]), max(last, before[1], meta["board"])

    def left_out(self) -> list[dict[str, Any]]:
        """Return the gaps: every board of a match must have as many sittings as the others."""
        gaps = []
        for (match, table), sittings_seen in sorted(self._sittings_by_match.items()):
            first, last = self._whole[match, table]
            sittings = max(sitting for _, sitting in sittings_seen) + 1
            for board in range(first, last + 1):
                missing = [sitting for sitting in range(sittings) if (board, sitting) not in sittings_seen]
                if missing:
                    what = "" if len(missing) == sittings else f", {', '.join(map(seats, missing))}"
                    text = f"missing_board: match {match} (table {table}) lacks board {board}{what}: this deal was left out of the log"
                    gaps.append(
                        {"kind": "missing_board", "match": match, "table": table, "board": board, "problem": text}
                    )
        return gaps

    def __str__(self) -> str:
        return "; ".join(
            f"match {match}, table {table}, boards {first} to {last}"
            for (match, table), (first, last) in sorted(self._whole.items())
        )


def _documents(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, text) for each replay in a file."""
    if ".jsonl" not in path.suffixes:
        yield 1, path.read_bytes()
        return
    try:
        yield from data.lines(path)
    except data.DataError as error:
        raise Problem(str(error)) from None


def _problem(text: bytes, revealed: Revealed | None, boards: SeenBoards) -> dict[str, Any] | None:
    from engine.replay import ReplayError
    from engine.runner.evidence.replays import check
    from engine.runner.evidence.reveal import RevealError

    try:
        replay = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {"step": 0, "kind": "not_json", "problem": f"not JSON: {error}"}
    try:
        check(replay)
    except ReplayError as error:
        return {"step": error.step, "kind": "replay", "problem": str(error)}
    if revealed is not None:
        try:
            revealed.check(replay)
        except RevealError as error:
            return {"step": 0, "kind": error.kind, "problem": f"{error.kind}: {error}"}
        boards.add(replay["meta"])
    return None
