"""The analysis section of the match page: a chart of a sitting, the costliest decisions, and each bot's totals by phase.

This module only shows analyses. The two kinds are shown separately, because their numbers cannot be compared.
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
from league.web.common.words import action_name, format_number, phase_name
from league.web.matches.narrate import Sentence
from league.web.matches.seats import party_names

WIDTH, HEIGHT, TOP, BOTTOM = 720, 132, 14, 18


@dataclass(frozen=True)
class Point:
    """An analysed decision in the chart. anchor: its step on the page; bar: height of the loss; whisker: ends of the error."""

    anchor: str
    x: float
    y: float
    mark: str
    lost: str
    text: str
    bar: float | None = None
    whisker: tuple[float, float] | None = None


@dataclass(frozen=True)
class TrickColumn:
    """A trick in the chart (or a deal, if there are several): its number, its middle and its end."""

    number: int
    middle: float
    end: float


@dataclass
class Graph:
    """The chart of one sitting, as wide as its list of steps. `columns`: its tricks, or its deals if there are several.

    lines: one per deal; ticks: height and number; blind: the end of the first steps, whose decisions were not analysed.
    """

    points: list[Point] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)
    columns: list[TrickColumn] = field(default_factory=list)
    of_deals: bool = False
    blind: float = 0.0
    blind_tricks: int = 0
    zero: float = 0.0
    bar: float = 2.0
    width: int = WIDTH
    height: int = HEIGHT
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Worst:
    """A costly decision: its place, its party and its description."""

    board: int
    sitting: int
    anchor: str
    text: str
    party: int


@dataclass(frozen=True)
class BestLine:
    """The best play of all seats after a better action. text: the decision that lost something; moves: the play in words."""

    anchor: str
    text: str
    moves: str


@dataclass
class AnalysisSection:
    """One kind of analysis on the page. `row` is None if nobody has requested it."""

    kind: str
    title: str
    row: Judgement | None
    chosen: bool = False
    graph: Graph | None = None
    lines: list[BestLine] = field(default_factory=list)  # Best play after the costly decisions of this sitting.
    phases: list[str] = field(default_factory=list)
    sums: list[tuple[Party, list[Tally]]] = field(default_factory=list)
    size: int = 1  # Stored units per displayed unit.
    worst: list[Worst] = field(default_factory=list)  # Costliest decisions of the whole match.
    damaged: str = ""

    @property
    def waits(self) -> bool:
        """Return True while the analysis is queued or running."""
        return self.row is not None and self.row.status in asking.WAITING


def views(
    match: Match,
    selected: str,
    sitting: Sitting,
    parties: Sequence[Party],
    names: Sequence[str],
    steps: Sequence[Sentence],
) -> list[AnalysisSection]:
    """Return both kinds; the contents are filled in for the `selected` kind, else for the first finished one, else for the first.

    One to three queries. steps: the list of steps, whose width the chart has.
    """
    rows = asking.of_match(match)
    both = [AnalysisSection(kind, str(JudgementKind(kind).label), rows.get(kind)) for kind in JudgementKind.values]
    finished = [
        kind_view for kind_view in both if kind_view.row is not None and kind_view.row.status == JudgementStatus.DONE
    ]
    chosen = next((kind_view for kind_view in both if kind_view.kind == selected), (finished or both)[0])
    chosen.chosen = True
    if chosen in finished:
        _fill(chosen, match, sitting, parties, names, steps)
    return both


def _fill(
    section: AnalysisSection,
    match: Match,
    sitting: Sitting,
    parties: Sequence[Party],
    names: Sequence[str],
    steps: Sequence[Sentence],
) -> None:
    row = asking.find(match, section.kind)
    if row is None:
        return
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused as error:
        section.damaged = shown(error)
        return
    section.size = GAME_SCORE if body.unit == "games" else 1
    every = reading.placed(body, reading.seatings(row))
    here = [placed for placed in every if (placed.board, placed.sitting) == (sitting.board.number, sitting.number)]
    section.graph = draw(here, body.unit, names, steps, is_open=section.kind == JudgementKind.OPEN)
    section.lines = [
        BestLine(anchor(placed), sentence(placed, names[placed.verdict.seat], section.size), moves_text(placed, names))
        for placed in here
        if placed.verdict.line
    ]
    section.phases = [phase_name(phase) for phase in (reading.ALL, *PHASES)]
    sums = reading.tallies(every, len(parties))
    section.sums = [(party, [sums[party.number][phase] for phase in (reading.ALL, *PHASES)]) for party in parties]
    bots = party_names(parties)
    section.worst = [
        Worst(
            placed.board,
            placed.sitting,
            anchor(placed),
            sentence(placed, bots[placed.party], section.size),
            placed.party,
        )
        for placed in reading.costliest(every, body.unit)
    ]


def anchor(placed: Placed) -> str:
    """Return the id of the step on the page."""
    return f"d{placed.verdict.deal}p{placed.verdict.ply}"


def sentence(placed: Placed, who: str, size: int) -> str:
    """Describe a decision and its loss."""
    verdict = placed.verdict
    values = {"who": who, "what": action_name(verdict.action)}
    if verdict.lost is None:
        return _("%(who)s: %(what)s. Not analysed.") % values
    if not verdict.lost:
        return _("%(who)s: %(what)s. No loss.") % values
    values |= {"lost": amount(verdict.lost, size), "best": ", ".join(action_name(action) for action in verdict.best)}
    if verdict.error:
        values["error"] = amount(reading.CERTAIN * verdict.error, size)
        return _("%(who)s: %(what)s. Loss: %(lost)s ± %(error)s; best: %(best)s.") % values
    return _("%(who)s: %(what)s. Loss: %(lost)s; best: %(best)s.") % values


def moves_text(placed: Placed, names: Sequence[str]) -> str:
    """Describe the best play after a decision, action by action."""
    return "; ".join(f"{names[move.seat]}: {action_name(move.action)}" for move in placed.verdict.line)


def amount(value: float, size: int) -> str:
    """Format a difference of scores; `size`: stored units per displayed unit."""
    value /= size
    return format_number(value, ".0f" if value == int(value) else ".1f" if size == 1 else ".3f")


def draw(
    rows: Sequence[Placed], unit: str, names: Sequence[str], steps: Sequence[Sentence], *, is_open: bool
) -> Graph | None:
    """Draw the decisions of a sitting at their steps. Return None if none was analysed.

    Open analysis: a line with the value of the deal for the side of the first seat. Fair analysis: a bar with its error for each decision.
    """
    size = GAME_SCORE if unit == "games" else 1
    judged = [placed.verdict for placed in rows if placed.verdict.lost is not None]
    if not judged:
        return None
    signs = _signs(rows)
    if is_open:
        values = [
            signs[verdict.deal] * worth for verdict in judged for worth in (verdict.par or 0.0, verdict.worth or 0.0)
        ]
    else:
        values = [(verdict.lost or 0.0) + reading.CERTAIN * verdict.error for verdict in judged]
    low, high = min(0.0, *values), max(0.0, *values)
    step = _step((high - low) / size) * size
    low, high = math.floor(low / step) * step, max(step, math.ceil(high / step) * step)

    def height(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    wide = WIDTH / max(1, len(steps))
    graph = Graph(zero=height(0.0), bar=round(max(2.0, wide * 0.6), 1))
    value = low
    while value <= high + step / 2:
        graph.ticks.append((height(value), amount(value, size)))
        value += step
    places = {line.anchor: round((at + 0.5) * wide, 1) for at, line in enumerate(steps)}
    _add_columns(graph, steps, wide)
    first = next(at for at, placed in enumerate(rows) if placed.verdict.lost is not None)
    if first:
        graph.blind = round(max(0.0, places.get(anchor(rows[first]), 0.0) - wide / 2), 1)
        graph.blind_tricks = sum(line.kind == "trick" and places[line.anchor] < graph.blind for line in steps)
    for deal, group in groupby(rows, key=lambda placed: placed.verdict.deal):
        line = []
        for placed in group:
            verdict, x = placed.verdict, places.get(anchor(placed))
            if verdict.lost is None or x is None:
                continue
            worth, par = signs[deal] * (verdict.worth or 0.0), signs[deal] * (verdict.par or 0.0)
            y = height(worth if is_open else verdict.lost)
            line += [f"{round(x - wide / 2, 1)},{height(par)}", f"{x},{y}"]
            margin = reading.CERTAIN * verdict.error
            graph.points.append(
                Point(
                    anchor=anchor(placed),
                    x=x,
                    y=y,
                    mark=placed.mark(unit),
                    lost=f"−{amount(verdict.lost, size)}" if verdict.lost else "",
                    text=sentence(placed, names[verdict.seat], size),
                    bar=None if is_open else round(graph.zero - y, 1),
                    whisker=(height(verdict.lost + margin), height(max(0.0, verdict.lost - margin)))
                    if margin
                    else None,
                )
            )
        if is_open and line:
            graph.lines.append(" ".join(line))
    return graph


def _add_columns(graph: Graph, steps: Sequence[Sentence], wide: float) -> None:
    """Add the tricks of the sitting, or its deals if there are several."""
    graph.of_deals = len({line.deal for line in steps}) > 1
    ends = [
        at + 1
        for at, line in enumerate(steps)
        if ((at + 1 == len(steps) or steps[at + 1].deal != line.deal) if graph.of_deals else line.kind == "trick")
    ]
    start = 0
    for number, end in enumerate(ends, 1):
        graph.columns.append(TrickColumn(number, round((start + end) / 2 * wide, 1), round(end * wide, 1)))
        start = end


def _signs(rows: Sequence[Placed]) -> dict[int, int]:
    """Map each deal to 1 if its worth counts for the side of the first seat, else to -1."""
    signs: dict[int, int] = {}
    for placed in rows:
        verdict = placed.verdict
        signs.setdefault(verdict.deal, 1)
        if verdict.seat == 0 and verdict.first is not None:
            signs[verdict.deal] = 1 if verdict.first else -1
    return signs


def _step(span: float) -> float:
    """Return the distance between two ticks of a scale with about four ticks."""
    rough = max(span, 1.0) / 4
    power: float = 10 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
