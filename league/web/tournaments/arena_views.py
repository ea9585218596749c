"""The page of an arena: its standing, the one button of a person, and entering bots."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from league.domain.arenas import arenas
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.tables import people
from league.models import Arena, ArenaSide, Bot, Player, Table
from league.service import changes, topics
from league.web.common.inputs import next_page
from league.web.common.viewers import player_of, viewer_of
from league.web.tournaments.entrants import entrants

MOST_TABLES = 12  # Tables in play that the page lists.


def arena(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an arena: what the viewer can do now, the standing, and the tables in play. Six queries; five more for a player."""
    row = get_object_or_404(Arena.objects.select_related("pool"), slug=slug)
    changes.keep_until(request, changes.of_arena(row.pk), changes.CLOCK, changes.NAMES)
    if row.finished is None:
        topics.follow(request, changes.of_arena(row.pk))
    viewer, now = viewer_of(request), clock.present()
    standing = arenas.placed(arenas.standing(row)[: arenas.SHOWN])
    own = arenas.own_entry(row, viewer)
    in_play = Table.objects.filter(pk__in=arenas.in_play(row), finished=None).only("public_id")
    tables = [] if row.finished else list(in_play.order_by("-pk")[:MOST_TABLES])
    sides = ArenaSide.objects.filter(table__in=tables).select_related("entry__player", "entry__bot").order_by("number")
    names: dict[int, list[str]] = {table.pk: [] for table in tables}
    for side in sides:
        names[side.table_id].append(str(side.entry.player or side.entry.bot))
    context = {
        "arena": row,
        "sides": len(pools.game_of(row.pool).sides),
        "partners": row.pool.players > len(pools.game_of(row.pool).sides),
        "state": arenas.state(row, now),
        "own": own,
        "own_place": arenas.place_of(row, own) if own is not None and own.games else None,
        "table": arenas.table_of(own) if own is not None else None,
        "resting": own is not None and own.rests_until is not None and own.rests_until > now,
        "elsewhere": people.present(viewer) if viewer is not None else None,
        "standing": standing,
        "winners": [entry for place, entry in standing if place == 1],
        "tables": [(table, " – ".join(names[table.pk])) for table in tables],
        "next": Arena.objects.filter(pool=row.pool, start__gt=row.start).order_by("start").first(),
        "wait_s": settings.ARENA_WAIT_S,
        "most_bots": arenas.MOST_BOTS,
    }
    return render(request, "tournaments/arena.html", context | _own_bots(row, viewer))


def _own_bots(row: Arena, viewer: Player | None) -> dict[str, list[str]]:
    """Return the viewer's bots that are in, and those that could enter. Two queries."""
    if viewer is None or row.finished is not None:
        return {}
    owned = ownership.owned(viewer, BotAct.ENTER)
    inside = Bot.objects.filter(owned, pk__in=row.entries.filter(bot__isnull=False).values("bot"))
    entered = list(inside.order_by("slug").values_list("slug", flat=True))
    able = [slug for slug, _version in entrants(row.pool.game, owned & Q(in_class=False))]
    free = [slug for slug in able if slug not in entered] if len(entered) < arenas.MOST_BOTS else []
    return {"entered": entered, "can_enter": free}


@login_required
@require_POST
def act_on_arena(request: HttpRequest, slug: str) -> HttpResponse:
    """Enter and wait for a table, stop waiting, or enter or withdraw one's bot."""
    row = get_object_or_404(Arena.objects.select_related("pool"), slug=slug)
    viewer, action = player_of(request), request.POST.get("action", "")
    try:
        if action == "play":
            arenas.play(row, viewer)
        elif action == "stop":
            arenas.stop(row, viewer)
        elif action in ("enter", "leave"):
            bot = get_object_or_404(Bot, slug=request.POST.get("bot", ""))
            if not ownership.may(viewer, bot, BotAct.ENTER):
                raise PermissionDenied
            (arenas.enter_bot if action == "enter" else arenas.withdraw_bot)(row, bot, viewer)
        else:
            raise Http404
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect(next_page(request, reverse("arena", args=[slug])))
