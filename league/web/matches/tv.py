"""TV: a page for a wall, with one deal after the other, the same for everybody who looks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import broadcast, replays
from league.domain.tournaments.standings import standings
from league.web.common.words import why_shown
from league.web.matches import narrate
from league.web.matches.record import shown_moments
from league.web.matches.seats import seat_bots, seat_names

ROWS = 10  # of the table beside it


@require_safe
def tv(request: HttpRequest) -> HttpResponse:
    """What is broadcast now, with the moments of its slot, so that every page shows the same step at the same time."""
    now = clock.present()
    slot = broadcast.slot_at(now)
    context: dict[str, Any] = {
        "now": round(1000 * now.timestamp()),
        "begins": round(1000 * broadcast.begins(slot).timestamp()),
        "slot": 1000 * broadcast.SLOT_S,
        "lead": 1000 * broadcast.LEAD_S,
    }
    shown = broadcast.choose(slot, now=now)
    try:
        record = replays.replay(shown.sitting) if shown else {}
    except Refused:  # held back at this moment
        shown = None
    if shown:
        parties = list(shown.match.parties.select_related("version__bot").order_by("number"))
        names = seat_names(shown.sitting, parties)
        lines = narrate.narrate(shown_moments(record), names, seat_bots(shown.sitting, parties))
        table = standings(shown.match.tournament) if shown.match.tournament else None
        context |= {
            "shown": shown,
            "step": round(1000 * shown.step_s),
            "match": shown.match,
            "board": shown.sitting.board,
            "sitting": shown.sitting,
            "parties": parties,
            "lines": lines,
            "why": _why(shown),
            "rows": table.rows[:ROWS] if table else [],
            "playing": {party.version_id for party in parties},
        }
    return render(request, "matches/tv.html", context)


def _why(shown: broadcast.Shown) -> str:
    """In a line, why this is shown."""
    return why_shown(shown.why, shown.winner.version.bot.slug if shown.winner else "")
