"""Faults: the ways in which a bot ends its pass. The league is never to blame for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.sandbox.errors import BrokenOff

# These texts are part of the events sent to bots: if a text changed, the lines of an old log could not be rebuilt byte for byte.
KINDS = {
    "crash": "the process ended by itself, with an exit code or a signal",
    "timeout": "no answer within the CPU time of the decision and the bank, or within the wall-clock cap",
    "start_timeout": "the bot was not ready within its start budget",
    "memory": "the process was killed at its memory limit",
    "output_flood": "a line longer than 64 KiB",
    "protocol": "the answer to a request was not one valid JSON object of the protocol",
    "illegal_action": "the answer is not among the legal actions",
    "pondering": "the process used CPU time while it was frozen",
    "disconnect": "the process closed its input or output but went on running",
    "unplayable": "the match broke off at this bot for the second time",
}


class Fault(Exception):
    """A bot broke the protocol or a limit. `kind` is one of `KINDS`, `detail` a sentence for its author."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class Infrastructure(Exception):
    """The platform failed: sandbox, disk or rules code. No bot loses by it; the match must be played again.

    party: the party at whose bot the sandbox failed after its own code had begun. If the match breaks off there again, the party must be listed in
    `unplayable`.
    """

    def __init__(self, why: str, party: int | None = None) -> None:
        super().__init__(why)
        self.party = party


@contextmanager
def blamed_on(party: int) -> Iterator[None]:
    """Set the party in errors that break a match off at its bot."""
    try:
        yield
    except BrokenOff as error:
        error.party = party
        raise


def party_of(error: Exception) -> int | None:
    """Return the party at whose bot a match broke off, if the error names it."""
    return error.party if isinstance(error, BrokenOff | Infrastructure) else None


def fault_event(seat: int, kind: str) -> dict[str, Any]:
    """Build the event that reports a fault to all seats: which seat failed and how. It omits the answer, which may show cards."""
    return {"e": "fault", "seat": seat, "fault": kind, "detail": KINDS.get(kind, "")}


EXCERPT = 200  # Longest quotation of an offending line, in characters.


def quoted(line: bytes | str) -> str:
    """Return a bot's line as one printable, shortened ASCII text that is safe in a terminal, a log and a page."""
    if isinstance(line, str):
        line = line.encode("utf-8", "backslashreplace")
    excerpt = line[:EXCERPT].decode("utf-8", "backslashreplace").rstrip("\r\n")
    text = "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in excerpt)
    return text if len(line) <= EXCERPT else f"{text}... ({len(line)} bytes)"
