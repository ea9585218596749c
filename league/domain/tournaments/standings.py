"""The standings and the crosstable of a tournament, from its finished boards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, permutations
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Count, Exists, OuterRef, QuerySet

from league.domain.core import history
from league.domain.ratings import pools
from league.domain.tournaments import fixtures, formats
from league.enums import MatchStatus, TournamentStatus
from league.models import Board, Entry, Match, Party, Tournament
from league.pure.formats import Ranking
from league.pure.rating import standings as pure
from league.pure.rating.tallies import Ints, Tallies, tally
from league.service import changes
from league.service.process_cache import ProcessCache

MAX_NUMBERS = 5_000_000  # The most numbers in all cached tables of a process: 40 MB


@dataclass(frozen=True)
class Standing:
    """A row of the standings: the entry, its place and points (`result`), and its number of matches with a fault."""

    entry: Entry
    result: pure.EntryResult
    faults: int
    breaks: dict[str, float] = field(default_factory=dict)  # The tie-breaks of the format, in the format's order.


@dataclass(frozen=True)
class PlayedMatches:
    """The finished matches of a tournament between two: a row of numbers for each (see `PLAYED`), and its public id."""

    rows: Ints
    public_ids: np.ndarray[tuple[int, ...], np.dtype[np.str_]]

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, chosen: Any) -> PlayedMatches:
        """Return the matches that `chosen`, a mask or places, selects."""
        return PlayedMatches(self.rows[chosen], self.public_ids[chosen])


@dataclass
class Standings:
    """The rows from first to last. `cells[a, b]`: results of entry number a against entry number b.

    `statuses`: number of matches by status. `played`: for tables of two; None if not computed.
    """

    rows: list[Standing]
    cells: pure.Crosstable
    statuses: Counter[str] = field(default_factory=Counter)
    played: PlayedMatches | None = None


@dataclass(frozen=True)
class _ResultTable:
    """The cached results of all matches of a tournament. `played`: for tables of two."""

    results: pure.RankedResults
    faults: Counter[int]
    breaks: Mapping[int, Mapping[str, float]]
    statuses: Counter[str]
    played: PlayedMatches | None = None


def _weight(table: _ResultTable) -> int:
    return len(table.results.rows) ** 2 * 3 + (0 if table.played is None else len(table.played) * WIDTH)


_tables: ProcessCache[int, _ResultTable] = ProcessCache(MAX_NUMBERS, _weight)


def standings(tournament: Tournament, at: datetime | None = None) -> Standings:
    """Return the standings from the finished matches, now or at a past time. Three queries, more for the past and in some formats.

    For matches between two, the totals of the parties are added; for all others, and for the past, the boards are read. The current standings are
    cached: if nothing changed they cost two queries, otherwise only newly finished matches are read.
    """
    entered = tournament.entries.select_related("version__bot__owner", "version__bot__team").order_by("number")
    entries: list[Entry] = []

    def work_out(old: _ResultTable | None) -> _ResultTable:
        table, entries[:] = _work_out(tournament, entered, at, old)
        return table

    table = _tables.get(tournament.pk, changes.of_tournament(tournament.pk), work_out) if at is None else work_out(None)
    return _as_standings(tournament, entries or list(entered), table)


def _work_out(
    tournament: Tournament, entered: QuerySet[Entry], at: datetime | None, old: _ResultTable | None
) -> tuple[_ResultTable, list[Entry]]:
    """Compute the table; return it with the entries, which had to be read."""
    # No match of a tournament is an audit or a try, so the query needs only an index.
    counted = Match.work.filter(tournament=tournament).order_by().values_list("status").annotate(number=Count("*"))
    statuses = Counter(dict(counted))
    # This one statement determines which matches are in the table.
    played = None
    if at is None and pools.parties(tournament.pool) == 2:
        played = _read_played(tournament, old.played if old else None)
        statuses[MatchStatus.FINISHED] = len(played)
        entries = list(entered)
        tallies, faults = _tally_pairs(played.rows, {entry.version_id: entry.number for entry in entries})
    else:
        tallies, faults, statuses[MatchStatus.FINISHED] = _read_boards(tournament, at)
        entries = list(entered)
    ranking = _ranking(tournament, at)
    numbers = [entry.number for entry in entries]
    results = pure.rank_tallies(numbers, tallies, ranking.levels if ranking else None)
    return _ResultTable(results, faults, ranking.breaks if ranking else {}, +statuses, played), entries


def _as_standings(tournament: Tournament, entries: Sequence[Entry], table: _ResultTable) -> Standings:
    by_number = {entry.number: entry for entry in entries}
    size = pools.game_of(tournament.pool).score_size
    rows = [
        Standing(by_number[r.entry], _in_unit(r, size), table.faults[r.entry], dict(table.breaks.get(r.entry, {})))
        for r in table.results.rows
        if r.entry in by_number  # An entry may have been withdrawn since.
    ]
    return Standings(_with_last(rows), table.results.crosstable, Counter(table.statuses), table.played)


def _with_last(rows: list[Standing]) -> list[Standing]:
    """Move the disqualified entries to the end, where they share the last place; the entries below them move up."""
    out = [row for row in rows if row.entry.disqualified is not None]
    if not out:
        return rows
    others = [row for row in rows if row.entry.disqualified is None]
    places = [row.result.place for row in others]
    moved = [
        replace(row, result=replace(row.result, place=1 + sum(p < row.result.place for p in places))) for row in others
    ]
    place, shared = len(others) + 1, len(out) > 1
    return moved + [
        replace(row, result=replace(row.result, place=place, shared=shared, tied_with_next=False)) for row in out
    ]


def standings_of_boards(tournament: Tournament, boards: Collection[tuple[int, int]]) -> Standings:
    """Compute the standings as if only these boards (ids of match and board) had been played. Three queries, more in some formats.

    Formats whose order depends on results use only the complete matches.
    """
    keys = {pk for _, pk in boards}
    matches = {match for match, _ in boards}
    entries = list(tournament.entries.select_related("version__bot__owner", "version__bot__team").order_by("number"))
    number_of = {entry.version_id: entry.number for entry in entries}
    seated: dict[int, list[int]] = defaultdict(list)
    parties = Party.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for match_id, version_id in parties.values_list("match_id", "version_id"):
        seated[match_id].append(number_of[version_id])
    missing_boards = Counter(dict.fromkeys(matches, 0))
    rows = []
    played = Board.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for pk, match_id, scores in played.values_list("pk", "match_id", "scores"):
        if pk in keys:
            rows.append((seated[match_id], scores))
        elif match_id in matches:
            missing_boards[match_id] += 1
    whole = {match for match, missing in missing_boards.items() if not missing}
    ranking = None
    if formats.follows_results(tournament):
        ranking = fixtures.play_format(tournament, over=whole).outcome.rank()
    tallies = tally(rows, pools.sides(tournament.pool))
    results = pure.rank_tallies(list(number_of.values()), tallies, ranking.levels if ranking else None)
    statuses = Counter({MatchStatus.FINISHED.value: len(whole)})
    return _as_standings(
        tournament, entries, _ResultTable(results, Counter(), ranking.breaks if ranking else {}, +statuses)
    )


PLAYED = """
    SELECT m.public_id, m.id, a.version_id, b.version_id, a.wins, a.draws, a.losses, a.points, b.points,
        CASE WHEN a.fault = '' THEN 0 ELSE 1 END, CASE WHEN b.fault = '' THEN 0 ELSE 1 END
    FROM league_match m
    JOIN league_party a ON a.match_id = m.id AND a.number = 0
    JOIN league_party b ON b.match_id = m.id AND b.number = 1
    WHERE m.tournament_id = %s AND m.status = 'finished'
