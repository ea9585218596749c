"""The link from a step of a match to the editor, for the owner of a bot that sat there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from league.domain.bots import languages
from league.domain.core.errors import Refused, shown
from league.domain.matches import conversations, sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.models import Match, Party, Sitting
from league.web.common.inputs import short_text, whole_number
from league.web.common.viewers import player_of, user_of

STEP = re.compile(r"d(?P<deal>\d{1,4})p(?P<ply>\d{1,5})")  # The id of a step on the page of a match.


@dataclass(frozen=True)
class OwnSeats:
    """A sitting of a match with the seats of the viewer's bots."""

    match: Match
    board: int
    row: Sitting
    parties: Mapping[int, Party]
    seats: Sequence[int]


def own_seats(request: HttpRequest, public_id: str) -> OwnSeats:
    """Return the sitting in `?b=&s=`; 404 if the viewer may not see the match or has no bot there. Four queries."""
    player = player_of(request)
    rows = sight.readable(user_of(request)).select_related("pool", "tournament")
    match = get_object_or_404(rows, public_id=public_id)
    board, sitting = whole_number(request.GET.get("b")) or match.first_board, whole_number(request.GET.get("s")) or 0
    row = get_object_or_404(Sitting.objects.filter(board__match=match, board__number=board), number=sitting)
    parties = {party.number: party for party in match.parties.select_related("version__bot", "version__package")}
    own = ownership.allowed_bots(player, (party.version.bot for party in parties.values()), BotAct.CODE)
    seats = [seat for seat, holder in enumerate(row.seating) if parties[holder].version.bot_id in own]
    if not seats:
        raise Http404
    return OwnSeats(match, board, row, parties, seats)


@never_cache
@login_required
def open_decision(request: HttpRequest, public_id: str) -> HttpResponse:
    """Go to the editor with a decision of the viewer's bot: the last one up to the step `?at=` of a sitting (`?b=&s=`), else its first."""
    here = own_seats(request, public_id)
    step = STEP.fullmatch(short_text(request.GET.get("at", ""), 20))
    until = (int(step["deal"]), int(step["ply"])) if step else (0, 0)
    try:
        seat, number = conversations.decision_before(here.match, here.row, here.seats, until)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return redirect(f"{reverse('match', args=[public_id])}?b={here.board}&s={here.row.number}")
    version = here.parties[here.row.seating[seat]].version
    query = {"at": f"{public_id}.{here.board}.{here.row.number}.{seat}.{number}"}
    if languages.language_of(version) is not None:
        query["from"] = f"{version.bot.slug}/{version.number}"
    return redirect(f"{reverse('editor')}?{urlencode(query)}")
