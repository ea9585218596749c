"""How long a match takes: measured on the last ones of its game."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Match, Tournament

SITTING_S = 0.3  # seconds of one sitting, where none of the game was measured yet: house bots on an ordinary core
RECENT = 50  # finished matches that a pace is measured on


@dataclass(frozen=True)
class Sittings:
    """Seconds of one sitting, and whether they were measured."""

    seconds: float
    measured: bool


def of_game(game: str) -> Sittings:
    """From the last matches of the game in any pool. One query."""
    found = _measure(Match.objects.filter(pool__game=game))
    return Sittings(found or SITTING_S, found is not None)


def of_tournament(tournament: Tournament) -> Sittings:
    """From its own last matches, so that bots which think for long are known to; before those from its game's. Two queries at most."""
    found = _measure(Match.objects.filter(tournament=tournament))
    return of_game(tournament.pool.game) if found is None else Sittings(found, True)


def _measure(matches: QuerySet[Match]) -> float | None:
    recent = matches.filter(status=MatchStatus.FINISHED).exclude(started=None).order_by("-finished", "-id")
    spent = played = 0.0
    for match in recent.select_related("pool").only("pool", "boards_planned", "started", "finished")[:RECENT]:
        if match.started is None or match.finished is None:
            continue
        spent += (match.finished - match.started).total_seconds()
        played += match.boards_planned * pools.parties(match.pool)
    return spent / played if played > 0 and spent > 0 else None
