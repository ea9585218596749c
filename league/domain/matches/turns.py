"""Who is next: owners take turns, and each owner's tournaments among themselves, by the seconds that their matches are expected to take.

Start-time fair queueing (Goyal, Vin and Cheng 1996), twice. Each match of the queue bears two numbers, both in seconds of work:

* `turn`, within the line of its owner: each tournament counts on from its own last match, and none from before the one that is served now.
* `virtual_s`, in the line of all: the matches of one owner stand there one after the other in the order of their turns, the first one
  not before the moment that is served now.

So of n owners who have work each gets an n-th of the workers' time, whatever number of tournaments and matches it is cut into; who was idle saves
nothing up; a newcomer stands at the head. A claim takes the lowest number by an index and works out nothing. Matches of another
priority (validations) are a line of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max, Min, QuerySet

from league.domain.matches import holds
from league.domain.people import players
from league.enums import MatchStatus
from league.models import Match

HELD = (MatchStatus.LEASED, MatchStatus.RUNNING)
SERVED = (*HELD, MatchStatus.FINISHED)
ORDER = ("-priority", "virtual_s", "id")  # of claims
BATCH = 500  # rows of one UPDATE
LEAST_S = 0.01  # a match takes some time, whatever was measured


def take(rows: Sequence[Match]) -> None:
    """Give new matches, which are not in the database yet, their places. In a transaction: it locks their owners' lines."""
    for owner, priority in sorted({(row.owner_id, row.priority) for row in rows if row.owner_id is not None}):
        players.lock(owner)
        _take([row for row in rows if (row.owner_id, row.priority) == (owner, priority)], owner, priority)


def append(row: Match) -> None:
    """Put one match behind all others of its owner. Nothing is locked or moved, so that a worker may do it."""
    if row.owner_id is None:
        return
    last = _waiting(row.owner_id, row.priority).order_by("-turn", "-id").first()
    row.turn = last.turn if last else 0
    row.virtual_s = max(_begin(row.owner_id, row.priority), last.virtual_s + last.expected_s if last else 0.0)


def _take(rows: list[Match], owner: int, priority: int) -> None:
    waiting = _waiting(owner, priority)
    served = waiting.aggregate(turn=Min("turn"))["turn"] or 0
    ends: dict[int | None, int] = {}
    for row in rows:
        if row.tournament_id not in ends:
            last = waiting.filter(tournament=row.tournament_id).order_by("-turn", "-id").first()
            ends[row.tournament_id] = max(served, last.turn + math.ceil(last.expected_s) if last else 0)
        row.turn = ends[row.tournament_id]
        ends[row.tournament_id] += math.ceil(row.expected_s)
    last = waiting.order_by("-turn", "-id").first()
    if last is None or last.turn <= min(row.turn for row in rows):
        begin = max(_begin(owner, priority), last.virtual_s + last.expected_s if last else 0.0)
        _line_up(sorted(rows, key=lambda row: row.turn), begin)
    else:
        lay(owner, priority, fresh=rows)


def lay(owner: int, priority: int, *, fresh: Iterable[Match] = ()) -> int:
    """Put all matches of an owner that wait, and the `fresh` ones, one after the other in the order of their turns; how many rows were moved.

    Those that may not be played now keep their places and take none from the others.
    """
    # What somebody claims or explains at this moment stays where it is: so nobody waits for anybody here
    line = list(_playable(owner, priority).order_by("turn", "id").select_for_update(skip_locked=True, of=("self",)))
    was = {row.pk: row.virtual_s for row in line}
    # Sorting is stable: of equal turns the old ones come first
    _line_up(sorted([*line, *fresh], key=lambda row: row.turn), _begin(owner, priority))
    moved = [row for row in line if row.virtual_s != was[row.pk]]
    for start in range(0, len(moved), BATCH):
        Match.line.filter(status=MatchStatus.QUEUED).bulk_update(moved[start : start + BATCH], ["virtual_s"])
    return len(moved)


def _line_up(rows: Iterable[Match], begin: float) -> None:
    for row in rows:
        row.virtual_s = begin
        begin += max(LEAST_S, row.expected_s)


def _waiting(owner: int, priority: int) -> QuerySet[Match]:
    return Match.line.filter(status=MatchStatus.QUEUED, owner=owner, priority=priority)


def _playable(owner: int, priority: int) -> QuerySet[Match]:
    return holds.playable_matches(_waiting(owner, priority))


def _begin(owner: int, priority: int) -> float:
    """Where the line of an owner begins: not before what is served now, nor before the end of what of theirs was served last."""
    mine = Match.line.filter(owner=owner, priority=priority, status__in=SERVED).order_by("-virtual_s").first()
    return max(served_now(priority), mine.virtual_s + mine.expected_s if mine else 0.0)


def served_now(priority: int) -> float:
    """The place in the line of all that is served now: the farthest one that is being played; else what comes next, or was played last."""
    lane = Match.line.filter(priority=priority)
    playing = lane.filter(status__in=HELD).aggregate(place=Max("virtual_s"))["place"]
    if playing is not None:
        return float(playing)
    for rows in (
        holds.playable_matches(lane.filter(status=MatchStatus.QUEUED)).order_by("virtual_s", "id"),
        lane.filter(status=MatchStatus.FINISHED).order_by("-finished", "-id"),
    ):
        place = rows.values_list("virtual_s", flat=True).first()
        if place is not None:
            return float(place)
    return 0.0


def lift(*, now: datetime) -> int:
    """Bring forward in the line what could not be played when its place was served, and can be now; how many rows were moved.

    Else a place that was kept while a bot or tournament was paused would be a place before everybody, with all the work behind it.
    """
    moved = 0
    for priority in Match.line.filter(status=MatchStatus.QUEUED).values_list("priority", flat=True).distinct():
        late = Match.line.filter(
            status=MatchStatus.QUEUED, priority=priority, virtual_s__lt=served_now(priority), attempts=0, gave_way=0
        )
        owners = holds.playable_matches(late).exclude(not_before__gt=now).exclude(owner=None)
        for owner in sorted(set(owners.values_list("owner_id", flat=True))):
            with transaction.atomic():
                players.lock(owner)
                moved += lay(owner, priority)
    return moved
