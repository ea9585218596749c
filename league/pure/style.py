"""The style of a bot, counted from its play: how often it sings, leads trumps, and takes all tricks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any


@dataclass(slots=True)
class Style:
    """The counts of one party. A *place* is one seat in one deal played to its end; a side of two seats has two per deal.

    sung: places that sang; capotes: places whose side took all tricks (at least two), or won the capote that it had announced; leads: first cards
    of tricks while there was a trump suit; trump_leads: first cards that were trumps.
    """

    places: int = 0
    sung: int = 0
    capotes: int = 0
    leads: int = 0
    trump_leads: int = 0

    def __add__(self, other: Style) -> Style:
        return Style(
            *(left_count + right_count for left_count, right_count in zip(astuple(self), astuple(other), strict=True))
        )


COUNTS = tuple(field.name for field in fields(Style))


class _Deal:
    """The state of a deal while its events are read."""

    def __init__(self, event: Mapping[str, Any]) -> None:
        self.trump: str | None = event["trump"]
        self.out = set(event["out"])
        self.cards = [len(hand) for hand in event["hands"]]
        self.played: set[int] = set()
        self.sung: set[int] = set()
        self.leads: list[tuple[int, bool]] = []
        self.takers: list[int] = []  # The winner of each trick.
        self.empty = True  # True while no card lies on the table.

    def read(self, event: Mapping[str, Any]) -> None:
        """Read an event between the deal and its score."""
        word = event["e"]
        if word == "play":
            if self.empty and self.trump:
                self.leads.append((event["seat"], event["card"][-1] == self.trump))
            self.empty = False
            self.played.add(event["seat"])
            self.cards[event["seat"]] -= 1
        elif word == "trick":
            self.empty = True
            self.takers.append(event["seat"])
        elif word == "song":
            self.sung.add(event["seat"])
        elif word == "trump":
            self.trump = event["suit"]
        elif word in ("draw", "take"):
            self.cards[event["seat"]] += 1
        elif word == "discard":
            self.cards[event["seat"]] -= event["count"]

    def swept(self, score: Mapping[str, Any], sides: Sequence[Sequence[int]]) -> set[int]:
        """Return the seats of the side that made a capote."""
        if score["why"] == "capote" and score["winner"] is not None:
            return set(sides[score["winner"]])
        # A claim or a target may have ended the deal while cards were still in hand; then it was no capote.
        whole = len(self.takers) > 1 and not any(self.cards[seat] for seat in self.played)
        return next((set(side) for side in sides if whole and set(self.takers) <= set(side)), set())


def count(events: Iterable[Mapping[str, Any]], seating: Sequence[int], parties: int) -> list[Style]:
    """Count the style of each party in one sitting. `events`: its whole record; `seating`: the party of each seat. Unfinished deals do not count."""
    styles = [Style() for _ in range(parties)]
    sides: list[list[int]] = []
    deal: _Deal | None = None
    for event in events:
        if event["e"] == "match":
            sides = event["sides"]
        elif event["e"] == "deal":
            deal = _Deal(event)
        elif deal is not None and event["e"] == "score":
            _close(deal, deal.swept(event, sides), seating, styles)
            deal = None
        elif deal is not None:
            deal.read(event)
    return styles


def _close(deal: _Deal, swept: Container[int], seating: Sequence[int], styles: list[Style]) -> None:
    for seat, party in enumerate(seating):
        if seat not in deal.out:
            style = styles[party]
            style.places += 1
            style.sung += seat in deal.sung
            style.capotes += seat in swept
    for seat, trump in deal.leads:
        styles[seating[seat]].leads += 1
        styles[seating[seat]].trump_leads += trump
