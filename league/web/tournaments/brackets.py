"""The brackets of an elimination as columns of boxes: one column per round, with empty boxes for undecided pairings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from league.domain.tournaments import brackets as domain_brackets
from league.models import Entry, Tournament
from league.pure.formats import double_elimination

# The way in which a pairing was decided, unless simply by its boards.
DECIDED_BY = {
    "extra": gettext_noop("after extra boards"),
    "points": gettext_noop("level on boards; decided by score"),
    "seed": gettext_noop("level after all extra boards; decided by seed"),
    "bye": gettext_noop("bye"),
}


@dataclass(frozen=True)
class BracketSide:
    """One side of a box. `entry`: None if undecided or a bye; `points`: board points, None before there is a result."""

    entry: Entry | None
    won: bool = False
    points: float | None = None


@dataclass(frozen=True)
class PairingBox:
    """One pairing: its sides, the way in which it was decided, and the public ids of its matches."""

    sides: tuple[BracketSide, BracketSide]
    decided_by: str = ""
    matches: tuple[str, ...] = ()


@dataclass(frozen=True)
class BracketRound:
    """One round of a bracket; its boxes from top to bottom."""

    title: str
    boxes: list[PairingBox]


@dataclass(frozen=True)
class Part:
    """One bracket. A single elimination has only one, with the final and third place in the last columns."""

    title: str
    columns: list[BracketRound]


def brackets(tournament: Tournament, entries: Mapping[int, Entry] | None = None) -> list[Part]:
    """Return the brackets of a started elimination; an empty list for other formats. At most seven queries.

    entries: all entries by number, if the caller has read them.
    """
    steps = domain_brackets.read_bracket(tournament)
    if not steps:
        return []
    if entries is None:
        entries = {entry.number: entry for entry in tournament.entries.select_related("version__bot")}
    boxes = {(step.pairing.part, step.pairing.round, step.pairing.place): _box(step, entries) for step in steps}
    size = 1 << max(len(entries) - 1, 1).bit_length()
    last = size.bit_length() - 1
    if tournament.format == double_elimination.FORMAT.key:
        return _double(boxes, size, last)
    columns = [
        BracketRound(_round_title(size >> number), _column(boxes, "winners", number, size >> number))
        for number in range(1, last)
    ]
    columns.append(BracketRound(_("Final"), _column(boxes, "final", 1, 1)))
    if ("bronze", 1, 0) in boxes:
        columns.append(BracketRound(_("Third place"), _column(boxes, "bronze", 1, 1)))
    return [Part("", columns)]


def _double(boxes: Mapping[tuple[str, int, int], PairingBox], size: int, last: int) -> list[Part]:
    winners = [
        BracketRound(_("Round %(number)s") % {"number": number}, _column(boxes, "winners", number, size >> number))
        for number in range(1, last + 1)
    ]
    # To each round of the winners' bracket after the first belong two rounds of the losers' bracket, which together halve its field once.
    losers = [
        BracketRound(
            _("Round %(number)s") % {"number": number}, _column(boxes, "losers", number, size >> (number + 3) // 2)
        )
        for number in range(1, 2 * last - 1)
    ]
    finals = [BracketRound(_("Final"), _column(boxes, "final", 1, 1))]
    if ("final", 2, 0) in boxes:
        finals.append(BracketRound(_("Second final"), _column(boxes, "final", 2, 1)))
    parts = [Part(_("Winners' bracket"), winners), Part(_("Losers' bracket"), losers), Part(_("Final"), finals)]
    return [part for part in parts if part.columns]


def _round_title(pairings: int) -> str:
    return {2: _("Semifinals"), 4: _("Quarterfinals")}.get(pairings) or _("Last %(entries)s") % {
        "entries": 2 * pairings
    }


def _column(boxes: Mapping[tuple[str, int, int], PairingBox], part: str, number: int, length: int) -> list[PairingBox]:
    blank = PairingBox((BracketSide(None), BracketSide(None)))
    return [boxes.get((part, number, place), blank) for place in range(length)]


def _box(step: domain_brackets.BracketStep, entries: Mapping[int, Entry]) -> PairingBox:
    met = step.pairing
    first, second = (
        BracketSide(
            None if number is None else entries[number],
            number is not None and number == met.winner,
            step.points[place] if step.points else None,
        )
        for place, number in enumerate((met.first, met.second))
    )
    nobody = met.first is None and met.second is None  # Two byes met.
    decided_by = (
        _(DECIDED_BY["bye"]) if nobody else _(DECIDED_BY[met.decided_by]) if met.decided_by in DECIDED_BY else ""
    )
    return PairingBox((first, second), decided_by, tuple(step.matches))
