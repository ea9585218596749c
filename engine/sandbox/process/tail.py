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
        """Return the stored text. No letter of UTF-8 is cut in two where bytes were dropped."""
        if not self._dropped:
            return self._head + bytes(self._end)
        return self._head[: _whole(self._head)] + self._mark + bytes(self._end[_first(self._end) :])


def _whole(text: bytes) -> int:
    """Return the length of a text without a letter that is not complete at its end."""
    for place in range(len(text) - 1, max(-1, len(text) - 4), -1):
        lead = text[place]
        if lead >= 0xC0:  # Begins a letter of two to four bytes
            return len(text) if len(text) - place >= 2 + (lead >= 0xE0) + (lead >= 0xF0) else place
        if lead < 0x80:
            break
    return len(text)


def _first(text: bytearray) -> int:
    """Return the place of the first byte that is not the rest of a letter."""
    return next((place for place, byte in enumerate(text[:4]) if not 0x80 <= byte < 0xC0), 0)
