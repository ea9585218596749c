"""What all judgements say of a version: sums over its judged decisions, kept up by the scheduler, each judgement counted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from engine.analysis import JUDGE, PHASES
from engine.intervals import t95
from engine.portable import add_up
from league.domain.core.errors import Refused
from league.domain.judgements import bodies, reading
from league.domain.matches import sight
from league.enums import JudgementKind, JudgementStatus, MatchStatus
from league.models import Bot, JudgedSum, Judgement, Party, Pool, PuzzleSearch
from league.pure.portable import comparable

BATCH = 20  # judgements of one pass
SUMS = ("boards", "decisions", "judged", "right", "lost", "lost_lost", "lost_judged", "judged_judged")


def count_new(*, most: int = BATCH) -> int:
    """Count what was judged since; the number of judgements. At any time, by any number of processes. One query where there is none."""
    waiting = Judgement.objects.filter(status=JudgementStatus.DONE, summed=False).order_by("id")
    return sum(_count(pk) for pk in waiting.values_list("pk", flat=True)[:most])


def _count(pk: int) -> int:
    with transaction.atomic():
        unsummed = Judgement.objects.filter(pk=pk, status=JudgementStatus.DONE, summed=False)
        rows = unsummed.select_for_update(skip_locked=True, of=("self",)).select_related("match__tournament")
        row = rows.defer("match__tournament__secret").first()
        if row is None:
            return 0
        Judgement.objects.filter(pk=pk).update(summed=True)
        # The page of a bot shows the sums to everybody, so what is held back from somebody is in none
        shown = row.match.status == MatchStatus.FINISHED and not sight.is_held_back(row.match.tournament)
        if shown and not _has_counted(row):
            _add(row)
            if row.kind == JudgementKind.FAIR and row.judge == JUDGE:
                PuzzleSearch.objects.get_or_create(judgement=row)
    return 1


def _has_counted(row: Judgement) -> bool:
    """Whether its match was counted already, judged in the same way over another number of deals: its boards are no new ones."""
    others = Judgement.objects.filter(match=row.match_id, kind=row.kind, judge=row.judge, status=JudgementStatus.DONE)
    return others.exclude(samples=row.samples).filter(Q(summed=True) | Q(pk__lt=row.pk)).exists()


def _add(row: Judgement) -> None:
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused:  # damaged: its page says so
        return
    versions = list(Party.objects.filter(match=row.match_id).order_by("number").values_list("version_id", flat=True))
    found = reading.placed(body, reading.seatings(row))
    sums: dict[tuple[int, str], dict[str, float]] = {}
    for version, phases in zip(versions, reading.tallies(found, len(versions)), strict=True):
        for phase, tally in phases.items():
            if not tally.decisions:
                continue
            by_board = list(tally.boards.values())
            mine = sums.setdefault((version, phase), dict.fromkeys(SUMS, 0))
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
                mine[name] += value
    # In one order, the pool's last: of two processes one waits, and neither for ever
    for (version, phase), added in sorted(sums.items()):
        _grow(row, version, phase, added)
    for phase in sorted({phase for _, phase in sums}):
        parts = [added for (_, other), added in sums.items() if other == phase]
        _grow(row, None, phase, {name: sum(one[name] for one in parts) for name in SUMS})


def _grow(row: Judgement, version: int | None, phase: str, added: dict[str, float]) -> None:
    key: dict[str, Any] = {
        "version_id": version,
        "pool_id": row.match.pool_id,
        "kind": row.kind,
        "judge": row.judge,
        "phase": phase,
    }
    kept, _made = JudgedSum.objects.get_or_create(**key)
    JudgedSum.objects.filter(pk=kept.pk).update(**{name: F(name) + value for name, value in added.items()})


@dataclass(frozen=True, slots=True)
class Figures:
    """Of judged decisions.

    lost: by one of them on average; margin: half of its 95 % interval over boards, None for fewer than two; right: the share that lost nothing.
    """

    boards: int
    judged: int
    lost: float
    margin: float | None
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """One phase, or "all": of the version, and of all versions of the pool."""

    phase: str
    mine: Figures
    everybody: Figures


@dataclass(frozen=True, slots=True)
class Told:
    """What one kind of judgement says of a version in a pool; all its decisions first, then phase by phase."""

    pool: Pool
    kind: str
    version: int
    lines: list[Line]


def of_bot(bot: Bot, pool: Pool | None = None) -> list[Told]:
    """Of the newest version of a bot that was judged in a pool, in each way by the present judge. None: in every pool. Two queries."""
    rows = JudgedSum.objects.filter(judge=JUDGE, judged__gt=0)
    of_it = rows.filter(version__bot=bot, **({"pool": pool} if pool else {}))
    by_pool: dict[int, list[JudgedSum]] = {}
    for row in of_it.select_related("version", "pool"):
        by_pool.setdefault(row.pool_id, []).append(row)
    everybody: dict[int, dict[tuple[str, str], JudgedSum]] = {key: {} for key in by_pool}
    for row in rows.filter(version=None, pool__in=by_pool) if by_pool else ():
        everybody[row.pool_id][row.kind, row.phase] = row
    return [
        told
        for key, mine in sorted(by_pool.items())
        for kind in ("fair", "open")
        if (told := _told(kind, mine, everybody[key]))
    ]


def _told(kind: str, rows: Sequence[JudgedSum], everybody: Mapping[tuple[str, str], JudgedSum]) -> Told | None:
    numbers = [row.version.number for row in rows if row.version is not None and row.kind == kind]
    if not numbers:
        return None
    newest = max(numbers)
    by_phase = {row.phase: row for row in rows if row.kind == kind and row.version and row.version.number == newest}
    lines = [
        Line(phase, figures(by_phase[phase]), figures(everybody[kind, phase]))
        for phase in (reading.ALL, *PHASES)
        if phase in by_phase
    ]
    return Told(rows[0].pool, kind, newest, lines)


def figures(row: JudgedSum) -> Figures:
    """Of a row with judged decisions. The interval is that of `engine.analysis.Tally.margin`."""
    mean, margin = row.lost / row.judged, None
    if row.boards > 1:
        squares = row.lost_lost - 2 * mean * row.lost_judged + mean * mean * row.judged_judged
        margin = t95(row.boards - 1) * sqrt(row.boards / (row.boards - 1) * max(0.0, squares)) / row.judged
    return Figures(row.boards, row.judged, comparable(mean), margin and comparable(margin), row.right / row.judged)
