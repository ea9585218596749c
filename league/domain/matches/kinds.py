"""The kinds of work in the match queue, with the facts about each that claims and leases need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q

from engine.packages.manifest import WASM
from engine.runner import Limits, bounds
from league.domain.matches import validation
from league.domain.ratings import pools
from league.enums import MatchKind
from league.models import Audit, Match

REMOTE_PRIORITY = -4  # Matches of remote bots have a priority of their own, by which an index finds them.
ROOM = 1.25  # Factor on the longest time that the bots of a match may take, because a busy machine slows them down
ROOM_S = 60  # Seconds added for the referee's own work
# An audit plays one of at least two passes twice, with twice the limits
AUDIT_FACTOR = 2.0


def _boards_s(match: Match) -> float:
    game, limits = pools.game_of(match.pool), Limits(**match.limits)
    parties, metered = pools.parties(match.pool), _is_metered(match)
    return ROOM * bounds.match_s(limits, game, parties, match.boards_planned, metered=metered) + ROOM_S


def _is_metered(match: Match) -> bool:
    """Return True if instructions of a bot are counted in place of its time. One query."""
    if kind_of(match).has_seats:
        return match.parties.filter(version__runtime=WASM).exists()
    return Audit.objects.filter(work=match, version__runtime=WASM).exists()


def _validation_s(match: Match) -> float:
    return ROOM * validation.most_s(match) + ROOM_S if validation.is_validation(match) else _boards_s(match)


@dataclass(frozen=True, kw_only=True)
class WorkKind:
    """A kind of work in the match queue. limit_s: returns the seconds after which a worker loses an attempt."""

    counts: bool = (
        # True if its boards count. If they do not, a slow one yields its worker to an upload and starts again later
        True
    )
    is_upload: bool = False  # True if an author waits for it: slow matches yield to it
    is_alone: bool = False  # True if somebody waits for it, so no worker claims it together with other matches
    is_idle: bool = False  # True if it is claimed only when the queue is empty
    has_seats: bool = True  # True if its bots are the parties of the match
    limit_s: Callable[[Match], float] = _boards_s


KINDS: dict[str, WorkKind] = {
    MatchKind.TOURNAMENT: WorkKind(),
    MatchKind.LADDER: WorkKind(),
    MatchKind.REMOTE: WorkKind(),
    MatchKind.CHALLENGE: WorkKind(counts=False),
    MatchKind.ASSIGNMENT: WorkKind(counts=False),
    MatchKind.VALIDATION: WorkKind(counts=False, is_upload=True, is_alone=True, limit_s=_validation_s),
    MatchKind.TRY: WorkKind(is_alone=True, has_seats=False),
    MatchKind.AUDIT: WorkKind(
        counts=False, is_idle=True, has_seats=False, limit_s=lambda match: AUDIT_FACTOR * _boards_s(match)
    ),
}
REMOTE_ROWS = Q(kind=MatchKind.REMOTE, priority=REMOTE_PRIORITY)
ALONE = [name for name, kind in KINDS.items() if kind.is_alone]
IDLE = [name for name, kind in KINDS.items() if kind.is_idle]
UPLOADS = [name for name, kind in KINDS.items() if kind.is_upload]
UNCOUNTED = [name for name, kind in KINDS.items() if not kind.counts]


def kind_of(match: Match) -> WorkKind:
    """Return the kind of a match."""
    return KINDS[match.kind]


def time_limit_s(match: Match) -> float:
    """Return the seconds of wall time after which a worker loses an attempt: more than the bots may take by limits, game and boards."""
    return kind_of(match).limit_s(match)
