"""The front page of a visitor: the board on TV, running matches, the best-known ladders, the puzzle of the day, open tournaments."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from league.domain.core import clock
from league.domain.matches import sight
from league.domain.tournaments import circuits
from league.enums import MatchKind
from league.models import Match
from league.web.common import families, lists
from league.web.games.leaders import GameLeaders, leaders_of
from league.web.matches import tv
from league.web.pages.puzzle_of_day import puzzle_of_day

# The decoration behind the board: cards and their rotation in degrees.
FAN = (("7b", -26), ("So", -13), ("Cc", 0), ("Re", 13), ("1o", 26))
MOST_NOW = 4  # Number of matches in the list of running ones.
MOST_LADDERS = 3
MOST_NEXT = 4  # Number of coming tournaments of each kind.


def front(viewer: User | None) -> dict[str, Any]:
    """Return the template context of the front page. A few more than twenty queries, whatever the size of the league."""
    return {
        "air": tv.on_air(),
        "fan": FAN,
        "sides": (_("you"), _("they")),
        "now": now_playing(viewer),
        "ladders": best_known(),
        "families": families.by_family(),
        "puzzle": puzzle_of_day(clock.present().date()),
        **coming(viewer),
    }


def now_playing(viewer: User | None) -> list[Match]:
    """Return the running matches; if they are few, also the latest finished ones. Four queries at most."""
    running = sight.matches(Match.objects.filter(status__in=Match.HELD), viewer).order_by("started", "id")
    matches = list(lists.with_parties(running)[:MOST_NOW])
    if len(matches) < MOST_NOW:
        latest = lists.latest_matches(viewer, finished_only=True).filter(kind=MatchKind.TOURNAMENT)
        matches += latest[: MOST_NOW - len(matches)]
    return matches


def best_known() -> list[GameLeaders]:
    """Return the leaders of the best-known games that have ratings, the best known first."""
    return leaders_of(families.game_order(), MOST_LADDERS)


def coming(viewer: User | None) -> dict[str, Any]:
    """Return the tournaments that are open for entries, and the scheduled ones. Three queries."""
    return {
        "open": lists.open_tournaments([], viewer)[:MOST_NEXT],
        "open_events": list(lists.open_events(viewer)[:MOST_NEXT]),
        "seasons": circuits.upcoming(MOST_NEXT, now=clock.present()),
    }
