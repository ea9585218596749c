"""What the front page tells of this day: what is played now, the board of the day, bots that rise, what comes next."""

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
MOST_NEXT = 3  # of each kind
EVERY = timedelta(minutes=10)  # the board of the day is chosen anew
DAY = timedelta(days=1)


@dataclass(frozen=True)
class BoardOfDay:
    """The most interesting board of the last day, and why."""

    match: Match  # with its parties
    number: int
    why: str


def today(pools: Iterable[Pool], viewer: User | None) -> dict[str, Any]:
    """All of it, as the page shows it to `viewer`. Six queries, three more for what is played and for the board; `pools`: where bots rise."""
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
    """The most interesting board of the last day; None where none stands out. Two queries, and every ten minutes those of the choice."""
    until = datetime.fromtimestamp(now.timestamp() // EVERY.total_seconds() * EVERY.total_seconds(), UTC)
    key = f"board-of-day:{until.isoformat()}"
    kept = cache.get(key)
    if kept is None:
        found = broadcast.best_since(until - DAY, until, now=now)
        kept = (found[0], found[1], found[2].kind, found[2].elo, found[3]) if found else ()
        cache.set(key, kept, EVERY.total_seconds())
    if not kept:
        return None
    pk, number, kind, elo, winner = kept
    # It may have been struck out or held back since
    match = lists.with_parties(sight.matches(Match.objects.filter(pk=pk, status=MatchStatus.FINISHED), None)).first()
    if match is None or embargoes.in_force(match, now=now):
        return None
    return BoardOfDay(match, number, why_shown(broadcast.Interest(kind, 0.0, elo), winner))
