"""The fair queue: owners take turns, and so do the tournaments of each owner, by the seconds that their matches are expected to take.

It is start-time fair queueing (Goyal, Vin and Cheng 1996), at two levels. Each queued match has two positions, both in seconds of work:

* `turn`, among the matches of its owner: a tournament's next match comes after its last one, and not before the turn that is served now.
* `virtual_s`, among all matches: the matches of an owner come one after the other in the order of their turns, and the first not before the
 position that is served now.

So each of n owners with queued work gets an n-th of the workers' time, however many tournaments and matches they have. An idle owner saves up
nothing, and a new owner is served at once. A claim takes the lowest position from an index and computes nothing. Matches of each other priority
(such as validations) are a separate queue; a worker takes from those of uploads and of tournaments in turn (`leases.claim_several`).
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

SERVED = (*Match.HELD, MatchStatus.FINISHED)
ORDER = ("-priority", "virtual_s", "id")  # The order of claims
# The lowest and highest priority of matches that take turns with uploads and tries: challenges, tournaments. For ladder matches nobody waits.
SHARING = (-1, 0)
BATCH = 500  # Rows of one UPDATE
LEAST_S = 0.01  # The least seconds of a match, whatever was measured


def place(matches: Sequence[Match]) -> None:
    """Set the positions of new matches that are not in the database yet. In a transaction: it locks their owners.

    What has no owner is of guests, who take turns as one owner; whoever adds it has locked what guests have.
    """
    for owner, priority in sorted(
        {(row.owner_id, row.priority) for row in matches}, key=lambda at: (at[0] or 0, at[1])
    ):
        if owner is not None:
            players.lock(owner)
        _place([row for row in matches if (row.owner_id, row.priority) == (owner, priority)], owner, priority)


def place_last(match: Match) -> None:
    """Set the positions of one match after all others of its owner. A worker may call it, because it locks and moves no other row."""
    if match.owner_id is None:
        return
    last = _queued(match.owner_id, match.priority).order_by("-turn", "-id").first()
    match.turn = last.turn if last else 0
    start = _start(match.owner_id, match.priority)
    match.virtual_s = max(start, last.virtual_s + last.expected_s if last else 0.0)


def _place(matches: list[Match], owner: int | None, priority: int) -> None:
    queued = _queued(owner, priority)
    served = queued.aggregate(turn=Min("turn"))["turn"] or 0
    ends: dict[int | None, int] = {}
    for match in matches:
        if match.tournament_id not in ends:
            last = queued.filter(tournament=match.tournament_id).order_by("-turn", "-id").first()
            ends[match.tournament_id] = max(served, last.turn + math.ceil(last.expected_s) if last else 0)
        match.turn = ends[match.tournament_id]
        ends[match.tournament_id] += math.ceil(match.expected_s)
    last = queued.order_by("-turn", "-id").first()
    if last is None or last.turn <= min(match.turn for match in matches):
        start = max(_start(owner, priority), last.virtual_s + last.expected_s if last else 0.0)
        _space_out(sorted(matches, key=lambda match: match.turn), start)
    else:
        reorder(owner, priority, new=matches)


def reorder(owner: int | None, priority: int, *, new: Iterable[Match] = ()) -> int:
    """Set the positions of all queued matches of an owner, and of the `new` ones, in the order of their turns. Return the number of moved rows.

    Matches on hold keep their positions, and the others are placed as if they did not exist.
    """
    # Rows that another process has locked keep their positions, so that this one does not wait
    rows = list(_playable(owner, priority).order_by("turn", "id").select_for_update(skip_locked=True, of=("self",)))
    before = {row.pk: row.virtual_s for row in rows}
    # Sorting is stable: of equal turns the older matches come first
    _space_out(sorted([*rows, *new], key=lambda row: row.turn), _start(owner, priority))
    moved = [row for row in rows if row.virtual_s != before[row.pk]]
    for first in range(0, len(moved), BATCH):
        Match.line.filter(status=MatchStatus.QUEUED).bulk_update(moved[first : first + BATCH], ["virtual_s"])
    return len(moved)


def _space_out(matches: Iterable[Match], start: float) -> None:
    for match in matches:
        match.virtual_s = start
        start += max(LEAST_S, match.expected_s)


def _queued(owner: int | None, priority: int) -> QuerySet[Match]:
    return Match.line.filter(status=MatchStatus.QUEUED, owner=owner, priority=priority)


def _playable(owner: int | None, priority: int) -> QuerySet[Match]:
    return holds.playable_matches(_queued(owner, priority))


def _start(owner: int | None, priority: int) -> float:
    """Return the owner's first free position: neither before the one that is served now nor before the end of their own last served match."""
    rows = Match.line.filter(owner=owner, priority=priority, status__in=SERVED)
    last = rows.order_by("-virtual_s").first()
    return max(position_served(priority), last.virtual_s + last.expected_s if last else 0.0)


def position_served(priority: int) -> float:
    """Return the position that is served now: the highest of a running match; else that of the next match, or of the last finished one."""
    matches = Match.line.filter(priority=priority)
    running = matches.filter(status__in=Match.HELD).aggregate(position=Max("virtual_s"))["position"]
    if running is not None:
        return float(running)
    for rows in (
        holds.playable_matches(matches.filter(status=MatchStatus.QUEUED)).order_by("virtual_s", "id"),
        matches.filter(status=MatchStatus.FINISHED).order_by("-finished", "-id"),
    ):
        position = rows.values_list("virtual_s", flat=True).first()
        if position is not None:
            return float(position)
    return 0.0


def catch_up(*, now: datetime) -> int:
    """Set new positions for matches whose hold has ended after their positions were served. Return the number of moved rows.

    With the old positions, the accumulated work of a paused bot or tournament would go before everybody else's.
    """
    count = 0
    for priority in Match.line.filter(status=MatchStatus.QUEUED).values_list("priority", flat=True).distinct():
        served = position_served(priority)
        passed = Match.line.filter(
            status=MatchStatus.QUEUED, priority=priority, virtual_s__lt=served, attempts=0, gave_way=0
        )
        owners = holds.playable_matches(passed).exclude(not_before__gt=now).exclude(owner=None)
        for owner in sorted(set(owners.values_list("owner_id", flat=True))):
            with transaction.atomic():
                players.lock(owner)
                count += reorder(owner, priority)
    return count
