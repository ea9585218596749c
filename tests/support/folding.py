"""A viewer that knows no rules: it derives table and hands from events alone, redacted or complete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]


class Fold:
    """The position that a viewer shows after some events. `hands[seat]` is None if the viewer does not see the hand; `counts` are always known."""

    def __init__(self, seat: int | None = None) -> None:
        self.seat = seat
        self.players = 0
        self.hands: list[set[str] | None] = []
        self.counts: list[int] = []
        self.trump: str | None = None
        self.shown: str | None = None
        self.holder: int | None = None
        self.stock = 0
        self.rest: list[str] | None = None
        self.trick: list[tuple[int, str]] = []
        self.last_trick: list[tuple[int, str]] = []
        self.taken: list[str] = []
        self.put_away: set[str] = set()
        self.tricks: list[int] = []
        self.points: list[int] = []
        self.songs: list[int] = []
        self.pending: tuple[int, str] | None = None
        self.totals: list[int] = []
        self.games: list[int] = []
        self.marks: list[int] = []
        self.chips: list[int] = []
        self.pot = 0
        self.playing: set[int] = set()
        self.scores: list[int] = []
        self.over = False
        self.played_out = False

    def see(self, events: Iterable[Event]) -> Fold:
        """Take in events, in order; events of unknown kind change nothing on the table."""
        for event in events:
            handler = getattr(self, "on_" + event["e"], None)
            if handler is not None:
                handler(event)
        return self

    # ---- the deal

    def on_match(self, event: Event) -> None:
        self.players = event["players"]

    def on_deal(self, event: Event) -> None:
        seats = self.players
        if "hands" in event:
            self.hands = [set(hand) for hand in event["hands"]]
            self.counts = [len(hand) for hand in event["hands"]]
        else:
            self.hands = [None] * seats
            if self.seat is not None:
                self.hands[self.seat] = set(event["hand"])
            self.counts = list(event["counts"])
        self.rest = list(event["rest"]) if "rest" in event else None
        for name in ("trump", "shown", "holder", "stock"):
            setattr(self, name, event[name])
        for name in ("totals", "games", "marks", "chips"):
            setattr(self, name, list(event[name]))
        self.trick, self.last_trick, self.taken, self.put_away = [], [], [], set()
        self.tricks, self.points, self.songs = [0] * seats, [0] * seats, [0] * seats
        self.pending, self.playing, self.played_out = None, set(), False

    def on_reveal(self, event: Event) -> None:
        self.shown = event.get("shown", self.shown)

    def on_ante(self, event: Event) -> None:
        self.pot = event["pot"]

    def on_trump(self, event: Event) -> None:
        self.trump = event["suit"]

    # ---- cards that move

    def gain(self, seat: int, card: str | None) -> None:
        """Add a card to a hand. None is a card that the viewer does not see."""
        self.counts[seat] += 1
        hand = self.hands[seat]
        if hand is not None:
            assert card is not None, "a viewer must be told the cards of a hand it sees"
            assert card not in hand
            hand.add(card)

    def lose(self, seat: int, card: str | None) -> None:
        """Remove a card from a hand."""
        self.counts[seat] -= 1
        hand = self.hands[seat]
        if hand is not None:
            assert card is not None, "a viewer must be told the cards of a hand it sees"
            hand.remove(card)

    def on_notice(self, event: Event) -> None:
        self.lose(event["seat"], event["card"])
        self.pending = (event["seat"], event["card"])

    def on_return(self, event: Event) -> None:
        self.gain(event["seat"], event["card"])
        self.pending = None

    def on_exchange(self, event: Event) -> None:
        seat, gives = event["seat"], event["gives"]
        if self.pending == (seat, gives):
            self.pending = None
        else:
            self.lose(seat, gives)
        self.gain(seat, event.get("takes"))
        if self.shown is None and self.rest:
            self.rest = []  # the face-down centre card of a first deal
        self.shown = gives

    def on_take(self, event: Event) -> None:
        self.gain(event["seat"], event["card"])
        self.shown = None

    def on_discard(self, event: Event) -> None:
        cards = event.get("cards", [None] * event["count"])
        for card in cards:
            self.lose(event["seat"], card)
            self.put_away |= {card} - {None}

    def on_draw(self, event: Event) -> None:
        card = event.get("card")
        self.stock = max(0, self.stock - 1)
        if event.get("shown"):
            self.shown = None
        elif self.rest is not None and card in self.rest:
            self.rest.remove(card)
        self.gain(event["seat"], card)

    def on_reshuffle(self, event: Event) -> None:
        for seat in set(range(self.players)) - self.playing:
            hand = self.hands[seat]
            if self.rest is not None and hand is not None:
                self.rest += sorted(hand)
            self.counts[seat] = 0
            self.hands[seat] = None if hand is None else set()

    def on_call(self, event: Event) -> None:
        if event["call"] in ("play", "join"):
            self.playing.add(event["seat"])

    def on_takeover(self, event: Event) -> None:
        a, b = event["seat"], event["of"]
        self.counts[a], self.counts[b] = self.counts[b], self.counts[a]
        self.hands[a], self.hands[b] = self.hands[b], self.hands[a]

    # ---- tricks and points

    def on_play(self, event: Event) -> None:
        self.lose(event["seat"], event["card"])
        self.trick.append((event["seat"], event["card"]))
        if self.holder == event["seat"] and self.shown == event["card"]:
            self.holder = None

    def on_trick(self, event: Event) -> None:
        assert event["cards"] == [card for _, card in self.trick]
        self.taken += event["cards"]
        self.tricks[event["seat"]] += 1
        self.points[event["seat"]] += event["points"]
        self.last_trick, self.trick = self.trick, []
        self.played_out = bool(event.get("last"))

    def on_song(self, event: Event) -> None:
        self.songs[event["seat"]] += event["points"]

    def on_score(self, event: Event) -> None:
        for name in ("totals", "games", "marks", "chips", "scores"):
            setattr(self, name, list(event[name]))

    def on_over(self, event: Event) -> None:
        self.over = True
        self.scores = list(event["scores"])
