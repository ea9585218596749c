"""Exit codes, and the error that ends a command with one of them."""

from __future__ import annotations

import argparse
import math

OK = 0
FAILED = 1  # The command has checked something, and it is not valid.
USAGE = 2  # Wrong command or input.
INFRASTRUCTURE = 3  # A failure of this machine: sandbox, disk.
INTERRUPTED = 130  # The code that shells report for SIGINT.


class Problem(Exception):
    """An error that ends the command with a message on stderr and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def require(args: argparse.Namespace, **least: float) -> None:
    """Raise Problem for a number on the command line that is below its least value; None is a number that was left out."""
    for name, low in least.items():
        value = getattr(args, name)
        if value is not None and not low <= value < math.inf:
            raise Problem(f"--{name} {value:g} is too small; give at least {low:g}")
