"""The front page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from league.enums import MatchKind, TournamentStatus
from league.web.common import queries

FAN = (("7b", -26), ("So", -13), ("Cc", 0), ("Re", 13), ("1o", 26))  # ornament: card and turn in degrees


def home(request: HttpRequest) -> HttpResponse:
    """Leaderboards, what runs, what was played last. Six queries, whatever the size."""
    running = queries.tournaments_listed().filter(status=TournamentStatus.RUNNING)[:5]
    boards = queries.front_boards()
    context = {
        "boards": [board for board in boards if board.lines],
        "idle": [board for board in boards if not board.lines],
        "fan": FAN,
        "running": running,
        "matches": queries.latest_matches(finished_only=True).filter(kind=MatchKind.TOURNAMENT)[:8],
    }
    return render(request, "pages/home.html", context)
