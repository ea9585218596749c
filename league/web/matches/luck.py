"""The luck of the cards on the page of a board: what its deals were worth with open cards, and what was made of them.

It is for people to look at. Ratings know nothing of it: a board is played in every seating, so most of it cancels (docs/ratings.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.rules.terms import GAME_SCORE
from league.domain.core.errors import Refused, shown
from league.domain.judgements import asking, bodies, reading
from league.domain.judgements.reading import Placed
from league.enums import JudgementKind
from league.models import Judgement, Match, Party, Sitting
from league.web.matches.judging import amount

WIDTH, HEIGHT, BAR, EDGE = 320, 40, 12, 4


@dataclass(frozen=True)
class Deal:
    """One deal of a sitting, for the side of the first party. par: what it was worth; end: what it came to. None: not proved."""

    par: float | None
    end: float | None


@dataclass(frozen=True)
class Bar:
    """A bar of the picture: where it begins and how wide it is, in its units."""

    x: float
    width: float


@dataclass(frozen=True)
class Row:
    """One sitting, or all of them together: the bars of cards and play, and both in words. None: not proved."""

    sitting: Sitting | None
    cards: str
    play: str
    end: str
    bars: tuple[Bar, Bar, float]  # cards, play, and where the result is


@dataclass
class Luck:
    """What the page says. row: None where nobody has asked for a judgement with open cards; unproved: sittings of which not all is proved."""

    row: Judgement | None
    rows: list[Row]
    unproved: list[Sitting]
    of: Party
    damaged: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    bar: int = BAR
    middle: float = WIDTH / 2

    @property
    def waits(self) -> bool:
        """Whether somebody has asked, and it is not over."""
        return self.row is not None and self.row.status in asking.WAITING


def of_board(found: Match, sittings: Sequence[Sitting], number: int, parties: Sequence[Party]) -> Luck:
    """What the cards of a board were worth to its first party, and what it made of them, in each sitting. One query.

    Needs the match's tournament.
    """
    row = asking.find(found, JudgementKind.OPEN)
    luck = Luck(row, [], [], parties[0])
    if row is None:
        return luck
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused as error:
        luck.damaged = shown(error)
        return luck
    size = GAME_SCORE if body.unit == "games" else 1
    told: list[tuple[Sitting | None, float, float]] = []
    for sitting in sittings:
        placed = reading.placed(body, {(number, sitting.number): sitting.seating})
        deals = list(by_deal(placed, len(parties)).values())
        cards, end = total(deal.par for deal in deals), total(deal.end for deal in deals)
        if cards is None or end is None:
            luck.unproved.append(sitting)
        else:
            told.append((sitting, cards, end))
    if len(told) > 1 and not luck.unproved:
        told.append((None, sum(cards for _sitting, cards, _end in told), sum(end for _sitting, _cards, end in told)))
    most = max((max(abs(cards), abs(end)) for _sitting, cards, end in told), default=0.0)
    luck.rows = [
        Row(sitting, signed(cards, size), signed(end - cards, size), signed(end, size), bars(cards, end, most or 1.0))
        for sitting, cards, end in told
    ]
    return luck


def by_deal(rows: Iterable[Placed], parties: int) -> Mapping[int, Deal]:
    """The deals of a sitting by their numbers: of each the worth before its first decision and after its last one."""
    grouped: dict[int, list[Placed]] = {}
    for one in rows:
        grouped.setdefault(one.verdict.deal, []).append(one)
    return {number: _deal(inside, parties) for number, inside in grouped.items()}


def _deal(rows: Sequence[Placed], parties: int) -> Deal:
    sign = next(
        (
            (1 if one.verdict.first else -1) * (1 if one.party == 0 else -1)
            for one in rows
            if one.verdict.first is not None and (one.party == 0 or parties == 2)
        ),
        None,
    )
    if sign is None:
        return Deal(None, None)
    par, end = (None if value is None else sign * value for value in (rows[0].verdict.par, rows[-1].verdict.worth))
    return Deal(par, end)


def total(values: Iterable[float | None]) -> float | None:
    """Their sum; None where there are none, or one is missing."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if found and len(known) == len(found) else None


def signed(value: float, size: int) -> str:
    """A difference for people, with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{amount(abs(value), size)}"


def bars(cards: float, end: float, most: float) -> tuple[Bar, Bar, float]:
    """From the middle to what the cards were worth, from there to the result, and where the result is; `most` reaches the edge."""

    def at(value: float) -> float:
        return round(WIDTH / 2 + value / most * (WIDTH / 2 - EDGE), 1)

    def between(a: float, b: float) -> Bar:
        return Bar(min(at(a), at(b)), round(abs(at(a) - at(b)), 1))

    return between(0, cards), between(cards, end), at(end)
