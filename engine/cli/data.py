"""`tute data`: check a file of open data, and turn it into a table."""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from engine.cli.output import command, json_flag, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem

EXAMPLE = """
tute data tute-partnership-2026-10.jsonl.zst
tute data https://tute.example/data/tute-partnership-2026-10.jsonl.zst --save . --csv games.csv
"""
DETAILS = """
Checks the digest and each line's schema, and counts the replays of each game. The digest is in FILE.sha256, beside the file or at the same
address. A file without one, and without --sha256, is compared with nothing. tute verify plays the replays again.

--csv writes a table with a row for each replay. From Python: engine.data.replays reads a file, engine.data.positions each decision of a replay.

exit codes:
  0  the file is valid
  1  it is damaged, or not what its digest or the schema says; --save and --csv leave nothing
  3  it, or its digest, cannot be downloaded
"""
PATIENCE_S = 60.0
CHUNK = 1 << 20
SUM = ".sha256"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "data", "check a file of open data, and read it as a table", EXAMPLE, DETAILS)
    parser.add_argument("file", metavar="FILE|URL", help="replays, one a line: .jsonl, .jsonl.zst or .jsonl.gz")
    parser.add_argument("--sha256", metavar="HEX", help="the digest that the file must have")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="store the file of an address here")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a row for each replay")
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Check the file, and write the table. Return exit code 1 if the file is not valid."""
    from engine import data

    games: Counter[str] = Counter()
    matches = set()
    try:
        with _local(args.file, args.save) as (path, expected):
            expected = (args.sha256 or expected).lower()
            actual = data.digest(path)
            if expected not in ("", actual):
                raise data.DataError(f"{path.name} has the SHA-256 {actual}, not {expected}: download it again")
            with _table(args.csv) as write:
                for replay in data.replays(path):
                    row = data.row(replay)
                    games[row["game"]] += 1
                    matches.add(row["match"])
                    write(row)
    except data.DataError as error:
        if args.json:
            print_json({"problem": str(error)})
        else:
            print(error)
        return FAILED
    result = {
        "file": path.name,
        "sha256": actual,
        "checked": bool(expected),
        "matches": len(matches),
        "replays": dict(sorted(games.items())),
    }
    if args.json:
        print_json(result)
        return OK
    print_table(("game", "replays"), sorted(games.items()))
    print(f"matches: {len(matches)}; SHA-256 {actual}{'' if expected else ', compared with nothing'}")
    return OK


@contextmanager
def _table(path: Path | None) -> Iterator[Any]:
    """Yield the function that writes a row of the CSV file, if there is to be one. The file appears when it is complete."""
    if path is None:
        yield lambda row: None
        return
    beside = path.with_name(f"{path.name}.part")
    names: list[str] = []
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)

            def write(row: dict[str, Any]) -> None:
                if not names:
                    names.extend(row)
                    rows.writerow(names)
                rows.writerow(json.dumps(value) if isinstance(value, list) else value for value in row.values())

            yield write
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _local(place: str, folder: Path | None) -> Iterator[tuple[Path, str]]:
    """Yield the path of a file, downloaded if `place` is an address, and its expected digest, or "". After an error nothing is in the folder."""
    parts = urlsplit(place)
    if parts.scheme not in ("http", "https"):
        path = Path(place)
        beside = path.with_name(path.name + SUM)
        yield path, _digest_in(beside.read_bytes()) if beside.exists() else ""
        return
    name = Path(parts.path).name or "data.jsonl"
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        path = Path(temporary) / name
        _download(place, path)
        sum_file = path.with_name(name + SUM)
        _download(parts._replace(path=parts.path + SUM).geturl(), sum_file)
        yield path, _digest_in(sum_file.read_bytes())
        if folder is not None:
            for file in (path, sum_file):
                file.replace(folder / file.name)


def _digest_in(text: bytes) -> str:
    word = (text.split() or [b""])[0].decode("ascii", "replace")
    if len(word) != 64:
        raise Problem("the .sha256 file holds no digest")
    return word


def _download(address: str, path: Path) -> None:
    try:
        with urlopen(address, timeout=PATIENCE_S) as answer, path.open("wb") as file:  # noqa: S310 - only http and https get here
            size, received = int(answer.headers.get("Content-Length") or 0), 0
            with progress("downloading") as advance:
                while chunk := answer.read(CHUNK):
                    file.write(chunk)
                    received += len(chunk)
                    advance(received, max(size, received))
    except (OSError, HTTPException) as error:
        raise Problem(f"cannot download {address}: {getattr(error, 'reason', error)}", INFRASTRUCTURE) from None
    if size and received != size:
        raise Problem(f"{address} ended after {received} of {size} bytes", INFRASTRUCTURE)
