"""The output of commands: tables and JSON on stdout, progress on stderr."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int, int], None]  # Finished, total.
EVERY_S = 5.0  # Interval between two lines of progress without a terminal.


def command(commands: Any, name: str, summary: str, example: str, details: str = "") -> argparse.ArgumentParser:
    """Add a subcommand with help and an example."""
    text = f"{summary[:1].upper()}{summary[1:]}.\n{details}"
    epilog = "example:\n" + "\n".join(f"  {line}" for line in example.strip().splitlines())
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=text, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    return parser


def json_flag(parser: argparse.ArgumentParser) -> None:
    """Declare --json, which is the same in every command."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document instead of text, stable for scripts"
    )


def print_json(value: Any) -> None:
    """Print one JSON document to stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], left_columns: int = 1) -> None:
    """Print a plain table to stdout: the first `left_columns` columns left-aligned, the others right-aligned. Markup is not interpreted."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *texts]) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if i < left_columns else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    print(line(columns))
    print("  ".join("-" * width for width in widths))
    for row in texts:
        print(line(row))


def paragraph(text: str, indent: str = "") -> None:
    """Print text wrapped to the terminal. Long words of data stay whole, so that they can be copied."""
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
    """Show progress on stderr while the block runs: a bar on a terminal, elsewhere a line every few seconds, for logs and pipes."""
    if not sys.stderr.isatty():
        yield _lines(label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda finished, total: bar.update(task, completed=finished, total=total)


def _lines(label: str) -> Advance:
    last_report_s = time.monotonic()

    def advance(finished: int, total: int) -> None:
        nonlocal last_report_s
        if time.monotonic() - last_report_s >= EVERY_S:
            last_report_s = time.monotonic()
            print(f"{label}: {finished} of {total}", file=sys.stderr, flush=True)

    return advance
