"""Estimates of the duration of a match, from the last matches of its game."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Match, Tournament

SITTING_S = 0.3  # Seconds of one sitting of a game without measurements: house bots on an ordinary core
RECENT = 50  # The number of finished matches that are measured


@dataclass(frozen=True)
class SittingTime:
    """The seconds of one sitting, and True if they were measured."""

    seconds: float
    measured: bool


def sitting_time(game: str) -> SittingTime:
    """Measure the last matches of a game in any pool of sandboxed bots. One query."""
    seconds = _measure(Match.objects.filter(pool__game=game, pool__remote=False))
    return SittingTime(seconds or SITTING_S, seconds is not None)


def sitting_time_in(tournament: Tournament) -> SittingTime:
    """Measure the last matches of a tournament, which shows if its bots are slow; without matches those of its game. Two queries at most."""
    seconds = _measure(Match.objects.filter(tournament=tournament))
    return sitting_time(tournament.pool.game) if seconds is None else SittingTime(seconds, True)


def _measure(matches: QuerySet[Match]) -> float | None:
    recent = matches.filter(status=MatchStatus.FINISHED).exclude(started=None).order_by("-finished", "-id")
    seconds = sittings = 0.0
    for match in recent.select_related("pool").only("pool", "boards_planned", "started", "finished")[:RECENT]:
        if match.started is None or match.finished is None:
            continue
        seconds += (match.finished - match.started).total_seconds()
        sittings += match.boards_planned * pools.parties(match.pool)
    return seconds / sittings if sittings > 0 and seconds > 0 else None
