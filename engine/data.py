"""Files of replays, one a line: logs of matches, dumps, and the open data of a league. Plain, or compressed with gzip or zstd.

`replays(path)` yields the replays of a file, `positions(replay)` every decision of one as a state of the engine, and `row(replay)` is its line in a
table. `table(path)` is the whole table for Arrow, and `table(path).to_pandas()` for pandas. `SCHEMA` is the JSON Schema of a line.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from engine import replay as running
from engine.json_schema import find_problem

SCHEMA = Path(__file__).with_name("data.schema.json")
LONGEST = 1 << 26  # Bytes of a line.
CHUNK = 1 << 11  # Compressed bytes that are read at once: they become 64 MiB at most, whatever their author intended.
ROWS = 4096  # Rows of a table that are converted at once.
NEEDS_EXTRA = "{} needs an extra: pip install 'tute-league[data]'"
# The columns of a table, each with the name of its type in `pyarrow`; in brackets: a list.
COLUMNS: dict[str, str | list[str]] = {
    "match": "string",
    "board": "int32",
    "sitting": "int32",
    "game": "string",
    "revision": "int32",
    "players": "int32",
    "deals": "int32",
    "options": "string",
    "bots": ["string"],
    "scores": ["float64"],
    "decisions": "int32",
    "faults": "int32",
}


# Where a spreadsheet begins a cell: those of some countries take a semicolon for the comma.
FORMULA = re.compile(r"(^|[;\n])(?=[=+\-@\t\r])")


class DataError(ValueError):
    """The error for an invalid file of open data, or an invalid line of one."""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each line of a file that is not empty; it is never whole in memory. Raise DataError if it is damaged."""
    number = 0
    try:
        with _opened(path) as file:
            while line := file.readline(LONGEST):
                number += 1
                if len(line) == LONGEST:
                    raise DataError(f"{path}:{number}: longer than {LONGEST} bytes")
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged after line {number}: {error}") from error


def replays(path: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the replays of a file, each checked against the schema. Raise DataError."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for number, line in lines(Path(path)):
        try:
            replay = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}:{number}: not JSON: {error}") from None
        if problem := find_problem(replay, schema):
            raise DataError(f"{path}:{number}: {problem}")
        yield replay


def positions(replay: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    """Yield each decision of a replay: the state before it, and the action that its seat (`state.turn`) chose.

    The state is the same object each time, and plays the action when you ask for the next one; `state.clone()` is yours. Raise `engine.ReplayError`
    if the actions do not fit the rules.
    """
    state = running.begin(replay)
    for step, text in enumerate(replay["actions"], 1):
        action = running.parse(state, step, text)
        yield state, action
        state.apply(action)


def row(replay: dict[str, Any]) -> dict[str, Any]:
    """Return the line of a replay in a table: what was played, by whom, and the scores by seat. Raise DataError."""
    meta = replay["meta"]
    seating, parties = meta.get("seating", []), meta.get("parties", [])
    if not all(0 <= party < len(parties) for party in seating):
        raise DataError(f"a replay of match {meta.get('match')} seats a bot that it does not name")
    return {
        **{name: meta.get(name) for name in ("match", "board", "sitting")},
        **{name: replay[name] for name in ("game", "revision", "players", "deals")},
        "options": json.dumps(replay["options"], sort_keys=True),
        "bots": [parties[party] for party in seating],
        "scores": replay["scores"],
        "decisions": len(replay["actions"]),
        "faults": len(replay.get("faults", [])),
    }


def plain_cell(cell: object) -> object:
    """Return a cell of a CSV that no spreadsheet takes for a formula: text that begins like one gets an apostrophe."""
    return FORMULA.sub(r"\1'", cell) if isinstance(cell, str) else cell


def table(path: Path | str) -> Any:
    """Return a `pyarrow.Table` with a row for each replay of a file; it is whole in memory. Raise DataError."""
    schema = arrow_schema()
    return _pyarrow().Table.from_batches(batches(map(row, replays(path))), schema)


def batches(rows: Iterable[dict[str, Any]]) -> Iterator[Any]:
    """Yield rows as `pyarrow.RecordBatch`, so that a table need not be whole in memory. Raise DataError for a value that has no place in it."""
    arrow, schema, source = _pyarrow(), arrow_schema(), iter(rows)
    while chunk := list(islice(source, ROWS)):
        try:
            yield arrow.RecordBatch.from_pylist(chunk, schema=schema)
        except (arrow.ArrowException, ValueError, OverflowError) as error:
            raise DataError(f"a value does not fit into the table: {error}") from error


def arrow_schema() -> Any:
    """Return the columns of a table as `pyarrow.Schema`."""
    arrow = _pyarrow()

    def kind(name: str | list[str]) -> Any:
        return arrow.list_(kind(name[0])) if isinstance(name, list) else getattr(arrow, name)()

    return arrow.schema([(name, kind(word)) for name, word in COLUMNS.items()])


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise DataError(NEEDS_EXTRA.format("a table for Arrow")) from None
    return pyarrow


class _ZstdReader(io.RawIOBase):
    """The decompressed bytes of a zstd file; if it is damaged or cut, an EOFError, as in gzip."""

    def __init__(self, path: Path) -> None:
        try:
            import zstandard
        except ModuleNotFoundError:
            raise DataError(NEEDS_EXTRA.format("zstd")) from None
        self.error, self.zstd = zstandard.ZstdError, zstandard.ZstdDecompressor().decompressobj()
        self.file, self.rest = path.open("rb"), b""

    def readable(self) -> bool:
        """Return True, as `io.BufferedReader` asks."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the start of `buffer`; return the number of bytes, 0 at the end."""
        while not self.rest and (chunk := self.file.read(CHUNK)):
            try:
                self.rest = self.zstd.decompress(chunk)
            except self.error as error:
                raise EOFError(str(error)) from error
        if not self.rest and not self.zstd.eof:
            raise EOFError("it ends too early")
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        super().close()


def _opened(path: Path) -> io.BufferedIOBase:
    if path.suffix == ".zst":
        return io.BufferedReader(_ZstdReader(path), 1 << 17)
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")
