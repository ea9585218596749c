"""What each seat has yet to be told.

Events ride on the next request to a seat: nothing is sent that asks for no answer. Everything that one seat sees and another does not passes
through `engine.redact`, which is the only way from the record to a bot; what all see alike is encoded once and shared.
"""

from __future__ import annotations

from typing import Any

import engine
from engine.events import alike
from engine.runner.protocol import encode


class Feed:
    """The events of one pass, sitting after sitting, as encoded JSON texts per seat."""

    def __init__(self, seats: int) -> None:
        self._untold: list[list[str]] = [[] for _ in range(seats)]
        self._events: list[dict[str, Any]] = []
        self._read = 0  # of these
        self._board = 0

    def begin(self, events: list[dict[str, Any]], board: int) -> None:
        """Follow the record of a new sitting: a list that grows while it is played."""
        self._catch_up()
        self._events = events
        self._read = 0
        self._board = board

    def announce(self, event: dict[str, Any]) -> None:
        """Tell every seat something that is not in the record of the game: that a bot failed."""
        self._catch_up()
        text = encode(event)
        for untold in self._untold:
            untold.append(text)

    def take(self, seat: int) -> list[str]:
        """What the seat has not been told; from now on it has."""
        if self._read < len(self._events):
            self._catch_up()
        untold = self._untold[seat]
        self._untold[seat] = []
        return untold

    def _catch_up(self) -> None:
        new = self._events[self._read :]
        self._read += len(new)
        untold = self._untold
        for event in new:
            if (
                event["e"] == "play"
            ):  # most events: all see them alike, and they are written in a tenth of the encoder's time
                text = f'{{"e":"play","seat":{event["seat"]},"card":"{event["card"]}"}}'
            elif alike(event):
                text = _text(event)
            else:
                self._tell_each(event)
                continue
            for texts in untold:
                texts.append(text)

    def _tell_each(self, event: dict[str, Any]) -> None:
        for seat, untold in enumerate(self._untold):
            (seen,) = engine.redact((event,), seat)
            if seen["e"] == "deal":
                seen = {"e": "deal", "board": self._board, **seen}
            untold.append(encode(seen))


def _text(event: dict[str, Any]) -> str:
    """An event that all see alike, as `encode` writes it; of a trick quicker."""
    if event["e"] == "trick" and len(event) == 4:
        cards = '","'.join(event["cards"])
        return f'{{"e":"trick","seat":{event["seat"]},"points":{event["points"]},"cards":["{cards}"]}}'
    return encode(event)
