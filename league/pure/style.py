"""How a bot plays, counted from what was played: how often it sings, leads trumps, and takes all tricks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any


@dataclass(slots=True)
class Style:
    """Counts of one party. A *place* is one seat in one deal that was played to its end: of a side of two seats each deal has two.

    sung: places at which it sang; capotes: places whose side took all tricks, two at least, or won the capote that it had announced; leads: first
    cards of tricks where a suit was trump; trump_leads: those of that suit.
    """

    places: int = 0
    sung: int = 0
    capotes: int = 0
    leads: int = 0
    trump_leads: int = 0

    def __add__(self, other: Style) -> Style:
        return Style(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


COUNTS = tuple(field.name for field in fields(Style))


class _Deal:
    """One deal while it is read."""

    def __init__(self, event: Mapping[str, Any]) -> None:
        self.trump: str | None = event["trump"]
        self.out = set(event["out"])
        self.held = [len(hand) for hand in event["hands"]]
        self.played: set[int] = set()
        self.sung: set[int] = set()
        self.leads: list[tuple[int, bool]] = []
        self.takers: list[int] = []  # who won each trick
        self.empty = True  # no card lies on the table

    def read(self, event: Mapping[str, Any]) -> None:
        """What happens between the deal and its count."""
        word = event["e"]
        if word == "play":
            if self.empty and self.trump:
                self.leads.append((event["seat"], event["card"][-1] == self.trump))
            self.empty = False
            self.played.add(event["seat"])
            self.held[event["seat"]] -= 1
        elif word == "trick":
            self.empty = True
            self.takers.append(event["seat"])
        elif word == "song":
            self.sung.add(event["seat"])
        elif word == "trump":
            self.trump = event["suit"]
        elif word in ("draw", "take"):
            self.held[event["seat"]] += 1
        elif word == "discard":
            self.held[event["seat"]] -= event["count"]

    def swept(self, score: Mapping[str, Any], sides: Sequence[Sequence[int]]) -> set[int]:
        """The seats of the side that made a capote."""
        if score["why"] == "capote" and score["winner"] is not None:
            return set(sides[score["winner"]])
        # Not where a claim or a target ended the deal while cards were left
        whole = len(self.takers) > 1 and not any(self.held[seat] for seat in self.played)
        return next((set(side) for side in sides if whole and set(self.takers) <= set(side)), set())


def count(events: Iterable[Mapping[str, Any]], seating: Sequence[int], parties: int) -> list[Style]:
    """The style of each party in one sitting. `events`: its whole record; `seating`: the party of each seat. What was cut short is left out."""
    found = [Style() for _ in range(parties)]
    sides: list[list[int]] = []
    deal: _Deal | None = None
    for event in events:
        if event["e"] == "match":
            sides = event["sides"]
        elif event["e"] == "deal":
            deal = _Deal(event)
        elif deal is not None and event["e"] == "score":
            _close(deal, deal.swept(event, sides), seating, found)
            deal = None
        elif deal is not None:
            deal.read(event)
    return found


def _close(deal: _Deal, swept: Container[int], seating: Sequence[int], found: list[Style]) -> None:
    for seat, party in enumerate(seating):
        if seat not in deal.out:
            style = found[party]
            style.places += 1
            style.sung += seat in deal.sung
            style.capotes += seat in swept
    for seat, trump in deal.leads:
        found[seating[seat]].leads += 1
        found[seating[seat]].trump_leads += trump
