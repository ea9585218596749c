"""All playings of one board side by side: the same cards, card for card, and where the players first did something else.

The passes of a board are played with their suits exchanged, so that a bot cannot recognise the cards. Here every record is read
back into the suits of the deal, so that the same card has the same name in every column.
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
# moments that are nobody's choice
DEALT = frozenset({"deal", "draw", "trick", "score", "over", "reshuffle", "reveal", "partner", "ante"})
# moments without a line of their own: the cards and the foot of each trick show them
SHOWN_BY_CARDS = frozenset({"trick", "draw"})


@dataclass
class Item:
    """One thing that was done: a card on the table (`card`), or what `sentence` says. `differs`: the first that does."""

    moment: Moment
    sentence: Sentence
    differs: bool = False

    @property
    def card(self) -> str:
        """The card, where one was put on the table."""
        return str(self.moment["card"]) if self.moment["e"] == "play" else ""

    @property
    def seat(self) -> int | None:
        """Whose doing it was."""
        return self.moment.get("seat")


@dataclass
class Trick:
    """What was done from one trick to the next; `winner` and `points` once it is taken."""

    items: list[Item] = field(default_factory=list)
    winner: int | None = None
    points: int = 0

    @property
    def cards(self) -> bool:
        """Whether a card was put on the table in it; what follows the last trick has none."""
        return any(item.card for item in self.items)

    @property
    def differs(self) -> bool:
        """Whether the first difference lies in it."""
        return any(item.differs for item in self.items)


@dataclass
class Deal:
    """One deal of all playings: what each dealt, by seat, and per trick a cell of each; None where a playing was over before."""

    number: int
    dealt: list[list[list[str]] | None]
    rows: list[tuple[Trick | None, ...]]

    @property
    def is_dealt_alike(self) -> bool:
        """Whether the seats held the same cards in all playings that came to it. Who deals may follow from the deals before."""
        there = [hands for hands in self.dealt if hands is not None]
        return all(hands == there[0] for hands in there)

    @property
    def hands(self) -> list[list[str]]:
        """By seat, in the first playing that came to it."""
        return next(hands for hands in self.dealt if hands is not None)

    @property
    def numbered(self) -> list[tuple[int | None, tuple[Trick | None, ...]]]:
        """The rows with the number of their trick; None for what follows the last one."""
        return [
            (number if any(cell is not None and cell.cards for cell in row) else None, row)
            for number, row in enumerate(self.rows, 1)
        ]

    @property
    def same(self) -> bool:
        """Whether several playings, and all of them, did the same from the first card to the last."""
        if len(self.dealt) < 2 or None in self.dealt or not self.is_dealt_alike:
            return False
        return not any(cell is not None and cell.differs for row in self.rows for cell in row)


def plain(record: dict[str, Any], pack: str) -> list[Moment]:
    """The moments of a record in the suits of the deal. `pack`: the suit letters of the game in their order."""
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


def compare(playings: Sequence[tuple[list[Moment], Sequence[str], Sequence[str]]]) -> list[Deal]:
    """The deals of a board. Each playing: its moments (`plain`), a name per seat, the bot of each seat."""
    columns = [dict(_deals(moments, names, bots)) for moments, names, bots in playings]
    found = []
    for number in sorted({number for column in columns for number in column}):
        tricks = [column[number][1] if number in column else [] for column in columns]
        dealt = [[_sorted(hand) for hand in column[number][0]] if number in column else None for column in columns]
        deal = Deal(number, dealt, list(zip_longest(*tricks)))
        if deal.is_dealt_alike:
            _mark([column for column in tricks if column])
        found.append(deal)
    return found


def _sorted(hand: Iterable[str]) -> list[str]:
    order = [*SUITS, *FRENCH.values()]
    return sorted(
        hand, key=lambda card: (order.index(card[-1]) if card[-1] in order else 9, "13RCS7654209".find(card[0]))
    )


def _deals(
    moments: Sequence[Moment], names: Sequence[str], bots: Sequence[str]
) -> Iterator[tuple[int, tuple[list[list[str]], list[Trick]]]]:
    """Number of each deal, its hands and tricks. What follows the last trick stands in a last one without a winner."""
    sentences = iter(narrate(moments, names, bots))
    number = 0
    hands: list[list[str]] = []
    tricks: list[Trick] = []
    for moment in moments:
        if moment["e"] in QUIET:
            continue
        sentence = next(sentences)
        if moment["e"] == "deal":
            if number:
                yield number, (hands, [trick for trick in tricks if trick.items])
            number, hands, tricks = moment["deal"], moment.get("hands") or [], [Trick()]
        elif moment["e"] == "trick":
            tricks[-1].winner, tricks[-1].points = moment["seat"], moment["points"]
            tricks.append(Trick())
        elif moment["e"] not in SHOWN_BY_CARDS and tricks:
            tricks[-1].items.append(Item(moment, sentence))
    if number:
        yield number, (hands, [trick for trick in tricks if trick.items])


def _mark(columns: Sequence[list[Trick]]) -> None:
    """Mark, in every column, the first choice that is not the one of the first column; there, the earliest of these."""
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
