"""The output of commands: tables and JSON on stdout, progress on stderr, colours on terminals."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

Advance = Callable[[int, int], None]  # Number finished, total number.
EVERY_S = 5.0  # Interval between two lines of progress without a terminal.
GOOD, BAD, STRONG = "32", "31", "1"  # Terminal codes: green, red, bold.

_color = "auto"  # The value of --color.


def set_color(when: str) -> None:
    """Set when output is coloured: auto (on a terminal, unless NO_COLOR is set), always or never."""
    global _color
    _color = when


def seats(sitting: int) -> str:
    """Return how people call a sitting, "seats A" for 0, as the pages of a league do."""
    return f"seats {chr(ord('A') + sitting)}"


def paint(text: str, code: str, stream: TextIO | None = None) -> str:
    """Return the text in a colour if its stream (default: stdout) shows colours; see https://no-color.org."""
    stream = stream or sys.stdout
    auto = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\033[{code}m{text}\033[0m" if _color == "always" or (_color == "auto" and auto) else text


class PaintedCell(str):
    """A cell of a table with a colour, which does not count towards its width."""

    code: str

    def __new__(cls, text: object, code: str) -> PaintedCell:
        """Return the text with its colour."""
        cell = super().__new__(cls, text)
        cell.code = code
        return cell


def command(commands: Any, name: str, summary: str, example: str, details: str = "") -> argparse.ArgumentParser:
    """Add a subcommand with help and an example."""
    text = f"{summary[:1].upper()}{summary[1:]}.\n{details}"
    epilog = "example:\n" + "\n".join(f"  {line}" for line in example.strip().splitlines())
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=text, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours in the output (auto: on a terminal, unless NO_COLOR is set)",
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
    texts = [[cell if isinstance(cell, str) else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *texts]) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = []
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            text = cell.ljust(width) if i < left_columns else cell.rjust(width)
            if i == len(cells) - 1:
                text = text.rstrip()
            padded.append(paint(text, cell.code) if isinstance(cell, PaintedCell) else text)
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
def progress(label: str, *, among_results: bool = False) -> Iterator[Advance]:
    """Show progress on stderr while the block runs: a bar on a terminal, elsewhere a line every few seconds, for logs and pipes.

    among_results: the block itself prints its results one by one; then pipes get no other lines of progress.
    """
    if not sys.stderr.isatty():
        yield _silent if among_results else _lines(label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without a redirection, results that go to a file or a pipe would be printed to the terminal of the bar.
    console = Console(stderr=True, no_color=_color == "never" or None)
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task(label, total=None)
        yield lambda finished, total: bar.update(task, completed=finished, total=total)


def _silent(finished: int, total: int) -> None:
    """Show nothing."""


def _lines(label: str) -> Advance:
    last_report_s = time.monotonic()

    def advance(finished: int, total: int) -> None:
        nonlocal last_report_s
        if time.monotonic() - last_report_s >= EVERY_S:
            last_report_s = time.monotonic()
            print(f"{label}: {finished} of {total}", file=sys.stderr, flush=True)

    return advance
