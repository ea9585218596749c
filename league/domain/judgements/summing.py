"""Totals of the analysed decisions of each version. The scheduler keeps them up to date and counts each analysis once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from engine.analysis import JUDGE, PHASES
from engine.intervals import t95
from engine.portable import add_up
from league.domain.core import clock, queue
from league.domain.core.errors import Refused
from league.domain.judgements import bodies, reading
from league.domain.matches import sight
from league.enums import JudgementKind, JudgementStatus, MatchStatus
from league.models import Bot, JudgedSum, Judgement, Party, Pool, PuzzleSearch
from league.pure.portable import comparable

SEARCH = "puzzles"  # The kind of the jobs that search a match for puzzles.
BATCH = 20  # Analyses of one pass.
SUMS = ("boards", "decisions", "judged", "right", "lost", "lost_lost", "lost_judged", "judged_judged")


def count_new(*, most: int = BATCH, now: datetime | None = None) -> int:
    """Count the analyses that are not counted yet, and return their number. Repeatable, also by several processes at once.

    One query if there are none.
    """
    uncounted = Judgement.objects.filter(status=JudgementStatus.DONE, summed=False).order_by("id")
    now = clock.now_or(now)
    return sum(_count(pk, now) for pk in uncounted.values_list("pk", flat=True)[:most])


def _count(pk: int, now: datetime) -> int:
    with transaction.atomic():
        unsummed = Judgement.objects.filter(pk=pk, status=JudgementStatus.DONE, summed=False)
        rows = unsummed.select_for_update(skip_locked=True, of=("self",)).select_related("match__tournament")
        row = rows.defer("match__tournament__secret").first()
        if row is None:
            return 0
        Judgement.objects.filter(pk=pk).update(summed=True)
        # Everybody sees the totals on the page of a bot, so they include no match that is hidden from anybody
        is_public = row.match.status == MatchStatus.FINISHED and not sight.is_held_back(row.match)
        if is_public and not _has_counted(row):
            _add(row)
            is_shown = row.kind == JudgementKind.FAIR and row.judge == JUDGE
            if is_shown and PuzzleSearch.objects.get_or_create(judgement=row)[1]:
                queue.add(SEARCH, judgement=row, now=now)
    return 1


def _has_counted(row: Judgement) -> bool:
    """Return True if an analysis of the match of this kind, over another number of deals, was counted already."""
    others = Judgement.objects.filter(match=row.match_id, kind=row.kind, judge=row.judge, status=JudgementStatus.DONE)
    return others.exclude(samples=row.samples).filter(Q(summed=True) | Q(pk__lt=row.pk)).exists()


def _add(row: Judgement) -> None:
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused:  # Damaged: the page of the analysis says so
        return
    versions = list(Party.objects.filter(match=row.match_id).order_by("number").values_list("version_id", flat=True))
    decisions = reading.placed(body, reading.seatings(row))
    sums: dict[tuple[int, str], dict[str, float]] = {}
    for version, phases in zip(versions, reading.tallies(decisions, len(versions)), strict=True):
        for phase, tally in phases.items():
            if not tally.decisions:
                continue
            by_board = list(tally.boards.values())
            total = sums.setdefault((version, phase), dict.fromkeys(SUMS, 0))
            values = (
                len(by_board),
                tally.decisions,
                tally.judged,
                tally.right,
                add_up(lost for lost, _ in by_board),
                add_up(lost * lost for lost, _ in by_board),
                add_up(lost * judged for lost, judged in by_board),
                sum(judged * judged for _, judged in by_board),
            )
            for name, value in zip(SUMS, values, strict=True):
                total[name] += value
    # Always in this order, the pool's row last, so that two processes cannot deadlock
    for (version, phase), added in sorted(sums.items()):
        _grow(row, version, phase, added)
    for phase in sorted({phase for _, phase in sums}):
        parts = [added for (_, other), added in sums.items() if other == phase]
        _grow(row, None, phase, {name: sum(part[name] for part in parts) for name in SUMS})


def _grow(row: Judgement, version: int | None, phase: str, added: dict[str, float]) -> None:
    key: dict[str, Any] = {
        "version_id": version,
        "pool_id": row.match.pool_id,
        "kind": row.kind,
        "judge": row.judge,
        "phase": phase,
    }
    total, _is_new = JudgedSum.objects.get_or_create(**key)
    JudgedSum.objects.filter(pk=total.pk).update(**{name: F(name) + value for name, value in added.items()})


@dataclass(frozen=True, slots=True)
class Figures:
    """The totals of analysed decisions, for people.

    lost: average loss of a decision; margin: half of its 95 % interval over boards, None for fewer than two boards; right: share of decisions that
    lost nothing.
    """

    boards: int
    judged: int
    lost: float
    margin: float | None
    right: float


@dataclass(frozen=True, slots=True)
class PhaseFigures:
    """The figures of one phase, or of "all": those of the version, and those of all versions in the pool."""

    phase: str
    mine: Figures
    everybody: Figures


@dataclass(frozen=True, slots=True)
class VersionFigures:
    """The figures of a version in a pool from one kind of analysis: over all its decisions first, then phase by phase."""

    pool: Pool
    kind: str
    version: int
    lines: list[PhaseFigures]


def of_bot(bot: Bot, pool: Pool | None = None) -> list[VersionFigures]:
    """Return the figures of the newest analysed version of a bot, by pool and kind of analysis; in all pools without `pool`. Two queries."""
    rows = JudgedSum.objects.filter(judge=JUDGE, judged__gt=0)
    rows_of_bot = rows.filter(version__bot=bot, **({"pool": pool} if pool else {}))
    by_pool: dict[int, list[JudgedSum]] = {}
    for row in rows_of_bot.select_related("version", "pool"):
        by_pool.setdefault(row.pool_id, []).append(row)
    everybody: dict[int, dict[tuple[str, str], JudgedSum]] = {key: {} for key in by_pool}
    for row in rows.filter(version=None, pool__in=by_pool) if by_pool else ():
        everybody[row.pool_id][row.kind, row.phase] = row
    return [
        figures_of_kind
        for key, rows_in_pool in sorted(by_pool.items())
        for kind in ("fair", "open")
        if (figures_of_kind := _newest(kind, rows_in_pool, everybody[key]))
    ]


def _newest(
    kind: str, rows: Sequence[JudgedSum], everybody: Mapping[tuple[str, str], JudgedSum]
) -> VersionFigures | None:
    numbers = [row.version.number for row in rows if row.version is not None and row.kind == kind]
    if not numbers:
        return None
    newest = max(numbers)
    by_phase = {row.phase: row for row in rows if row.kind == kind and row.version and row.version.number == newest}
    lines = [
        PhaseFigures(phase, figures(by_phase[phase]), figures(everybody[kind, phase]))
        for phase in (reading.ALL, *PHASES)
        if phase in by_phase
    ]
    return VersionFigures(rows[0].pool, kind, newest, lines)


def figures(row: JudgedSum) -> Figures:
    """Return the figures of a row that has analysed decisions. The interval is that of `engine.analysis.Tally.margin`."""
    mean, margin = row.lost / row.judged, None
    if row.boards > 1:
        squares = row.lost_lost - 2 * mean * row.lost_judged + mean * mean * row.judged_judged
        margin = t95(row.boards - 1) * sqrt(row.boards / (row.boards - 1) * max(0.0, squares)) / row.judged
    return Figures(row.boards, row.judged, comparable(mean), margin and comparable(margin), row.right / row.judged)
