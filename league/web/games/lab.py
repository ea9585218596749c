"""The tab of a game with the lab's reports: its usual rules beside common variants. The reports are files (docs/studies/README.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

import engine
from engine.lab.words import NUMBER, PERCENT, WHOLE, WORDS
from league.web.common.options import describe_options
from league.web.common.words import format_number, percent, unit_name
from league.web.common.words import signed as format_signed

FOLDER = settings.DOCS / "studies" / "lab"
WIDTH = 100.0  # Units of a bar.


@dataclass(frozen=True)
class LabCell:
    """A measure of one report: its value and interval as text, and its bar from `start`; width 0: no bar."""

    value: str
    interval: str
    start: float = 0.0
    width: float = 0.0
    middle: float = 0.0
    zero: float = 0.0


@dataclass(frozen=True)
class LabRow:
    """A measure with its cells, one a report; None if a report says nothing of it."""

    name: str
    note: str
    cells: list[LabCell | None]


@dataclass(frozen=True)
class LabColumn:
    """One report: the table it measures, the number of its boards, and what repeats it."""

    title: str
    boards: int
    bots: str
    seed: str
    digest: str
    cpu_s: float


@dataclass(frozen=True)
class Lab:
    """The reports of a game, the usual rules first, and the two bots of the last one."""

    columns: list[LabColumn]
    rows: list[LabRow]
    seats: list[LabRow]
    unit: str
    better: str
    worse: str


@cache
def reports_of(key: str) -> tuple[dict[str, Any], ...]:
    """Return the stored reports of a game's present rules; none if there is no file."""
    path = FOLDER / f"{key}.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return tuple(report for report in stored if report["revision"] == revision_of(report))


def revision_of(report: dict[str, Any]) -> int:
    """Return the revision of the rules that a report's table has now."""
    return engine.load(report["game"], players=report["players"], **report["options"]).revision


def lab_of(key: str) -> Lab | None:
    """Return the stored reports of a game in the reader's language; None if there are none."""
    reports = reports_of(key)
    return lab_from(reports) if reports else None


def lab_from(reports: Sequence[dict[str, Any]]) -> Lab:
    """Return reports of one game in the reader's language, side by side."""
    lang = (get_language() or "en")[:2]
    rows = [
        LabRow(words.name(lang), words.note(lang), cells)
        for name, words in WORDS.items()
        if any(cells := _cells(words.form, [report["measures"][name] for report in reports]))
    ]
    seats = []
    for place in range(max(len(report["seats"]) for report in reports)):
        measures = [report["seats"][place] if place < len(report["seats"]) else None for report in reports]
        name = (
            ngettext("%(count)s place after the lead", "%(count)s places after the lead", place) % {"count": place}
            if place
            else _("Leads first")
        )
        seats.append(LabRow(name, "", _cells(NUMBER, measures, signed=True)))
    better, worse = (bot["name"] for bot in reports[-1]["bots"])
    return Lab([_column(report) for report in reports], rows, seats, unit_name(reports[0]["unit"]), better, worse)


def _column(report: dict[str, Any]) -> LabColumn:
    count = report["players"]
    players = ngettext("%(count)s player", "%(count)s players", count) % {"count": count}
    title = ", ".join(filter(None, [players, describe_options(report["game"], report["options"])]))
    bots = " – ".join(bot["name"] for bot in report["bots"])
    return LabColumn(title, report["boards"], bots, report["seed"], report["digest"], report["cpu_s"])


def _cells(form: str, measures: Sequence[list[float | None] | None], *, signed: bool = False) -> list[LabCell | None]:
    """Return the cells of a row. Shares and advantages have bars on one axis: 0 to 100%, or as far as the intervals reach."""
    if form == PERCENT:
        low, high = 0.0, 1.0
    else:
        ends = [value for measure in measures if measure for value in measure if value is not None]
        high = max(map(abs, ends), default=1.0) or 1.0
        low = -high

    def x(value: float) -> float:
        return round(WIDTH * (min(max(value, low), high) - low) / (high - low), 2)

    cells: list[LabCell | None] = []
    for measure in measures:
        if measure is None or measure[0] is None:
            cells.append(None)
            continue
        value, start, end = (_write(form, number, signed=signed) for number in measure)
        interval = _("%(low)s to %(high)s") % {"low": start, "high": end}
        if (form == PERCENT or signed) and measure[1] is not None and measure[2] is not None:
            begin, finish = x(measure[1]), x(measure[2])
            cells.append(LabCell(value, interval, begin, round(finish - begin, 2), x(measure[0]), x(0.0)))
        else:
            cells.append(LabCell(value, interval))
    return cells


def _write(form: str, value: float | None, *, signed: bool) -> str:
    if value is None:
        return "∞"
    if form == PERCENT:
        return percent(value)
    return format_signed(value, 2) if signed else format_number(value, ".0f" if form == WHOLE else ".1f")
