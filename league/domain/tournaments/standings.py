"""The table of a tournament and who beat whom, from its finished boards."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import permutations

from league.domain.core import past
from league.domain.ratings import pools
from league.domain.tournaments import fixtures, formats
from league.enums import MatchStatus, TournamentStatus
from league.models import Board, Entry, Party, Tournament
from league.pure.formats import Ranking
from league.pure.rating import standings as pure

FINISHED = MatchStatus.FINISHED


@dataclass(frozen=True)
class Standing:
    """One entry with its place, board points and tie-breaks (`result`), and the matches in which it made a fault."""

    entry: Entry
    result: pure.EntryResult
    faults: int
    breaks: dict[str, float] = field(default_factory=dict)  # what else parts equals in its format, in that order


@dataclass
class Standings:
    """Rows from first to last. `cells[a, b]` is what entry number a did against entry number b, `met[a, b]` in which matches.

    `statuses` counts all matches of the tournament by status.
    """

    rows: list[Standing]
    cells: dict[tuple[int, int], pure.Cell]
    met: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)


def standings(tournament: Tournament, at: datetime | None = None) -> Standings:
    """The table from the finished matches alone, now or as it stood at a past moment. Four queries whatever the size; of the past five."""
    then = None if at is None else set(past.finished(tournament.matches.all(), at).values_list("pk", flat=True))
    matches = list(tournament.matches.order_by("pk").values_list("pk", "public_id", "status"))
    statuses = Counter(status for _, _, status in matches)
    # This one statement says which matches are in the table. One that finishes from here on is left out of all that follows.
    names = {pk: name for pk, name, status in matches if (pk in then if then is not None else status == FINISHED)}
    entries = list(tournament.entries.select_related("version__bot__owner").order_by("number"))
    number_of = {entry.version_id: entry.number for entry in entries}
    seated: dict[int, list[int]] = defaultdict(list)
    faults: Counter[int] = Counter()
    parties = Party.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for match_id, version_id, fault in parties.values_list("match_id", "version_id", "fault"):
        if match_id in names:
            seated[match_id].append(number_of[version_id])
            faults[number_of[version_id]] += bool(fault)
    boards = Board.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    ranking = _ranking(tournament, at)
    table = pure.rank_entries(
        list(number_of.values()),
        ((seated[pk], scores) for pk, scores in boards.values_list("match_id", "scores") if pk in names),
        pools.sides(tournament.pool),
        ranking.levels if ranking else None,
    )
    breaks = ranking.breaks if ranking else {}
    met: dict[tuple[int, int], list[str]] = defaultdict(list)
    for match_id, numbers in seated.items():
        for pair in permutations(numbers, 2):
            met[pair].append(names[match_id])
    by_number = {entry.number: entry for entry in entries}
    size = pools.game_of(tournament.pool).score_size
    rows = [
        Standing(by_number[r.entry], _in_unit(r, size), faults[r.entry], dict(breaks.get(r.entry, {})))
        for r in table.rows
    ]
    return Standings(rows, table.crosstable, dict(met), statuses)


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