"""
COLUMNS = 10  # Numbers of a match.
LETTERS = 12  # The longest public id.
WIDTH = COLUMNS + LETTERS // 2  # Numbers of 8 bytes that a match takes; a letter has 4 bytes.
FEW = 500  # Up to this number, matches are read one by one.


def _read_played(tournament: Tournament, old: PlayedMatches | None) -> PlayedMatches:
    """Read the finished matches between two versions: ids, versions; wins, draws, losses of the first; points and fault flag of both.

    A finished match never changes, so the matches in `old` are not read again. One query; two with `old`.
    """
    if old is None or not len(old):
        return _read_rows(PLAYED, [tournament.pk])
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM league_match WHERE tournament_id = %s AND status = 'finished'", [tournament.pk])
        ids = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1)
    fresh = np.setdiff1d(ids, old.rows[:, 0])
    if len(fresh) > FEW:
        return _read_rows(PLAYED, [tournament.pk])
    stays = old.where(np.isin(old.rows[:, 0], ids))
    if not len(fresh):
        return stays
    holes = ", ".join(["%s"] * len(fresh))
    new = _read_rows(f"{PLAYED} AND m.id IN ({holes})", [tournament.pk, *fresh.tolist()])
    both = zip((stays.rows, stays.public_ids), (new.rows, new.public_ids), strict=True)
    return PlayedMatches(*(np.concatenate(parts) for parts in both))


def _read_rows(sql: str, values: list[int]) -> PlayedMatches:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows = cursor.fetchall()
    public_ids = np.array([row[0] for row in rows], dtype=f"U{LETTERS}")
    numbers = np.fromiter(chain.from_iterable(row[1:] for row in rows), dtype=np.int64, count=len(rows) * COLUMNS)
    return PlayedMatches(numbers.reshape(-1, COLUMNS), public_ids)


def _tally_pairs(played: Ints, number_of: dict[int, int]) -> tuple[Tallies, Counter[int]]:
    """Tally the boards of matches between two versions; count the matches with a fault by entry."""
    versions = np.array(sorted(number_of), dtype=np.int64)
    numbers = np.array([number_of[version] for version in versions.tolist()], dtype=np.int64)
    a, b = (numbers[np.searchsorted(versions, played[:, column])] for column in (1, 2))
    wins, draws, losses, points_a, points_b, faults_a, faults_b = played[:, 3:].T
    boards = wins + draws + losses
    totals = np.zeros((len(numbers), 6), dtype=np.int64)
    totals[:, 0] = np.arange(len(numbers))
    for who, points, halves, faults in (
        (a, points_a, 2 * wins + draws, faults_a),
        (b, points_b, 2 * losses + draws, faults_b),
    ):
        np.add.at(totals, who, np.stack([0 * boards, boards, points, halves, boards, faults], axis=1))
    totals = totals[totals[:, 1] > 0]
    sides = np.stack(
        [np.minimum(a, b), np.maximum(a, b), np.where(a < b, wins, losses), draws, np.where(a < b, losses, wins)],
        axis=1,
    )
    size = max(len(numbers), 1)
    keys, place = np.unique(sides[:, 0] * size + sides[:, 1], return_inverse=True)
    merged = np.zeros((len(keys), 5), dtype=np.int64)
    merged[:, 0], merged[:, 1] = keys // size, keys % size
    np.add.at(merged[:, 2:], place, sides[:, 2:])
    merged = merged[merged[:, 2:].any(axis=1)]
    faults = Counter({int(row[0]): int(row[5]) for row in totals})
    return Tallies(totals, {1: merged} if len(merged) else {}, {}), faults


def _read_boards(tournament: Tournament, at: datetime | None) -> tuple[Tallies, Counter[int], int]:
    """Tally tables of any size from their boards, now or at a past time; return tallies, faults by entry, and the number of matches.

    Four queries.
    """
    then = history.finished(tournament.matches.all(), at)
    # This one statement determines which matches count; one that finishes later is left out of all further statements.
    played = set(then.values_list("pk", flat=True))
    number_of = dict(tournament.entries.values_list("version_id", "number"))
    seated: dict[int, list[int]] = defaultdict(list)
    faults: Counter[int] = Counter()
    parties = Party.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for match_id, version_id, fault in parties.values_list("match_id", "version_id", "fault"):
        if match_id in played:
            seated[match_id].append(number_of[version_id])
            faults[number_of[version_id]] += bool(fault)
    boards = Board.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    rows = ((seated[pk], scores) for pk, scores in boards.values_list("match_id", "scores") if pk in played)
    return tally(rows, pools.sides(tournament.pool)), faults, len(played)


def meetings(
    tournament: Tournament,
    rows: Iterable[Entry],
    columns: Iterable[Entry],
    at: datetime | None = None,
    played: PlayedMatches | None = None,
) -> dict[tuple[int, int], list[str]]:
    """Return the public ids of the finished matches between these entries, oldest first, by their two numbers.

    `played`: of the current standings; without it one query.
    """
    across = [entry.version_id for entry in columns]
    numbers = {entry.version_id: entry.number for entry in rows} | {entry.version_id: entry.number for entry in columns}
    seats = _seats(tournament, numbers, across, at) if played is None else _seats_among(played, numbers, across)
    ids: dict[tuple[int, int], list[str]] = defaultdict(list)
    for public_id, versions in seats:
        for a, b in permutations(versions, 2):
            ids[numbers[a], numbers[b]].append(public_id)
    return dict(ids)


def _seats(
    tournament: Tournament, versions: Iterable[int], across: Sequence[int], at: datetime | None
) -> Iterable[tuple[str, list[int]]]:
    other = Party.objects.filter(match=OuterRef("match"), version__in=across)
    then = history.finished(tournament.matches.all(), at)
    seated = Party.objects.filter(match__in=then, version__in=versions).filter(Exists(other))
    by_match: dict[str, list[int]] = defaultdict(list)
    for public_id, version in seated.order_by("match_id", "number").values_list("match__public_id", "version_id"):
        by_match[public_id].append(version)
    return by_match.items()


def _seats_among(
    played: PlayedMatches, versions: Iterable[int], across: Sequence[int]
) -> Iterable[tuple[str, list[int]]]:
    seats = played.rows[:, 1:3]
    chosen = played.where(np.isin(seats, list(versions)).all(axis=1) & np.isin(seats, across).any(axis=1))
    oldest_first = chosen.where(np.argsort(chosen.rows[:, 0]))
    return zip(oldest_first.public_ids.tolist(), oldest_first.rows[:, 1:3].tolist(), strict=True)


def _in_unit(result: pure.EntryResult, size: int) -> pure.EntryResult:
    """Convert the score per board to the unit of the game, which is `size` points."""
    if result.score_per_board is None or size == 1:
        return result
    return replace(result, score_per_board=result.score_per_board / size)


def _ranking(tournament: Tournament, at: datetime | None) -> Ranking | None:
    """Return the order of the format, now or at `at`; None if board points decide, or before the start."""
    if tournament.status == TournamentStatus.OPEN or not formats.follows_results(tournament):
        return None
    return fixtures.play_format(tournament, at=at).outcome.rank()
