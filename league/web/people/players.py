"""A person and their bots."""

from __future__ import annotations

from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from league.models import Player
from league.web.common import queries


def player(request: HttpRequest, name: str) -> HttpResponse:
    """Three queries."""
    found = get_object_or_404(Player, name=name)
    bots = found.bots.annotate(uploads=Count("versions"), last=Max("versions__created")).order_by("slug")
    tournaments = queries.tournaments_listed().filter(owner=found)[:20]
    return render(request, "people/player.html", {"player": found, "bots": bots, "tournaments": tournaments})
