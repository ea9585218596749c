"""The rounds and the bracket of a tournament as data, for pages and the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf

from django.db.models import Count, Max

from league.domain.core import paging
from league.domain.tournaments import fixtures, formats
from league.enums import MatchStatus
from league.models import Match, Party, Round, Tournament
from league.pure.formats import BracketPairing, Results


@dataclass
class BracketMatch:
    """A match of a round. `points`: board points of each entry; None until the match is finished."""

    id: str
    table: str
    first_board: int
    boards: int
    status: str
    entries: list[int] = field(default_factory=list)
    points: list[float] | None = None


@dataclass
class RoundMatches:
    """A round with its matches and the entries that rest."""

    number: int
    matches: list[BracketMatch]
    resting: list[int]


@dataclass(frozen=True)
class BracketStep:
    """A pairing of a bracket with the public ids of its matches; once boards have been played, also the board points of both sides."""

    pairing: BracketPairing
    matches: list[str]
    points: tuple[float, float] | None = None


MOST_MATCHES = 1000  # The most matches on a page of rounds
# A tournament with more rounds than this may exceed MOST_MATCHES; with fewer, no count is needed
LARGE_ROUNDS = 16


def cut_rounds(page: paging.Page[Round], *, back: bool = False) -> paging.Page[Round]:
    """Return the first rounds of a page that together have at most MOST_MATCHES, but at least one round. Two queries at most.

    back: the page was read from its end, so return its last rounds.
    """
    rows = page.rows[::-1] if back else page.rows
    counts = _count_matches(rows[:LARGE_ROUNDS])
    if sum(counts) <= MOST_MATCHES:
        counts += _count_matches(rows[LARGE_ROUNDS:])
    most = max(1, sum(total <= MOST_MATCHES for total in accumulate(counts)))
    return paging.shorten(page, most, lambda row: [row.number], back=back)


def _count_matches(rounds: Sequence[Round]) -> list[int]:
    """Return the number of matches of each of these rounds. One query; none without rounds."""
    if not rounds:
        return []
    counts = dict(Match.work.filter(round__in=rounds).order_by().values_list("round").annotate(number=Count("*")))
    return [counts.get(row.pk, 0) for row in rounds]


def read_rounds(tournament: Tournament, rows: Iterable[Round]) -> list[RoundMatches]:
    """Read these rounds of a tournament. At most four queries for any number of rounds."""
    rows = list(rows)
    numbers = dict(tournament.entries.values_list("version_id", "number"))
    meetings: dict[int, dict[int, BracketMatch]] = {row.pk: {} for row in rows}
    # Plain values, because a page may show thousands of matches.
    of_rounds = Match.work.filter(round__in=rows).order_by("id")
    names = ("round", "pk", "public_id", "table", "first_board", "boards_planned", "status")
    for number, pk, *values in of_rounds.values_list(*names):
        if number is not None:
            meetings[number][pk] = BracketMatch(*values)
    by_match = {pk: meeting for of_round in meetings.values() for pk, meeting in of_round.items()}
    points: dict[int, list[float]] = defaultdict(list)
    for match_id, version, wins, draws in (
        Party.objects.filter(
            match__in=list(by_match)
        )  # By id: PostgreSQL would read all parties to join them with these matches.
        .order_by("match_id", "number")
        .values_list("match_id", "version_id", "wins", "draws")
    ):
        by_match[match_id].entries.append(numbers[version])
        points[match_id].append((wins or 0) + (draws or 0) / 2)
    for pk, meeting in by_match.items():
        meeting.points = points[pk] if meeting.status == MatchStatus.FINISHED else None
    last = _last_rounds(tournament, numbers)
    return [
        RoundMatches(
            row.number,
            list(meetings[row.pk].values()),
            sorted(
                {entry for entry, until in last.items() if until >= row.number}
                - {entry for meeting in meetings[row.pk].values() for entry in meeting.entries}
            ),
        )
        for row in rows
    ]


def _last_rounds(tournament: Tournament, numbers: Mapping[int, int]) -> dict[int, float]:
    """Return by entry the last round in which it takes part, since an eliminated entry does not count as resting."""
    last = dict.fromkeys(numbers.values(), inf)
    if formats.format_named(tournament.format).eliminates:
        seated = Party.objects.filter(match__tournament=tournament).values_list("version_id")
        last |= {numbers[version]: until for version, until in seated.annotate(until=Max("match__round__number"))}
    return last


def has_rounds(tournament: Tournament) -> bool:
    """Return True if the rounds of the tournament mean something: each one depends on earlier results."""
    return formats.follows_results(tournament) and formats.format_named(tournament.format).rounds


def read_all_rounds(tournament: Tournament) -> list[RoundMatches]:
    """Return all rounds of a tournament, by number. Five queries at most."""
    return read_rounds(tournament, tournament.rounds.order_by("number"))


def read_bracket(tournament: Tournament) -> list[BracketStep]:
    """Return the pairings that are known so far; none if the format has no bracket or the tournament has not started."""
    if not formats.format_named(tournament.format).bracket or tournament.started is None:
        return []
    ids: dict[tuple[str, int], str] = {}
    for table, first, public_id in tournament.matches.order_by("id").values_list("table", "first_board", "public_id"):
        ids[table, first] = public_id  # If a void match was played again, the last match counts.
    played = fixtures.play_format(tournament)
    return [
        BracketStep(
            pairing, [ids[slot] for slot in pairing.slots if slot in ids], _points(pairing, played.sheet.results)
        )
        for pairing in played.outcome.bracket
    ]


def _points(pairing: BracketPairing, results: Results) -> tuple[float, float] | None:
    boards = [scores for slot in pairing.slots for scores in results.get(slot, ())]
    if not boards or pairing.first is None or pairing.second is None:
        return None
    # Points of the entry with the smaller number, which comes first in results.
    lower = sum((1 + (a > b) - (a < b)) / 2 for a, b in boards)
    points = (lower, len(boards) - lower)
    return points if pairing.first < pairing.second else points[::-1]
