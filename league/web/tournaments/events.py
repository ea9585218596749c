"""Events of several stages, and leagues that recur by the calendar."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from league.domain.tournaments import circuits, formats
from league.models import Circuit, Entry, Event, Tournament
from league.pure.calendar import event_plan
from league.web.common import queries

MOST_SEASONS = 20  # the latest


@dataclass(frozen=True)
class Stage:
    """One stage of an event: as planned, and what there is of it."""

    number: int
    title: str
    sentence: str
    planned: event_plan.Stage
    tournaments: list[Tournament]


def _with_entries() -> Prefetch:
    entries = Entry.objects.select_related("version__bot").order_by("place", "seed", "number")
    rows = Tournament.objects.select_related("pool").defer("secret").order_by("stage", "group")
    return Prefetch("tournaments", rows.prefetch_related(Prefetch("entries", entries)))


def events(request: HttpRequest) -> HttpResponse:
    """Events and recurring leagues, from the newest. Two queries."""
    context = {
        "events": Event.objects.select_related("owner").defer("secret").order_by("-created", "-pk")[:50],
        "circuits": Circuit.objects.select_related("owner").order_by("-created", "-pk")[:50],
    }
    return render(request, "tournaments/events.html", context)


def event(request: HttpRequest, slug: str) -> HttpResponse:
    """One event: every stage, planned or played, and who goes on. Three queries."""
    found = get_object_or_404(Event.objects.select_related("owner").prefetch_related(_with_entries()), slug=slug)
    there: dict[int, list[Tournament]] = defaultdict(list)
    for one in found.tournaments.all():
        there[one.stage].append(one)
    told = {one.key: one for one in formats.describe_formats()}
    context = {
        "event": found,
        "game": found.document["game"],
        "stages": [
            Stage(number, told[planned.format].title, told[planned.format].sentence, planned, there[number])
            for number, planned in enumerate(event_plan.read_plan(found.document).stages, 1)
        ],
        "secret": bytes(found.secret).hex() if found.finished else "",
    }
    return render(request, "tournaments/event.html", context)


def circuit(request: HttpRequest, slug: str) -> HttpResponse:
    """One recurring league: its calendar, who takes part, and its latest seasons by division. Five queries."""
    rows = Circuit.objects.select_related("owner").prefetch_related("bots", "seasons")
    found = get_object_or_404(rows, slug=slug)
    latest = found.seasons.order_by("-number").prefetch_related(_with_entries())[:MOST_SEASONS]
    context = {
        "circuit": found,
        "next": circuits.next_due(found),
        "seasons": latest,
        "title": next(one.title for one in formats.describe_formats() if one.key == found.format),
    }
    return render(request, "tournaments/circuit.html", context | _doings(request, found))


def _doings(request: HttpRequest, found: Circuit) -> dict[str, object]:
    """What who looks may do: which bots may join or be taken out. Two queries more for who is logged in."""
    viewer = queries.viewer(request)
    if viewer is None:
        return {}
    owned = viewer.pk == found.owner_id or request.user.is_staff
    there = {bot.slug: bot.owner_id for bot in found.bots.all()}
    mine = [slug for slug, version in queries.entrants(found.game) if version.bot.owner_id == viewer.pk]
    return {
        "owned": owned,
        "can_join": [slug for slug in mine if slug not in there],
        "can_leave": [slug for slug, owner in there.items() if owned or owner == viewer.pk],
    }
