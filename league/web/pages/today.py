"""The current part of the front page: running matches, the board of the day, rising bots and coming events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache

from league.domain.core import clock
from league.domain.matches import broadcast, embargoes, leases, sight
from league.domain.ratings import daily
from league.domain.tournaments import circuits
from league.enums import MatchStatus, TournamentStatus
from league.models import Event, Match, Pool
from league.web.common import lists
from league.web.common.words import why_shown

MOST_PLAYING = 3
MOST_RISING = 5
MOST_NEXT = 3  # Coming events of each kind.
EVERY = timedelta(minutes=10)  # Interval at which the board of the day is chosen again.
DAY = timedelta(days=1)


@dataclass(frozen=True)
class BoardOfDay:
    """The most interesting board of the last day, with the reason."""

    match: Match  # Loaded with its parties.
    number: int
    why: str


def today(pools: Iterable[Pool], viewer: User | None) -> dict[str, Any]:
    """Return the template context for `viewer`; `pools` are searched for rising bots. Six queries, three more with matches and a board."""
    now = clock.present()
    playing = lists.with_parties(
        sight.matches(Match.objects.filter(status__in=leases.HELD), viewer).order_by("started", "id")
    )
    open_events = sight.events(Event.objects.filter(status=TournamentStatus.OPEN), viewer)
    return {
        "playing": list(playing[:MOST_PLAYING]),
        "board": board_of_day(now),
        "rising": daily.rises(pools, MOST_RISING, now=now),
        "open": lists.open_tournaments([], viewer)[:MOST_NEXT],
        "open_events": list(open_events.defer("secret").order_by("-pk")[:MOST_NEXT]),
        "seasons": circuits.upcoming(MOST_NEXT, now=now),
    }


def board_of_day(now: datetime) -> BoardOfDay | None:
    """Return the most interesting board of the last day, or None. Two queries, and every ten minutes those of a new choice."""
    until = datetime.fromtimestamp(now.timestamp() // EVERY.total_seconds() * EVERY.total_seconds(), UTC)
    key = f"board-of-day:{until.isoformat()}"
    choice = cache.get(key)
    if choice is None:
        best = broadcast.best_since(until - DAY, until, now=now)
        choice = (best[0], best[1], best[2].kind, best[2].elo, best[3]) if best else ()
        cache.set(key, choice, EVERY.total_seconds())
    if not choice:
        return None
    pk, number, kind, elo, winner = choice
    # It may have been voided or hidden since then.
    match = lists.with_parties(sight.matches(Match.objects.filter(pk=pk, status=MatchStatus.FINISHED), None)).first()
    if match is None or embargoes.in_force(match, now=now):
        return None
    return BoardOfDay(match, number, why_shown(broadcast.Interest(kind, 0.0, elo), winner))
