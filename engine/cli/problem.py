"""Exit codes, and the error that ends a command with one of them."""

from __future__ import annotations

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
