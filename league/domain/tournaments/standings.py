"""The table of a tournament and who beat whom, from its finished boards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import permutations

import numpy as np
from django.db import connection
from django.db.models import Count, Exists, OuterRef

from league.domain.core import past
from league.domain.ratings import pools
from league.domain.tournaments import fixtures, formats
from league.enums import MatchStatus, TournamentStatus
from league.models import Board, Entry, Party, Tournament
from league.pure.formats import Ranking
from league.pure.rating import standings as pure
from league.pure.rating.tallies import Tallies, tally


@dataclass(frozen=True)
class Standing:
    """One entry with its place, board points and tie-breaks (`result`), and the matches in which it made a fault."""

    entry: Entry
    result: pure.EntryResult
    faults: int
    breaks: dict[str, float] = field(default_factory=dict)  # what else parts equals in its format, in that order


@dataclass
class Standings:
    """Rows from first to last. `cells[a, b]` is what entry number a did against entry number b. `statuses` counts its matches by status."""

    rows: list[Standing]
    cells: pure.Crosstable
    statuses: Counter[str] = field(default_factory=Counter)


def standings(tournament: Tournament, at: datetime | None = None) -> Standings:
    """The table from the finished matches alone, now or as it stood at a past moment. Three queries, more of the past and of some formats.

    Of matches between two the database adds up what their reports say; of all others, and of the past, the boards are read.
    """
    statuses = Counter(dict(tournament.matches.order_by().values_list("status").annotate(found=Count("pk"))))
    # One statement says which matches are in the table, and what they brought.
    entered = tournament.entries.select_related("version__bot__owner").order_by("number")
    if at is None and pools.parties(tournament.pool) == 2:
        pairs = _read_pairs(tournament)
        statuses[MatchStatus.FINISHED] = sum(row[-1] for row in pairs)
        entries = list(entered)
        found, faults = _tally_pairs(pairs, {entry.version_id: entry.number for entry in entries})
    else:
        found, faults, statuses[MatchStatus.FINISHED] = _read_boards(tournament, at)
        entries = list(entered)
    return _made(tournament, entries, found, faults, _ranking(tournament, at), statuses)


def standings_of_boards(tournament: Tournament, shown: Collection[tuple[int, int]]) -> Standings:
    """The table as if these boards, by the ids of match and board, were all that was played. Three queries, more of some formats.

    The order of formats that follow results goes by the matches that are whole.
    """
    keys = {pk for _, pk in shown}
    matches = {match for match, _ in shown}
    entries = list(tournament.entries.select_related("version__bot__owner").order_by("number"))
    number_of = {entry.version_id: entry.number for entry in entries}
    seated: dict[int, list[int]] = defaultdict(list)
    parties = Party.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for match_id, version_id in parties.values_list("match_id", "version_id"):
        seated[match_id].append(number_of[version_id])
    left = Counter(dict.fromkeys(matches, 0))
    rows = []
    played = Board.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for pk, match_id, scores in played.values_list("pk", "match_id", "scores"):
        if pk in keys:
            rows.append((seated[match_id], scores))
        elif match_id in matches:
            left[match_id] += 1
    whole = {match for match, missing in left.items() if not missing}
    ranking = None
    if formats.follows_results(tournament):
        ranking = fixtures.play_format(tournament, over=whole).outcome.rank()
    found = tally(rows, pools.sides(tournament.pool))
    return _made(tournament, entries, found, Counter(), ranking, Counter({MatchStatus.FINISHED: len(whole)}))


def _made(
    tournament: Tournament,
    entries: Sequence[Entry],
    found: Tallies,
    faults: Counter[int],
    ranking: Ranking | None,
    statuses: Counter[str],
) -> Standings:
    numbers = [entry.number for entry in entries]
    table = pure.rank_tallies(numbers, found, ranking.levels if ranking else None)
    breaks = ranking.breaks if ranking else {}
    by_number = {entry.number: entry for entry in entries}
    size = pools.game_of(tournament.pool).score_size
    rows = [
        Standing(by_number[r.entry], _in_unit(r, size), faults[r.entry], dict(breaks.get(r.entry, {})))
        for r in table.rows
    ]
    return Standings(rows, table.crosstable, +statuses)


PAIRS = """
    SELECT a.version_id, b.version_id, sum(a.wins), sum(a.draws), sum(a.losses), sum(a.points), sum(b.points),
        sum(CASE WHEN a.fault = '' THEN 0 ELSE 1 END), sum(CASE WHEN b.fault = '' THEN 0 ELSE 1 END), count(*)
    FROM league_match m
    JOIN league_party a ON a.match_id = m.id AND a.number = 0
    JOIN league_party b ON b.match_id = m.id AND b.number = 1
    WHERE m.tournament_id = %s AND m.status = 'finished' GROUP BY 1, 2
"""


def _read_pairs(tournament: Tournament) -> list[tuple[int, ...]]:
    """Of each two versions that have met at tables of two: wins, draws and losses of the first, points and matches with a fault of both; matches."""
    with connection.cursor() as cursor:
        cursor.execute(PAIRS, [tournament.pk])
        return [tuple(map(int, row)) for row in cursor.fetchall()]


def _tally_pairs(rows: list[tuple[int, ...]], number_of: dict[int, int]) -> tuple[Tallies, Counter[int]]:
    """The statistics of boards between two, and how many matches with a fault each entry has."""
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 10)
    versions = np.array(sorted(number_of), dtype=np.int64)
    numbers = np.array([number_of[version] for version in versions.tolist()], dtype=np.int64)
    a, b = (numbers[np.searchsorted(versions, table[:, column])] for column in (0, 1))
    wins, draws, losses, points_a, points_b, faults_a, faults_b, _ = table[:, 2:].T
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
    """The same of tables of any size, from the boards, now or at a past moment, and how many matches it is. Four queries."""
    then = past.finished(tournament.matches.all(), at)
    # This one statement says which matches are in the table. One that finishes from here on is left out of all that follows.
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
    tournament: Tournament, rows: Iterable[Entry], columns: Iterable[Entry], at: datetime | None = None
) -> dict[tuple[int, int], list[str]]:
    """The public ids of the finished matches between these entries, the oldest first, by their two numbers. One query."""
    numbers = {entry.version_id: entry.number for entry in (*rows, *columns)}
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    other = Party.objects.filter(match=OuterRef("match"), version__in=[entry.version_id for entry in columns])
    then = past.finished(tournament.matches.all(), at)
    seated = Party.objects.filter(match__in=then, version__in=numbers).filter(Exists(other))
    by_match: dict[str, list[int]] = defaultdict(list)
    for public_id, version in seated.order_by("match_id", "number").values_list("match__public_id", "version_id"):
        by_match[public_id].append(numbers[version])
    for public_id, seats in by_match.items():
        for pair in permutations(seats, 2):
            found[pair].append(public_id)
    return dict(found)


def _in_unit(result: pure.EntryResult, size: int) -> pure.EntryResult:
    """With the score per board in the unit of the game, of which `size` make one."""
    if result.score_per_board is None or size == 1:
        return result
    return replace(result, score_per_board=result.score_per_board / size)


def _ranking(tournament: Tournament, at: datetime | None) -> Ranking | None:
    """The order by the format, now or then; None where it is that of board points, or there is none yet."""
    if tournament.status == TournamentStatus.OPEN or not formats.follows_results(tournament):
        return None
    return fixtures.play_format(tournament, at=at).outcome.rank()
