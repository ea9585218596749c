"""What each seat has yet to be told.

Events ride on the next request to a seat: nothing is sent that asks for no answer. Everything passes through `engine.redact`, which is the
only way from the record to a bot. An event that nobody sees differently is encoded once and shared.
"""

from __future__ import annotations

from typing import Any

import engine
from engine.runner.protocol import encode


class Feed:
    """The events of one pass, sitting after sitting, as encoded JSON texts per seat."""

    def __init__(self, seats: int) -> None:
        self._left: list[list[str]] = [[] for _ in range(seats)]  # of earlier sittings of this pass
        self._told = [0] * seats
        self._events: list[dict[str, Any]] = []
        self._texts: list[str] = []  # of events that all see alike; "" where not encoded or not alike
        self._board = 0

    def begin(self, events: list[dict[str, Any]], board: int) -> None:
        """Follow the record of a new sitting: a list that grows while it is played."""
        for seat in range(len(self._told)):
            self._left[seat] = self.take(seat)
            self._told[seat] = 0
        self._events = events
        self._texts = []
        self._board = board

    def announce(self, event: dict[str, Any]) -> None:
        """Tell every seat something that is not in the record of the game: that a bot failed."""
        for seat in range(len(self._told)):
            self._left[seat] = [*self.take(seat), encode(event)]

    def take(self, seat: int) -> list[str]:
        """What the seat has not been told; from now on it has."""
        untold = self._left[seat]
        self._left[seat] = []
        start = self._told[seat]
        new = self._events[start:]
        if not new:
            return untold
        self._told[seat] = start + len(new)
        texts = self._texts
        if len(texts) < start + len(new):
            texts += [""] * (start + len(new) - len(texts))
        for place, (event, seen) in enumerate(zip(new, engine.redact(new, seat), strict=True), start):
            if seen is event:
                text = texts[place]
                if not text:
                    if event["e"] == "play":  # most events: written here, as `encode` would, in a tenth of its time
                        text = f'{{"e":"play","seat":{event["seat"]},"card":"{event["card"]}"}}'
                    else:
                        text = encode(event)
                    texts[place] = text
            else:
                if seen["e"] == "deal":
                    seen = {"e": "deal", "board": self._board, **seen}
                text = encode(seen)
            untold.append(text)
        return untold
