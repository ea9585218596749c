"""How commands speak: tables and JSON on stdout, progress on stderr and only to a terminal."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int, int], None]  # done, total
EVERY_S = 5.0  # between two lines of progress where no bar can be drawn


def command(commands: Any, name: str, summary: str, example: str, details: str = "") -> argparse.ArgumentParser:
    """A subcommand with help and an example."""
    text = f"{summary[:1].upper()}{summary[1:]}.\n{details}"
    epilog = "example:\n" + "\n".join(f"  {line}" for line in example.strip().splitlines())
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=text, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    return made


def json_flag(parser: argparse.ArgumentParser) -> None:
    """--json, the same in every command."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document instead of text, stable for scripts"
    )


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> None:
    """A plain table on stdout: the first `left` columns flush left, the others right. Nothing in it is read as markup."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *texts]) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    print(line(columns))
    print("  ".join("-" * width for width in widths))
    for row in texts:
        print(line(row))


def paragraph(text: str, indent: str = "") -> None:
    """Words wrapped to the terminal; long lines of data stay whole, so that they can be copied."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    print(
        textwrap.fill(
            text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    )


@contextmanager
def progress(label: str) -> Iterator[Advance]:
    """Progress on stderr while the block runs: a bar on a terminal, elsewhere a line every so often, for logs and pipes."""
    if not sys.stderr.isatty():
        yield _lines(label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(label: str) -> Advance:
    told = time.monotonic()

    def advance(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= EVERY_S:
            told = time.monotonic()
            print(f"{label}: {done} of {total}", file=sys.stderr, flush=True)

    return advance
