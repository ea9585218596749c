"""All playings of one board side by side, with the first different choice marked.

The passes of a board are played with their suits exchanged, so that a bot cannot recognise the cards. Here the exchange is undone in every record,
so that the same card has the same name in every column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from league.web.common.words import SUITS
from league.web.matches.narrate import QUIET, Sentence, narrate
from league.web.matches.record import FRENCH

Moment = dict[str, Any]
# Events that no player chooses.
DEALT = frozenset({"deal", "draw", "trick", "score", "over", "reshuffle", "reveal", "partner", "ante"})
# Events without a line: the cards and the foot of each trick show them.
SHOWN_BY_CARDS = frozenset({"trick", "draw"})


@dataclass
class Item:
    """One action: a card on the table (`card`) of `who`, or another action in words (`sentence`). `differs`: the first difference is here."""

    moment: Moment
    sentence: Sentence
    who: str = ""
    differs: bool = False

    @property
    def card(self) -> str:
        """Return the card, or an empty string."""
        return str(self.moment["card"]) if self.moment["e"] == "play" else ""

    @property
    def seat(self) -> int | None:
        """Return the seat that acted."""
        return self.moment.get("seat")


@dataclass
class ComparedTrick:
    """The actions of one trick. `winner`, the winner's name `taker` and `points` are set once the trick is complete."""

    items: list[Item] = field(default_factory=list)
    winner: int | None = None
    taker: str = ""
    points: int = 0

    @property
    def cards(self) -> bool:
        """Return True if a card was played; the part after the last trick has none."""
        return any(item.card for item in self.items)

    @property
    def differs(self) -> bool:
        """Return True if the first difference is in this trick."""
        return any(item.differs for item in self.items)


@dataclass
class ComparedDeal:
    """One deal in all playings: the hands of each playing, and a row of cells per trick. None: the playing ended earlier.

    trump, turned: the suit and the card that were turned up; empty if there are none, or if the playings differ.
    """

    number: int
    dealt: list[list[list[str]] | None]
    rows: list[tuple[ComparedTrick | None, ...]]
    trump: str = ""
    turned: str = ""

    @property
    def is_dealt_alike(self) -> bool:
        """Return True if the seats had the same cards in every playing that reached this deal. The dealer may differ."""
        reached = [hands for hands in self.dealt if hands is not None]
        return all(hands == reached[0] for hands in reached)

    @property
    def hands(self) -> list[list[str]]:
        """Return the hands by seat, in the first playing that reached this deal."""
        return next(hands for hands in self.dealt if hands is not None)

    @property
    def numbered(self) -> list[tuple[int | None, tuple[ComparedTrick | None, ...]]]:
        """Return the rows with their trick numbers; None for the part after the last trick."""
        return [
            (number if any(cell is not None and cell.cards for cell in row) else None, row)
            for number, row in enumerate(self.rows, 1)
        ]

    @property
    def same(self) -> bool:
        """Return True if there are several playings with the same actions."""
        if len(self.dealt) < 2 or None in self.dealt or not self.is_dealt_alike:
            return False
        return not any(cell is not None and cell.differs for row in self.rows for cell in row)


def plain(record: dict[str, Any], pack: str) -> list[Moment]:
    """Return the events of a record in the suits of the deal. `pack`: the suit letters of the game in order."""
    played = record.get("suits") or pack
    back = dict(zip(played, pack, strict=True))
    moments = record.get("events", [])
    return moments if played == pack else [_exchanged(moment, back) for moment in moments]


def _exchanged(data: Any, back: dict[str, str]) -> Any:
    if isinstance(data, dict):
        return {name: value if name in ("e", "why") else _exchanged(value, back) for name, value in data.items()}
    if isinstance(data, list):
        return [_exchanged(value, back) for value in data]
    if isinstance(data, str) and data[-1:] in back and len(data) <= 2 and not data[:-1].islower():
        return data[:-1] + back[data[-1]]
    return data


def compare(playings: Sequence[tuple[list[Moment], Sequence[str], Sequence[str]]]) -> list[ComparedDeal]:
    """Return the deals of a board. Each playing: its events (see `plain`), a name for each seat, the bot of each seat."""
    columns = [dict(_deals(moments, names, bots)) for moments, names, bots in playings]
    deals = []
    for number in sorted({number for column in columns for number in column}):
        tricks = [column[number][1] if number in column else [] for column in columns]
        starts = [column[number][0] for column in columns if number in column]
        dealt = [
            [_sorted(hand) for hand in column[number][0].get("hands") or []] if number in column else None
            for column in columns
        ]
        trump, turned = (_same([start.get(name) or "" for start in starts]) for name in ("trump", "shown"))
        deal = ComparedDeal(number, dealt, list(zip_longest(*tricks)), trump, turned)
        if deal.is_dealt_alike:
            _mark([column for column in tricks if column])
        deals.append(deal)
    return deals


def _same(texts: Sequence[str]) -> str:
    return texts[0] if len(set(texts)) == 1 else ""


def _sorted(hand: Iterable[str]) -> list[str]:
    order = [*SUITS, *FRENCH.values()]
    return sorted(
        hand, key=lambda card: (order.index(card[-1]) if card[-1] in order else 9, "13RCS7654209".find(card[0]))
    )


def _deals(
    moments: Sequence[Moment], names: Sequence[str], bots: Sequence[str]
) -> Iterator[tuple[int, tuple[Moment, list[ComparedTrick]]]]:
    """Yield the number, first event and tricks of each deal. Actions after the last trick form a trick without a winner."""
    sentences = iter(narrate(moments, names, bots))
    number = 0
    start: Moment = {}
    tricks: list[ComparedTrick] = []
    for moment in moments:
        if moment["e"] in QUIET:
            continue
        sentence = next(sentences)
        if moment["e"] == "deal":
            if number:
                yield number, (start, [trick for trick in tricks if trick.items])
            number, start, tricks = moment["deal"], moment, [ComparedTrick()]
        elif moment["e"] == "trick":
            tricks[-1].winner, tricks[-1].points = moment["seat"], moment["points"]
            tricks[-1].taker = names[moment["seat"]]
            tricks.append(ComparedTrick())
        elif moment["e"] not in SHOWN_BY_CARDS and tricks:
            seat = moment.get("seat")
            tricks[-1].items.append(Item(moment, sentence, names[seat] if isinstance(seat, int) else ""))
    if number:
        yield number, (start, [trick for trick in tricks if trick.items])


def _mark(columns: Sequence[list[ComparedTrick]]) -> None:
    """Mark in each column the first choice that differs from the first column, and in the first column the earliest of these."""
    chosen = [[item for trick in column for item in trick.items if item.moment["e"] not in DEALT] for column in columns]
    if not chosen:
        return
    first, others = chosen[0], chosen[1:]
    earliest = len(first)
    for other in others:
        pairs = zip(first, other, strict=False)
        at = next((place for place, (a, b) in enumerate(pairs) if a.moment != b.moment), min(len(first), len(other)))
        if at < len(other):
            other[at].differs = True
        if at < len(other) or at < len(first):
            earliest = min(earliest, at)
    if earliest < len(first):
        first[earliest].differs = True
