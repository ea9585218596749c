"""Fixtures: the matches that should exist according to the format, and the outcome so far."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from league.domain.core import hints, history
from league.domain.matches import matches
from league.domain.tournaments import formats, rule
from league.enums import Counting, MatchKind, MatchStatus
from league.models import Board, Match, Party, Round, Tournament
from league.pure.formats import Field, Outcome, Pairing, Sheet, Slot

OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)


@dataclass(frozen=True)
class PlayedFormat:
    """A tournament as its format sees it: outcome, sheet and field."""

    outcome: Outcome
    sheet: Sheet
    field: Field


def play_format(
    tournament: Tournament, *, blank: bool = False, at: datetime | None = None, over: Collection[int] | None = None
) -> PlayedFormat:
    """Play the format on the rows of a tournament.

    blank: without results, for formats whose pairings do not depend on them. at: with the results at that time. over: with the results of these
    matches only.
    """
    # Results are read first, then pairings, then entries, so that each statement finds everything to which the earlier ones refer.
    results = {} if blank else read_results(tournament, at, over)
    drawn = drawn_pairings(tournament) if formats.format_named(tournament.format).stands and not blank else ()
    form, field = formats.field_of_tournament(tournament)
    sheet = Sheet.for_field(field, results, drawn)
    return PlayedFormat(form.play(field, sheet), sheet, field)


def read_results(
    tournament: Tournament, at: datetime | None = None, over: Collection[int] | None = None
) -> dict[Slot, Sequence[Sequence[int]]]:
    """Return the boards of all finished matches by table, with scores in the order of entry numbers. Four queries; five for the past.

    A void match has no boards unless it was played again; in a bracket it decides nothing, as if it were not played yet. The first statement
    determines which matches are finished; one that finishes later counts as running, even if the next statements see its boards.
    """
    decides = not formats.format_named(tournament.format).bracket
    finished: dict[int, Slot] = {}
    boards_by_slot: dict[Slot, Sequence[Sequence[int]]] = {}
    live: set[Slot] = set()
    then: Collection[int] | None = over
    if at is not None:
        then = set(history.finished(tournament.matches.all(), at).values_list("pk", flat=True))
    for pk, table, first, status in tournament.matches.values_list("pk", "table", "first_board", "status"):
        if pk in then if then is not None else status == MatchStatus.FINISHED:
            finished[pk] = (table, first)
        elif then is None and status in OVER:
            if decides:
                boards_by_slot[table, first] = []
        else:
            live.add((table, first))
    boards: dict[int, list[Sequence[int]]] = defaultdict(list)
    seated = _seated(tournament)
    played = Board.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for pk, scores in played.values_list("match_id", "scores"):
        if pk in finished:
            boards[pk].append([score for _, score in sorted(zip(seated[pk], scores, strict=True))])
    boards_by_slot |= {slot: boards[pk] for pk, slot in finished.items()}
    return {slot: played for slot, played in boards_by_slot.items() if slot not in live}


def _seated(tournament: Tournament) -> dict[int, list[int]]:
    """Return the entry numbers of each match in the order of their places. Two queries."""
    parties = Party.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    rows = list(parties.values_list("match_id", "version_id"))
    # Read after the matches, so that every version at a table has its entry here.
    number = dict(tournament.entries.values_list("version_id", "number"))
    seated: dict[int, list[int]] = defaultdict(list)
    for match_id, version_id in rows:
        seated[match_id].append(number[version_id])
    return seated


def drawn_pairings(tournament: Tournament) -> list[Pairing]:
    """Return the existing tables in the order of their creation. Three queries."""
    tables = tournament.matches.order_by("id")
    rows = list(tables.values_list("pk", "round__number", "table", "first_board", "boards_planned"))
    seated = _seated(tournament)  # Read after the matches, which are inserted together with their parties.
    pairings: dict[Slot, Pairing] = {}
    for pk, round_number, table, first, boards in rows:
        pairings.setdefault((table, first), Pairing(round_number, table, tuple(seated[pk]), first, boards))
    return list(pairings.values())


def plan_matches(tournament: Tournament, tables: Iterable[Pairing]) -> list[matches.MatchPlan]:
    """Turn tables into match plans. Missing rounds are created."""
    tables = list(tables)
    entries = {entry.number: entry for entry in tournament.entries.select_related("version__bot")}
    numbers = sorted({table.round for table in tables})
    Round.objects.bulk_create((Round(tournament=tournament, number=n) for n in numbers), ignore_conflicts=True)
    rows = {row.number: row for row in tournament.rounds.filter(number__in=numbers)}
    return [
        matches.MatchPlan(
            key=_key(tournament, table),
            kind=MatchKind.TOURNAMENT,
            pool=tournament.pool,
            tournament=tournament,
            round=rows[table.round],
            table=table.name,
            secret=bytes(tournament.secret),
            first_board=table.first,
            boards=table.boards,
            versions=tuple(entries[number].version for number in table.entries),
            rated=rule.counting(tournament) == Counting.LEAGUE,
            limits=tournament.limits,
        )
        for table in tables
    ]


def _key(tournament: Tournament, table: Pairing) -> str:
    name = f"t:{tournament.pk}:{table.name}"
    return name if table.first == 1 else f"{name}:{table.first}"


@contextmanager
def _collector_rests() -> Iterator[None]:
    """Suspend the garbage collector: with tens of thousands of live rows it would take a fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def insert(tournament: Tournament, tables: Iterable[Pairing], *, now: datetime) -> int:
    """Insert the missing matches of `tables`; return their number. Repeatable."""
    with _collector_rests():
        added = matches.insert(plan_matches(tournament, tables), now=now)
    if added:
        hints.matches_wait()
    return added


def has_open_matches(tournament: Tournament) -> bool:
    """Return True if a match of the tournament is not finished."""
    return Match.objects.filter(tournament=tournament).exclude(status__in=OVER).exists()
