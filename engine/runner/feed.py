"""The events that each seat has not been told yet.

Events ride on the next request to a seat: nothing is sent that asks for no answer. Everything that one seat sees and another does not passes
through `engine.redact`, which is the only way from the record to a bot; what all see alike is encoded once and shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import engine
from engine.match.redaction import alike
from engine.runner.protocol import encode


class Feed:
    """The events of one pass, sitting after sitting, as encoded JSON texts per seat."""

    def __init__(self, seats: int) -> None:
        self._events: list[dict[str, Any]] = []
        self._read = 0  # of these
        self._board = 0
        self._shared: list[str] = []  # what all see alike, since the seats were last told apart
        self._told = [0] * seats  # of these
        self._own: list[list[str]] = [[] for _ in range(seats)]  # what comes before the rest of `_shared`

    def begin(self, events: list[dict[str, Any]], board: int, opening: list[list[str]]) -> None:
        """Follow the record of a new sitting, a list that grows while it is played. `opening`: of what stands in it by now."""
        self._catch_up()
        self._part()
        for own, texts in zip(self._own, opening, strict=True):
            own += texts
        self._events = events
        self._read = len(events)
        self._board = board

    def announce(self, event: dict[str, Any]) -> None:
        """Tell every seat something that is not in the record of the game: that a bot failed."""
        self._catch_up()
        self._shared.append(encode(event))

    def take(self, seat: int) -> list[str]:
        """The events that the seat has not been told yet, which now count as told."""
        if self._read < len(self._events):
            self._catch_up()
        shared, told = self._shared, self._told
        untold = shared[told[seat] :]
        told[seat] = len(shared)
        if self._own[seat]:
            untold = self._own[seat] + untold
            self._own[seat] = []
        return untold

    def _catch_up(self) -> None:
        events, shared = self._events, self._shared
        for place in range(self._read, len(events)):
            event = events[place]
            kind = event["e"]
            # plays and tricks, most of all events, are written in a tenth of the encoder's time: with cold caches also quicker than looked up
            if kind == "play":
                shared.append(f'{{"e":"play","seat":{event["seat"]},"card":"{event["card"]}"}}')
            elif kind == "trick" and len(event) == 4:
                shared.append(
                    f'{{"e":"trick","seat":{event["seat"]},"points":{event["points"]},"cards":{_list(event["cards"])}}}'
                )
            elif alike(event):
                shared.append(encode(event))
            else:
                self._part()
                for own, text in zip(self._own, _each(event, self._board, len(self._own)), strict=True):
                    own.append(text)
        self._read = len(events)

    def _part(self) -> None:
        """End the part of the events that all seats share; what follows is kept for each seat alone."""
        shared = self._shared
        for seat, told in enumerate(self._told):
            self._own[seat] += shared[told:]
            self._told[seat] = 0
        shared.clear()


def opening(events: Sequence[dict[str, Any]], board: int, seats: int) -> list[list[str]]:
    """What each seat is told of the events with which a sitting on that board begins, encoded."""
    told: list[list[str]] = [[] for _ in range(seats)]
    for event in events:
        for texts, text in zip(told, _each(event, board, seats), strict=True):
            texts.append(text)
    return told


def _each(event: dict[str, Any], board: int, seats: int) -> list[str]:
    """An event as each seat sees it, encoded."""
    if alike(event):
        return [encode(event)] * seats
    dealt = event["e"] == "deal"
    if dealt:
        event = {"e": "deal", "board": board, **event}
    texts = []
    before: dict[str, Any] | None = None
    text = ""
    for seat in range(seats):
        (seen,) = engine.redact((event,), seat)
        hand = seen.pop("hand", None) if dealt else None  # stands last, and the rest of a deal is alike
        if seen != before:
            before, text = seen, encode(seen)
        texts.append(text if hand is None else f'{text[:-1]},"hand":{_list(hand)}}}')
    return texts


def _list(cards: Sequence[str]) -> str:
    """Texts of cards as `encode` writes them, in a tenth of its time."""
    return '["' + '","'.join(cards) + '"]' if cards else "[]"
