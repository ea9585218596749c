"""Keep the start and the end of an endless text in fixed space."""

from __future__ import annotations

_HEAD_SHARE = 4  # A quarter is for the beginning, because the end has the traceback.


class Tail:
    """At most ``size`` bytes of the input: its beginning and its end, with a mark where bytes were dropped."""

    def __init__(self, size: int) -> None:
        self._head_size = size // _HEAD_SHARE
        self._mark = b"\n[...]\n"
        self._end_size = size - self._head_size - len(self._mark)
        self._head = b""
        self._end = bytearray()
        self._dropped = False

    def feed(self, data: bytes) -> None:
        """Take more text."""
        missing = self._head_size - len(self._head)
        if missing > 0:
            self._head += data[:missing]
            data = data[missing:]
        self._end += data
        if len(self._end) > self._end_size:
            self._dropped = True
            del self._end[: len(self._end) - self._end_size]

    def value(self) -> bytes:
        """Return the stored text."""
        return self._head + (self._mark if self._dropped else b"") + bytes(self._end)
