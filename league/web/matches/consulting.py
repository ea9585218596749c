"""Consultations on the match page: the action of a house bot at each step of a seat, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from league.domain.consultations import asking, reading
from league.domain.core.errors import Refused, shown
from league.domain.judgements import asking as judging
from league.enums import JudgementStatus
from league.models import BotVersion, Consultation, Match, Player, Sitting
from league.web.common.words import action_name
from league.web.matches.judging import AnalysisSection
from league.web.matches.narrate import Sentence, Would


@dataclass(frozen=True)
class AskedConsultation:
    """One consultation about this sitting. `seat` is the name of the seat."""

    row: Consultation
    seat: str
    chosen: bool

    @property
    def waits(self) -> bool:
        """Return True while the consultation is queued or running."""
        return self.row.status in judging.WAITING


@dataclass(frozen=True)
class Different:
    """A decision at which the house bot would have acted differently; both actions in words."""

    anchor: str
    played: str
    would: str


@dataclass(frozen=True)
class Position:
    """A step of the sitting, with the choice there of each house bot that was asked for its seat, and of the analysis."""

    line: Sentence
    answers: list[tuple[str, str]]


@dataclass
class ConsultationSection:
    """The consultation section. bots: those that the viewer may ask; seat, bot: initial values of the form; marks: by step id."""

    every: list[AskedConsultation]
    bots: list[BotVersion]
    seats: list[tuple[int, str]]
    seat: int
    bot: str
    decisions: int = 0
    different: list[Different] = field(default_factory=list)
    marks: dict[str, Would] = field(default_factory=dict)
    damaged: str = ""
    position: Position | None = None

    @property
    def chosen(self) -> AskedConsultation | None:
        """Return the consultation whose answers are shown."""
        return next((item for item in self.every if item.chosen), None)

    @property
    def waits(self) -> bool:
        """Return True while any consultation is queued or running."""
        return any(item.waits for item in self.every)


def view(
    match: Match, sitting: Sitting, names: Sequence[str], selected: tuple[str, int | None], viewer: Player | None
) -> ConsultationSection:
    """Build the section with the `selected` consultation (bot and seat), else the latest finished one, else the latest. One or two queries."""
    bot, seat = selected
    rows = asking.of_sitting(match, sitting.board.number, sitting.number)
    matching = [row for row in rows if (row.version.bot.slug, row.seat) == (bot, seat)]
    finished = [row for row in rows if row.status == JudgementStatus.DONE]
    chosen = next((group[-1] for group in (matching, finished, rows) if group), None)
    every = [AskedConsultation(row, names[row.seat], row is chosen) for row in rows if row.seat < len(names)]
    may = viewer is not None and asking.reason_not(match) is None
    bots = asking.bots(match.pool.game) if may else []
    section = ConsultationSection(
        every, bots, list(enumerate(names)), chosen.seat if chosen else 0, _proposed(bots, chosen)
    )
    if chosen in finished:
        _fill(section, chosen)
    return section


def _proposed(bots: Sequence[BotVersion], chosen: Consultation | None) -> str:
    return chosen.version.bot.slug if chosen else bots[0].bot.slug if bots else ""


def _fill(section: ConsultationSection, row: Consultation) -> None:
    try:
        answers = reading.answers(row)
    except Refused as error:
        section.damaged = shown(error)
        return
    section.decisions = len(answers)
    for answer in answers:
        would = action_name(answer.would)
        section.marks[answer.anchor] = Would(row.version.bot.slug, would if answer.differs else "")
        if answer.differs:
            section.different.append(Different(answer.anchor, action_name(answer.action), would))


def mark(lines: Sequence[Sentence], section: ConsultationSection) -> list[Sentence]:
    """Add the actions of the house bot to the steps of its seat."""
    return [replace(line, would=section.marks.get(line.anchor)) for line in lines]


def show_position(
    section: ConsultationSection, lines: Sequence[Sentence], step: str, judged: AnalysisSection | None
) -> None:
    """Add what the house bots and the analysis say of the step with this id to the section. No query."""
    line = next((line for line in lines if line.anchor == step), None)
    if line is None or line.seat is None:
        return
    texts = []
    for item in section.every:
        if item.row.status == JudgementStatus.DONE and item.row.seat == line.seat:
            with suppress(Refused):
                texts += [
                    (str(item.row.version), action_name(answer.would))
                    for answer in reading.answers(item.row)
                    if answer.anchor == line.anchor
                ]
    if judged is not None and judged.graph:
        texts += [(judged.title, point.text) for point in judged.graph.points if point.anchor == line.anchor]
    section.seat, section.position = line.seat, Position(line, texts)
