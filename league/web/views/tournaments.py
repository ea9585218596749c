"""Tournaments: the list, one with its crosstable, a new one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

import engine
from league.domain import players as people
from league.domain import pools
from league.domain import tournaments as domain
from league.domain.errors import Refused
from league.domain.standings import Standings, standings
from league.enums import BotState, MatchStatus, TournamentStatus, VersionStatus
from league.models import BotVersion, Match, Tournament
from league.pure.schedules import total_tables
from league.web import queries
from league.web.crosstable import crosstable
from league.web.forms import TournamentForm
from league.web.games import describe


def tournaments(request: HttpRequest) -> HttpResponse:
    """All tournaments from the newest. Two queries."""
    return render(request, "tournaments.html", {"page": queries.page(request, queries.tournaments_listed())})


def tournament(request: HttpRequest, slug: str) -> HttpResponse:
    """State, standings, crosstable, matches. Nine queries."""
    found = get_object_or_404(Tournament.objects.select_related("pool", "owner"), slug=slug)
    viewer = queries.viewer(request)
    owned = viewer is not None and (viewer.pk == found.owner_id or request.user.is_staff)
    table: Standings = standings(found)
    matches = queries.with_parties(found.matches.order_by("round__number", "id").select_related("round"))
    page = queries.page(request, matches)
    context = {
        "tournament": found,
        "owned": owned,
        "table": table,
        "cross": crosstable(table),
        "seats": pools.parties(found.pool),
        "sittings": _sittings(found),
        "page": page,
        "planned": _planned(found) if found.status == TournamentStatus.OPEN else 0,
        "total": sum(table.statuses.values()),
        "done": table.statuses[MatchStatus.FINISHED],
        "secret": domain.published_secret(found),
        "example": _log_to_check(page),
        "mine": _own_versions(viewer, found) if viewer and found.status == TournamentStatus.OPEN else [],
        "refresh": found.status == TournamentStatus.RUNNING,
    }
    return render(request, "tournament.html", context)


def _planned(found: Tournament) -> int:
    """Matches as entered now, at most; 0 where a table cannot be filled."""
    try:
        return domain.planned(found)[1]
    except Refused:
        return 0


def _log_to_check(page: Page[Match]) -> str:
    """The match whose log the page shows how to check: the first finished one."""
    return next((match.public_id for match in page.object_list if match.status == MatchStatus.FINISHED), "MATCH")


def _sittings(found: Tournament) -> int:
    game = pools.game_of(found.pool)
    return len(game.sittings(pools.parties(found.pool)))


def _own_versions(viewer: Any, found: Tournament) -> list[BotVersion]:
    rows = BotVersion.objects.filter(bot__owner=viewer, bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED)
    entered = set(found.entries.values_list("version_id", flat=True))
    versions = rows.select_related("bot").order_by("bot__slug", "-number")
    return [v for v in versions if v.pk not in entered and (not v.games or found.pool.game in v.games)]


@login_required
@require_POST
def do(request: HttpRequest, slug: str) -> HttpResponse:
    """Start or cancel one's own tournament; enter or withdraw one's own version."""
    found = get_object_or_404(Tournament, slug=slug)
    viewer = people.of_user(request.user)
    action = request.POST.get("action", "")
    pk = request.POST.get("version", "")
    try:
        if action in ("start", "cancel"):
            if viewer.pk != found.owner_id and not request.user.is_staff:
                raise PermissionDenied
            domain.start(found, actor=viewer.name) if action == "start" else domain.cancel(found, actor=viewer.name)
        elif action in ("enter", "withdraw"):
            version = get_object_or_404(BotVersion, pk=pk if pk.isdigit() else 0)
            if version.bot.owner_id != viewer.pk and not (action == "withdraw" and viewer.pk == found.owner_id):
                raise PermissionDenied
            (domain.enter if action == "enter" else domain.withdraw)(found, version, actor=viewer.name)
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("tournament", slug=slug)


@login_required
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new tournament; without `?game=` the choice of its game."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        return render(request, "tournament_new.html", {"games": [describe(one) for one in engine.games()]})
    game = _game(key, request.GET.get("players", ""))
    versions = _newest(key)
    seats = len(game.sides)
    start = {
        "name": f"{game.title}",
        "boards": domain.default_boards(key, game.players),
        "bots": [slug for slug, _ in versions],
    }
    form = TournamentForm(game, [(slug, str(v)) for slug, v in versions], request.POST or None, initial=start)
    if request.method == "POST" and form.is_valid():
        chosen = [version for slug, version in versions if slug in form.cleaned_data["bots"]]
        try:
            made = domain.create(
                people.of_user(request.user),
                form.cleaned_data["name"],
                key,
                form.cleaned_data["options"],
                form.cleaned_data["boards"],
                chosen,
                game.players,
            )
            if request.POST.get("action") == "start":
                domain.start(made, actor=made.owner.name)
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("tournament", slug=made.slug)
    sizes = [total_tables(n, seats) if n >= seats else 0 for n in range(min(len(versions), settings.MAX_ENTRIES) + 1)]
    context = {
        "form": form,
        "game": describe(key),
        "seats": seats,
        "sittings": len(game.sittings(seats)),
        "players": game.players,
        "sizes": sizes,
        "board_deals": game.board_deals,
    }
    return render(request, "tournament_new.html", context, status=422 if form.errors else 200)


def _game(key: str, players: str) -> engine.Game:
    usual = engine.load(key)
    if players.isdigit() and int(players) in usual.declared.players:
        return engine.load(key, players=int(players))
    return usual


def _newest(key: str) -> list[tuple[str, BotVersion]]:
    """The newest accepted version that plays a game, of every active bot. One query."""
    rows = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, bot__state=BotState.ACTIVE).select_related("bot")
    found: dict[str, BotVersion] = {}
    for version in rows.order_by("bot__slug", "number"):
        if not version.games or key in version.games:
            found[version.bot.slug] = version
    return list(found.items())
