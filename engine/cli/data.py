"""`tute data`: check a file of open data, and turn it into a table."""

from __future__ import annotations

import argparse
import csv
import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from engine.cli.output import command, json_flag, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem
from engine.client import League, LeagueError

EXAMPLE = """
tute data tute-partnership-2026-10.jsonl.zst
tute data https://tute.example/data/tute-partnership-2026-10.jsonl.zst --save . --to games.parquet
"""
DETAILS = """
Checks the digest and each line's schema, and counts the replays of each game. The digest is in FILE.sha256, beside the file or at the same
address. A file without one, and without --sha256, is compared with nothing. tute verify plays the replays again.

--to writes a table with a row for each replay: .csv, .parquet or .arrow, as the name of the file ends. A format alone names the table after the
replays: --to parquet. Parquet and Arrow need an extra: pip install 'tute-league[data]'. From Python: engine.data.table is the table,
engine.data.replays reads a file, engine.data.positions each decision of a replay.

exit codes:
  0  the file is valid
  1  it is damaged, or not what its digest or the schema says; --save and --to leave nothing
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
    parser.add_argument("--to", type=Path, metavar="FILE", help="write a row for each replay: .csv, .parquet or .arrow")
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

            def rows() -> Iterator[dict[str, Any]]:
                for replay in data.replays(path):
                    row = data.row(replay)
                    games[row["game"]] += 1
                    matches.add(row["match"])
                    yield row

            _write_table(rows(), _target(args.to, path))
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


def _target(to: Path | None, source: Path) -> Path | None:
    """Return the path of the table. Raise Problem if no format has this ending."""
    if to is not None and str(to) in WRITERS:
        to = Path(f"{source.name.partition('.')[0]}.{to}")
    if to is not None and to.suffix[1:] not in WRITERS:
        raise Problem(f"{to} ends in none of .{', .'.join(WRITERS)}; give a name such as games.parquet")
    return to


def _write_table(rows: Iterator[dict[str, Any]], path: Path | None) -> None:
    """Read all rows; if there is to be a table, it appears when it is complete. Raise DataError."""
    if path is None:
        for _ in rows:
            pass
        return
    beside = path.with_name(f"{path.name}.part")
    try:
        with beside.open("wb") as file:
            WRITERS[path.suffix[1:]](rows, file)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _write_csv(rows: Iterator[dict[str, Any]], file: IO[bytes]) -> None:
    from engine.data import COLUMNS, plain_cell

    # A text may hold half a surrogate pair, which UTF-8 cannot.
    text = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    for row in rows:
        cells = (json.dumps(value) if isinstance(value, list) else value for value in row.values())
        lines.writerow(map(plain_cell, cells))
    text.flush()
    text.detach()


def _write_parquet(rows: Iterator[dict[str, Any]], file: IO[bytes]) -> None:
    from engine import data

    schema = data.arrow_schema()
    from pyarrow import parquet

    with parquet.ParquetWriter(file, schema) as writer:
        for batch in data.batches(rows):
            writer.write_batch(batch)


def _write_arrow(rows: Iterator[dict[str, Any]], file: IO[bytes]) -> None:
    from engine import data

    schema = data.arrow_schema()
    import pyarrow

    with pyarrow.ipc.new_file(file, schema) as writer:
        for batch in data.batches(rows):
            writer.write_batch(batch)


WRITERS = {"csv": _write_csv, "parquet": _write_parquet, "arrow": _write_arrow}


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
    where = urlsplit(address)._replace(scheme="", netloc="", fragment="").geturl()
    try:
        with League(address).open("GET", where, timeout=PATIENCE_S) as answer, path.open("wb") as file:
            size, received = int(answer.headers.get("Content-Length") or 0), 0
            with progress("downloading") as advance:
                while chunk := answer.read(CHUNK):
                    file.write(chunk)
                    received += len(chunk)
                    advance(received, max(size, received))
    except (LeagueError, OSError, HTTPException) as error:
        raise Problem(f"cannot download {address}: {error}", INFRASTRUCTURE) from None
    if size and received != size:
        raise Problem(f"{address} ended after {received} of {size} bytes", INFRASTRUCTURE)
