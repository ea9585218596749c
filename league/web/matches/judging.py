"""A judgement as the page of a match shows it: the course of a sitting as a drawing, what cost most, sums of each bot by phase.

Nothing is judged here. Each kind of judgement is shown by itself: no number of one stands beside one of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from django.utils.translation import gettext as _

from engine.analysis import PHASES, Tally
from engine.rules.terms import GAME_SCORE
from league.domain.core.errors import Refused, shown
from league.domain.judgements import asking, bodies, reading
from league.domain.judgements.reading import Placed
from league.enums import JudgementKind, JudgementStatus
from league.models import Judgement, Match, Party, Sitting
from league.web.common.words import card_name, format_number, phase_name

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 240, 70, 12, 16, 30


@dataclass(frozen=True)
class Point:
    """One judged decision in the drawing. anchor: of its step on the page; bar: height of what was lost; whisker: ends of its error."""

    anchor: str
    x: float
    y: float
    mark: str
    lost: str
    text: str
    bar: float | None = None
    whisker: tuple[float, float] | None = None


@dataclass
class Graph:
    """The drawing of one sitting. line: of each deal; ticks: height and number; deals: place and number of each but the first."""

    points: list[Point] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)
    deals: list[tuple[float, int]] = field(default_factory=list)
    zero: float = 0.0
    bar: float = 2.0
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Worst:
    """A decision that cost much: where it is, and in words."""

    board: int
    sitting: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Line:
    """What the best action would have led to. text: of the decision that lost something; moves: the line in words."""

    anchor: str
    text: str
    moves: str


@dataclass
class Shown:
    """What the page says of one kind of judgement. row: None where nobody has asked for it."""

    kind: str
    title: str
    row: Judgement | None
    chosen: bool = False
    graph: Graph | None = None
    lines: list[Line] = field(default_factory=list)  # of this sitting
    phases: list[str] = field(default_factory=list)
    sums: list[tuple[Party, list[Tally]]] = field(default_factory=list)
    size: int = 1  # so much of what is stored makes one of the unit that people read
    worst: list[Worst] = field(default_factory=list)  # of the whole match
    damaged: str = ""

    @property
    def waits(self) -> bool:
        """Whether somebody has asked, and it is not over."""
        return self.row is not None and self.row.status in asking.WAITING


def views(found: Match, wanted: str, sitting: Sitting, parties: Sequence[Party], names: Sequence[str]) -> list[Shown]:
    """Both kinds, the chosen one with all that it says: `wanted`, else the first that is done, else the first. One to three queries."""
    rows = asking.of_match(found)
    both = [Shown(kind, str(JudgementKind(kind).label), rows.get(kind)) for kind in JudgementKind.values]
    done = [one for one in both if one.row is not None and one.row.status == JudgementStatus.DONE]
    chosen = next((one for one in both if one.kind == wanted), (done or both)[0])
    chosen.chosen = True
    if chosen in done:
        _fill(chosen, found, sitting, parties, names)
    return both


def _fill(one: Shown, found: Match, sitting: Sitting, parties: Sequence[Party], names: Sequence[str]) -> None:
    row = asking.find(found, one.kind)
    if row is None:
        return
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused as error:
        one.damaged = shown(error)
        return
    one.size = GAME_SCORE if body.unit == "games" else 1
    every = reading.placed(body, reading.seatings(row))
    here = [placed for placed in every if (placed.board, placed.sitting) == (sitting.board.number, sitting.number)]
    one.graph = draw(here, body.unit, names, is_open=one.kind == JudgementKind.OPEN)
    one.lines = [
        Line(anchor(placed), sentence(placed, names[placed.verdict.seat], one.size), moves_text(placed, names))
        for placed in here
        if placed.verdict.line
    ]
    one.phases = [phase_name(phase) for phase in (reading.ALL, *PHASES)]
    sums = reading.tallies(every, len(parties))
    one.sums = [(party, [sums[party.number][phase] for phase in (reading.ALL, *PHASES)]) for party in parties]
    bots = [party.version.bot.slug for party in parties]
    one.worst = [
        Worst(placed.board, placed.sitting, anchor(placed), sentence(placed, bots[placed.party], one.size))
        for placed in reading.costliest(every, body.unit)
    ]


def anchor(placed: Placed) -> str:
    """The id of its step on the page."""
    return f"d{placed.verdict.deal}p{placed.verdict.ply}"


def sentence(placed: Placed, who: str, size: int) -> str:
    """What was done and what it gave away."""
    one = placed.verdict
    told = {"who": who, "what": action_name(one.action)}
    if one.lost is None:
        return _("%(who)s: %(what)s. Not analysed.") % told
    if not one.lost:
        return _("%(who)s: %(what)s. No loss.") % told
    told |= {"lost": amount(one.lost, size), "best": ", ".join(action_name(action) for action in one.best)}
    if one.error:
        told["error"] = amount(reading.CERTAIN * one.error, size)
        return _("%(who)s: %(what)s. Loss: %(lost)s ± %(error)s; best: %(best)s.") % told
    return _("%(who)s: %(what)s. Loss: %(lost)s; best: %(best)s.") % told


def moves_text(placed: Placed, names: Sequence[str]) -> str:
    """The line of a decision: who does what, one after another."""
    return "; ".join(f"{names[move.seat]}: {action_name(move.action)}" for move in placed.verdict.line)


def action_name(text: str) -> str:
    """A card by its name; another action in the words of the protocol."""
    word, _gap, card = text.partition(" ")
    return card_name(card) if word == "play" else text


def amount(value: float, size: int) -> str:
    """A difference of scores for people; `size`: so much of what is stored makes one of the unit that they read."""
    value /= size
    return format_number(value, ".0f" if value == int(value) else ".1f" if size == 1 else ".3f")


def draw(rows: Sequence[Placed], unit: str, names: Sequence[str], *, is_open: bool) -> Graph | None:
    """The decisions of a sitting from left to right; None where none was judged.

    With open cards: a line of what the deal is worth to the side of the first seat. Fairly: a bar for each decision, with its error.
    """
    size = GAME_SCORE if unit == "games" else 1
    judged = [placed.verdict for placed in rows if placed.verdict.lost is not None]
    if not judged:
        return None
    signs = _signs(rows)
    if is_open:
        values = [signs[one.deal] * worth for one in judged for worth in (one.par or 0.0, one.worth or 0.0)]
    else:
        values = [(one.lost or 0.0) + reading.CERTAIN * one.error for one in judged]
    low, high = min(0.0, *values), max(0.0, *values)
    step = _step((high - low) / size) * size
    low, high = math.floor(low / step) * step, max(step, math.ceil(high / step) * step)

    def height(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    wide = (WIDTH - LEFT - RIGHT) / max(1, len(rows))
    graph = Graph(zero=height(0.0), bar=round(max(2.0, wide * 0.6), 1))
    value = low
    while value <= high + step / 2:
        graph.ticks.append((height(value), amount(value, size)))
        value += step
    places = {id(placed): round(LEFT + (at + 0.5) * wide, 1) for at, placed in enumerate(rows)}
    for deal, group in groupby(rows, key=lambda placed: placed.verdict.deal):
        inside = list(group)
        if len(signs) > 1:
            graph.deals.append((round(places[id(inside[0])] - wide / 2, 1), deal))
        line = []
        for placed in inside:
            one, x = placed.verdict, places[id(placed)]
            if one.lost is None:
                continue
            worth, par = signs[deal] * (one.worth or 0.0), signs[deal] * (one.par or 0.0)
            y = height(worth if is_open else one.lost)
            line += [f"{round(x - wide / 2, 1)},{height(par)}", f"{x},{y}"]
            margin = reading.CERTAIN * one.error
            graph.points.append(
                Point(
                    anchor=anchor(placed),
                    x=x,
                    y=y,
                    mark=placed.mark(unit),
                    lost=f"−{amount(one.lost, size)}" if one.lost else "",
                    text=sentence(placed, names[one.seat], size),
                    bar=None if is_open else round(graph.zero - y, 1),
                    whisker=(height(one.lost + margin), height(max(0.0, one.lost - margin))) if margin else None,
                )
            )
        if is_open and line:
            graph.lines.append(" ".join(line))
    return graph


def _signs(rows: Sequence[Placed]) -> dict[int, int]:
    """By deal: 1 where the worth counts for the side of the first seat, else -1."""
    found: dict[int, int] = {}
    for placed in rows:
        one = placed.verdict
        found.setdefault(one.deal, 1)
        if one.seat == 0 and one.first is not None:
            found[one.deal] = 1 if one.first else -1
    return found


def _step(span: float) -> float:
    """Between two marks of a scale, of which there are about four."""
    rough = max(span, 1.0) / 4
    power: float = 10 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
