"""What a bot of the house would have done, as the page of a match shows it: at each step of the seat that it was asked about, and in sum.

Nothing is played here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from league.domain.consultations import asking, reading
from league.domain.core.errors import Refused, shown
from league.domain.matches import background
from league.enums import JudgementStatus
from league.models import BotVersion, Consultation, Match, Player, Sitting
from league.web.matches.judging import action_name
from league.web.matches.narrate import Sentence, Would


@dataclass(frozen=True)
class Asked:
    """One consultation about this sitting. seat: its name."""

    row: Consultation
    seat: str
    chosen: bool

    @property
    def waits(self) -> bool:
        """Whether it is not over."""
        return self.row.status in background.WAITING


@dataclass(frozen=True)
class Different:
    """A decision in which the bot would have done something else. played, would: in words."""

    anchor: str
    played: str
    would: str


@dataclass
class Shown:
    """What the page says. bots: who may be asked by who looks; seat: the one that the form proposes; marks: by the id of a step."""

    every: list[Asked]
    bots: list[BotVersion]
    seats: list[tuple[int, str]]
    seat: int
    bot: str
    decisions: int = 0
    different: list[Different] = field(default_factory=list)
    marks: dict[str, Would] = field(default_factory=dict)
    damaged: str = ""

    @property
    def chosen(self) -> Asked | None:
        """The one whose answers are shown."""
        return next((one for one in self.every if one.chosen), None)

    @property
    def waits(self) -> bool:
        """Whether one of them is not over."""
        return any(one.waits for one in self.every)


def view(
    found: Match, sitting: Sitting, names: Sequence[str], wanted: tuple[str, int | None], by: Player | None
) -> Shown:
    """wanted: bot and seat of the consultation that is chosen, else it is the latest that is done, else the latest. One or two queries."""
    bot, seat = wanted
    rows = asking.of_sitting(found, sitting.board.number, sitting.number)
    asked = [row for row in rows if (row.version.bot.slug, row.seat) == (bot, seat)]
    done = [row for row in rows if row.status == JudgementStatus.DONE]
    chosen = next((group[-1] for group in (asked, done, rows) if group), None)
    every = [Asked(row, names[row.seat], row is chosen) for row in rows if row.seat < len(names)]
    may = by is not None and asking.reason_not(found) is None
    bots = asking.bots(found.pool.game) if may else []
    told = Shown(every, bots, list(enumerate(names)), chosen.seat if chosen else 0, _proposed(bots, chosen))
    if chosen in done:
        _fill(told, chosen)
    return told


def _proposed(bots: Sequence[BotVersion], chosen: Consultation | None) -> str:
    return chosen.version.bot.slug if chosen else bots[0].bot.slug if bots else ""


def _fill(told: Shown, row: Consultation) -> None:
    try:
        answers = reading.answers(row)
    except Refused as error:
        told.damaged = shown(error)
        return
    told.decisions = len(answers)
    for one in answers:
        would = action_name(one.would)
        told.marks[one.anchor] = Would(row.version.bot.slug, would if one.differs else "")
        if one.differs:
            told.different.append(Different(one.anchor, action_name(one.action), would))


def mark(lines: Sequence[Sentence], told: Shown) -> list[Sentence]:
    """The steps, with what the bot would have done at those of its seat."""
    return [replace(line, would=told.marks.get(line.anchor)) for line in lines]
