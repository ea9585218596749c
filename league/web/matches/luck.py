"""The luck section of a board page: the value of each deal with open cards, and the points that the bots made of it.

Ratings do not use it: a board is played in every seating, so most of the luck cancels out (docs/ratings.md).
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
class LuckDeal:
    """One deal of a sitting, for the side of the first party. par: its value with open cards; end: its result. None: not proven."""

    par: float | None
    end: float | None


@dataclass(frozen=True)
class LuckBar:
    """A bar of the chart, in units of the chart."""

    x: float
    width: float


@dataclass(frozen=True)
class LuckRow:
    """One sitting, or the whole board (`sitting` is None): the shares of cards and play, as bars and as text."""

    sitting: Sitting | None
    cards: str
    play: str
    end: str
    bars: tuple[LuckBar, LuckBar, float]  # The bar of the cards, the bar of the play, and the place of the result.


@dataclass
class Luck:
    """The luck section. row: None if nobody has requested an open analysis; unproved: sittings without a complete proof."""

    row: Judgement | None
    rows: list[LuckRow]
    unproved: list[Sitting]
    party: Party
    damaged: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    bar: int = BAR
    middle: float = WIDTH / 2

    @property
    def waits(self) -> bool:
        """Return True while the analysis is queued or running."""
        return self.row is not None and self.row.status in asking.WAITING


def of_board(match: Match, sittings: Sequence[Sitting], number: int, parties: Sequence[Party]) -> Luck:
    """Split the result of each sitting into cards and play, for the first party of the board. One query.

    `match` must have been read with its tournament.
    """
    row = asking.find(match, JudgementKind.OPEN)
    luck = Luck(row, [], [], parties[0])
    if row is None:
        return luck
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused as error:
        luck.damaged = shown(error)
        return luck
    size = GAME_SCORE if body.unit == "games" else 1
    results: list[tuple[Sitting | None, float, float]] = []
    for sitting in sittings:
        placed = reading.placed(body, {(number, sitting.number): sitting.seating})
        deals = list(by_deal(placed, len(parties)).values())
        cards, end = total(deal.par for deal in deals), total(deal.end for deal in deals)
        if cards is None or end is None:
            luck.unproved.append(sitting)
        else:
            results.append((sitting, cards, end))
    if len(results) > 1 and not luck.unproved:
        results.append(
            (None, sum(cards for _sitting, cards, _end in results), sum(end for _sitting, _cards, end in results))
        )
    most = max((max(abs(cards), abs(end)) for _sitting, cards, end in results), default=0.0)
    luck.rows = [
        LuckRow(
            sitting, signed(cards, size), signed(end - cards, size), signed(end, size), bars(cards, end, most or 1.0)
        )
        for sitting, cards, end in results
    ]
    return luck


def by_deal(rows: Iterable[Placed], parties: int) -> Mapping[int, LuckDeal]:
    """Return the deals of a sitting by number, each with its value before the first and after the last decision."""
    grouped: dict[int, list[Placed]] = {}
    for row in rows:
        grouped.setdefault(row.verdict.deal, []).append(row)
    return {number: _deal(inside, parties) for number, inside in grouped.items()}


def _deal(rows: Sequence[Placed], parties: int) -> LuckDeal:
    sign = next(
        (
            (1 if row.verdict.first else -1) * (1 if row.party == 0 else -1)
            for row in rows
            if row.verdict.first is not None and (row.party == 0 or parties == 2)
        ),
        None,
    )
    if sign is None:
        return LuckDeal(None, None)
    par, end = (None if value is None else sign * value for value in (rows[0].verdict.par, rows[-1].verdict.worth))
    return LuckDeal(par, end)


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum; None if there are no values, or one is None."""
    numbers = list(values)
    present = [value for value in numbers if value is not None]
    return sum(present) if numbers and len(present) == len(numbers) else None


def signed(value: float, size: int) -> str:
    """Format a difference with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{amount(abs(value), size)}"


def bars(cards: float, end: float, most: float) -> tuple[LuckBar, LuckBar, float]:
    """Return the bar of the cards, the bar of the play and the place of the result; a value of `most` reaches the edge."""

    def at(value: float) -> float:
        return round(WIDTH / 2 + value / most * (WIDTH / 2 - EDGE), 1)

    def between(a: float, b: float) -> LuckBar:
        return LuckBar(min(at(a), at(b)), round(abs(at(a) - at(b)), 1))

    return between(0, cards), between(cards, end), at(end)
