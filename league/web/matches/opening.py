"""The way from a step of a match to the editor, for the owner of the bot that sat there."""

from __future__ import annotations

import re
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
from league.models import Match, Sitting
from league.web.common.inputs import short_text, whole_number
from league.web.common.viewers import player_of, user_of

STEP = re.compile(r"d(?P<deal>\d{1,4})p(?P<ply>\d{1,5})")  # The id of a step on the page of a match.


@never_cache
@login_required
def open_decision(request: HttpRequest, public_id: str) -> HttpResponse:
    """Go to the editor with a decision of the viewer's bot: the last one before or at the step `?at=` of a sitting (`?b=&s=`), else its first."""
    player = player_of(request)
    match = get_object_or_404(
        sight.matches(Match.objects.select_related("pool", "tournament"), user_of(request)), public_id=public_id
    )
    board, sitting = whole_number(request.GET.get("b")) or match.first_board, whole_number(request.GET.get("s")) or 0
    row = get_object_or_404(Sitting.objects.filter(board__match=match, board__number=board), number=sitting)
    parties = {party.number: party for party in match.parties.select_related("version__bot", "version__package")}
    own_seats = [seat for seat, holder in enumerate(row.seating) if parties[holder].version.bot.owner_id == player.pk]
    if not own_seats:
        raise Http404
    step = STEP.fullmatch(short_text(request.GET.get("at", ""), 20))
    until = (int(step["deal"]), int(step["ply"])) if step else (0, 0)
    try:
        seat, number = conversations.decision_before(match, row, own_seats, until)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return redirect(f"{reverse('match', args=[public_id])}?b={board}&s={sitting}")
    version = parties[row.seating[seat]].version
    query = {"at": f"{public_id}.{board}.{sitting}.{seat}.{number}"}
    if languages.language_of(version) is not None:
        query["from"] = f"{version.bot.slug}/{version.number}"
    return redirect(f"{reverse('editor')}?{urlencode(query)}")
