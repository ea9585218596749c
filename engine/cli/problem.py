"""Exit codes, and the error that ends a command with one."""

from __future__ import annotations

OK = 0
FAILED = 1  # the thing that was checked does not hold
USAGE = 2  # bad command or input
INFRASTRUCTURE = 3  # this machine: sandbox, disk
INTERRUPTED = 130  # as shells report SIGINT


class Problem(Exception):
    """Ends the command with a message for people on stderr, and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code
