"""Opening choices: what each seat called, led first and sang in a deal, the type of the hand it chose with, and what the deal brought it.

The type of a hand follows from the rules of the table, never from the name of a game. It is a text of up to four parts:

* `n5`: five cards, only in games whose hands grow or shrink;
* `t3`: three trumps; `l3`: no trump is known, and the longest suit has three cards; 5 stands for more;
* `h0` to `h3`: honours in that suit: none, the second card (the three), the highest (the ace), both;
* `p0` to `p3`: pairs to sing: none, in another suit, in that suit, both. Only in games with songs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.game import load
from engine.rules.terms import Terms

MOST_LENGTH = 5
SOLO, DEFENCE = ".solo", ".defence"
# A first call before or after a bid of another seat, predicted tricks, the first card of a deal, and the songs of a hand with a pair.
# Leads and songs of a soloist and of the defence are separate.
KINDS = (
    "call.first",
    "call.after",
    "predict",
    "lead",
    "lead" + SOLO,
    "lead" + DEFENCE,
    "song",
    "song" + SOLO,
    "song" + DEFENCE,
)
NO_SONG = "none"
PASSES = ("pass", "out", "join")
BID_WIDTH = 20  # Bids are grouped by amount, because there are dozens of them.
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpeningChoice:
    """A choice of one seat.

    kind: one of KINDS; hand: the type of the hand; choice: the class of a call (`call_class`) or of a card (`card_class`), or the points of the songs
    ("20", "20 40"); deal, step: its place in the record, counted as in the list of steps; step 0: no single one. worth: score of the seat's side in
    the deal, less that of each other side, added up over the other sides.
    """

    kind: str
    hand: str
    choice: str
    seat: int
    deal: int
    step: int
    worth: int = 0


def hand_type(terms: Terms, hand: Sequence[int], trump: int | None) -> str:
    """Return the type of a hand, given as a bit mask for each suit. Without a trump suit, its longest suit takes the place of the trumps."""
    sings = terms.paired
    honours = terms.pack.size - 2
    suit = trump
    if suit is None:
        suit = max(range(4), key=lambda place: (hand[place].bit_count(), hand[place] >> honours, sings[hand[place]]))
    length = min(hand[suit].bit_count(), MOST_LENGTH)
    parts = [f"n{sum(mask.bit_count() for mask in hand[:4])}"] if terms.rules.sequence else []
    parts += [f"{'l' if trump is None else 't'}{length}", f"h{hand[suit] >> honours}"]
    if any(sings):
        others = any(sings[hand[place]] for place in range(4) if place != suit)
        parts.append(f"p{2 * sings[hand[suit]] + others}")
    return "-".join(parts)


def card_class(terms: Terms, hand: Sequence[int], card: int, trump: int | None) -> str:
    """Return the class of a card that is led: its suit and its rank.

    The suit: trump `t`; without trumps the longest of the hand `l`; another `o`. The rank: the highest `1`, the second `3`, another that counts
    points `f`, one that counts nothing `x`.
    """
    suit, size = terms.pack.suit[card], terms.pack.size
    if trump is None:
        family = "l" if hand[suit].bit_count() == max(mask.bit_count() for mask in hand[:4]) else "o"
    else:
        family = "t" if suit == trump else "o"
    rank = {size - 1: "1", size - 2: "3"}.get(card % size)
    return family + (rank or ("f" if terms.card_points[card] else "x"))


def call_class(call: str) -> str:
    """Return the class of a call: "bid 60-79" for a bid of 70, other calls as they are."""
    word, _, amount = call.partition(" ")
    if word != "bid":
        return call
    low = int(amount) // BID_WIDTH * BID_WIDTH
    return f"bid {low}-{low + BID_WIDTH - 1}"


def read(record: Mapping[str, Any]) -> Iterator[OpeningChoice]:
    """Yield the choices of all deals of a replay that were played to their score. It must be a whole record, not the view of a seat."""
    events = record.get("events", ())
    if not events:  # A fault prevented the sitting.
        return
    terms = load(record["game"], players=record["players"], **record["options"])
    sides: Sequence[Sequence[int]] = terms.sides
    scores = marks = [0] * terms.players
    deal: _OpeningDeal | None = None
    for event in events:
        if event["e"] == "deal":
            deal = _OpeningDeal(terms, event)
        elif deal is not None and event["e"] == "score":
            # Where boards compare places, a deal brings only loss marks
            gains = [after - before for after, before in zip(event["scores"], scores, strict=True)]
            if terms.score_unit == "rank":
                gains = [before - after for after, before in zip(event["marks"], marks, strict=True)]
            scores, marks = event["scores"], event["marks"]
            by_side = [gains[seats[0]] for seats in sides]
            for choice in deal.choices():
                own = by_side[terms.side[choice.seat]]
                yield replace(choice, worth=own * len(sides) - sum(by_side))
            deal = None
        elif deal is not None:
            deal.read(event)


PartyCounts = list[list[Any]]  # Of one party: kind, hand, choice, number and worth.


def count(sittings: Iterable[tuple[Mapping[str, Any], Sequence[int]]], parties: int) -> list[PartyCounts]:
    """Count the choices of each party in the sittings of a match, given as the whole replay and the party at each seat."""
    sums: list[dict[tuple[str, str, str], list[int]]] = [{} for _ in range(parties)]
    for record, seating in sittings:
        for choice in read(record):
            row = sums[seating[choice.seat]].setdefault((choice.kind, choice.hand, choice.choice), [0, 0])
            row[0] += 1
            row[1] += choice.worth
    return [[[*key, *row] for key, row in sorted(of_party.items())] for of_party in sums]


@dataclass
class _OpeningDeal:
    """A deal while its events are read."""

    terms: Terms
    event: Event
    step: int = 0
    solo: int | None = None
    called: set[int] = field(default_factory=set)
    before: list[OpeningChoice] = field(default_factory=list)  # Calls and the first lead.
    singers: list[OpeningChoice] = field(default_factory=list)  # The seats with a pair, as if none of them sang.
    songs: dict[int, list[int]] = field(default_factory=dict)
    sung_at: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pack = self.terms.pack
        self.hands = [pack.hand(map(pack.parse, cards)) for cards in self.event["hands"]]
        self.trump = self._suit(self.event["trump"])

    def _suit(self, text: str | None) -> int | None:
        return None if text is None else self.terms.pack.parse_suit(text)

    def _move(self, seat: int, card: str) -> None:
        """Put a card into a hand, or take it out of it."""
        number = self.terms.pack.parse(card)
        self.hands[seat][self.terms.pack.suit[number]] ^= self.terms.pack.bit[number]

    def read(self, event: Event) -> None:
        """Read an event between the deal and its score."""
        self.step += 1
        word = event["e"]
        if word == "song":
            self.songs.setdefault(event["seat"], []).append(event["points"])
            self.sung_at.setdefault(event["seat"], self.step)
        elif any(choice.kind.startswith("lead") for choice in self.before):
            return
        elif word == "play":
            self._lead(event["seat"], self.terms.pack.parse(event["card"]))
        elif word == "trump":
            self.trump = self._suit(event.get("suit"))
        elif word in ("call", "predict", "takeover"):
            self._call(event)
        elif word in ("draw", "take", "exchange", "discard"):
            cards = event.get("cards") or [event[name] for name in ("card", "gives", "takes") if event.get(name)]
            for card in cards:
                self._move(event["seat"], card)

    def _call(self, event: Event) -> None:
        seat, word = event["seat"], event["e"]
        if word != "takeover" and seat not in self.called:
            self.called.add(seat)
            kind = "predict" if word == "predict" else "call.first" if self.solo is None else "call.after"
            self._add(kind, seat, str(event["tricks"]) if word == "predict" else call_class(event["call"]))
        if word == "takeover" or (word == "call" and event["call"] not in PASSES):
            self.solo = seat

    def _lead(self, seat: int, card: int) -> None:
        self._add("lead" + self._camp(seat), seat, card_class(self.terms, self.hands[seat], card, self.trump))
        for singer, hand in enumerate(self.hands):
            may = self.terms.rules.hand_songs != "soloist" or singer == self.solo
            if may and singer not in self.event["out"] and any(self.terms.paired[mask] for mask in hand[:4]):
                pairs = hand_type(self.terms, hand, self.trump).rpartition("-")[2]
                place = (singer, self.event["deal"], 0)
                self.singers.append(OpeningChoice("song" + self._camp(singer), pairs, NO_SONG, *place))

    def _camp(self, seat: int) -> str:
        return "" if self.solo is None else SOLO if seat == self.solo else DEFENCE

    def _add(self, kind: str, seat: int, choice: str) -> None:
        hand = hand_type(self.terms, self.hands[seat], self.trump)
        self.before.append(OpeningChoice(kind, hand, choice, seat, self.event["deal"], self.step))

    def choices(self) -> Iterator[OpeningChoice]:
        """Yield the choices of the deal, without their worth."""
        yield from self.before
        for singer in self.singers:
            sung = " ".join(map(str, sorted(self.songs.get(singer.seat, ()))[:3]))
            yield replace(singer, choice=sung or NO_SONG, step=self.sung_at.get(singer.seat, 0))
