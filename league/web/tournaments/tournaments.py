"""Tournaments: the list, one with its crosstable, a new one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

import engine
from league.domain.core.errors import Refused, shown
from league.domain.people import players as people
from league.domain.ratings import pools
from league.domain.tournaments import brackets as rounds
from league.domain.tournaments import formats
from league.domain.tournaments import tournaments as domain
from league.domain.tournaments.standings import Standings, standings
from league.enums import BotState, MatchStatus, TournamentStatus, VersionStatus
from league.models import BotVersion, Match, Player, Tournament
from league.web.common import asked, queries
from league.web.common.forms import TournamentForm
from league.web.common.game_lines import at_table, describe
from league.web.tournaments import forecasts, tiebreaks
from league.web.tournaments.brackets import brackets
from league.web.tournaments.crosstable import crosstable

MOST_OPEN = 6  # tournaments that take entries
OWNERS = {"start": domain.start, "cancel": domain.cancel, "close": domain.close}


def tournaments(request: HttpRequest) -> HttpResponse:
    """All tournaments from the newest, and above them those that take entries. Three queries."""
    context = {
        "page": queries.page(request, queries.tournaments_listed()),
        "entries_open": queries.open_to([])[:MOST_OPEN],
    }
    return render(request, "tournaments/tournaments.html", context)


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
        "digits": 1 if pools.game_of(found.pool).score_size == 1 else 2,
        "sittings": _sittings(found),
        "page": page,
        "planned": _planned(found) if found.status == TournamentStatus.OPEN else 0,
        "total": sum(table.statuses.values()),
        "done": table.statuses[MatchStatus.FINISHED],
        "secret": domain.published_secret(found),
        "example": _log_to_check(page),
        "format": _described(found),
        "breaks": tiebreaks.columns(table.rows),
        "names": {row.entry.number: row.entry.version.bot.slug for row in table.rows},
        "rounds": _rounds(found),
        "parts": brackets(found),
        "grows": _grows(found),
        "changes": _changes(found),
        "mine": _own_versions(viewer, found) if viewer and _changes(found) else [],
        "leavers": _leavers(viewer, table, owned=owned) if _changes(found) else [],
        "growing": _growing(found) if owned else [],
        "refresh": found.status == TournamentStatus.RUNNING,
    }
    return render(request, "tournaments/tournament.html", context)


def _rounds(found: Tournament) -> list[rounds.RoundMatches]:
    """The rounds, of formats in which each follows from those before."""
    return rounds.read_rounds(found, found.rounds.order_by("number")) if rounds.has_rounds(found) else []


def _grows(found: Tournament) -> bool:
    return formats.format_named(found.format).grows and found.status == TournamentStatus.RUNNING


def _changes(found: Tournament) -> bool:
    """Whether entries come and go."""
    return _grows(found) or found.status == TournamentStatus.OPEN


def _leavers(viewer: Player | None, table: Standings, *, owned: bool) -> list[BotVersion]:
    """Whom who looks may take out: own bots, and as owner of the tournament any."""
    versions = [row.entry.version for row in table.rows if row.entry.withdrawn is None]
    return [one for one in versions if owned or (viewer is not None and one.bot.owner_id == viewer.pk)]


def _growing(found: Tournament) -> list[tuple[str, int]]:
    """The parameters of a running tournament that can grow, with what they are."""
    if found.status != TournamentStatus.RUNNING:
        return []
    values = formats.format_named(found.format).complete(found.parameters)
    return [(name, int(values[name])) for name in domain.GROWING if name in values and domain.can_grow(found.format)]


def _described(found: Tournament) -> dict[str, Any]:
    """The format in a sentence, and its parameters as they stand here."""
    [one] = [one for one in formats.describe_formats() if one.key == found.format]
    values = formats.format_named(found.format).complete(found.parameters)
    return {"sentence": one.sentence, "parameters": [(p.name, values[p.name], told) for p, told in one.parameters]}


def _planned(found: Tournament) -> int:
    """Matches as entered now, at most; 0 where a table cannot be filled."""
    try:
        return domain.count_planned(found)[1]
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
    """Start, extend, close or cancel one's own tournament; enter or withdraw one's own version."""
    found = get_object_or_404(Tournament, slug=slug)
    viewer = people.player_of_user(request.user)
    action = request.POST.get("action", "")
    pk = request.POST.get("version", "")
    try:
        if action in OWNERS:
            if viewer.pk != found.owner_id and not request.user.is_staff:
                raise PermissionDenied
            OWNERS[action](found, actor=viewer.name)
        elif action == "extend":
            if viewer.pk != found.owner_id and not request.user.is_staff:
                raise PermissionDenied
            given = {name: request.POST[name] for name in domain.GROWING if name in request.POST}
            added = domain.extend(
                found, {name: int(v) for name, v in given.items() if v.isdecimal()}, actor=viewer.name
            )
            messages.success(
                request,
                ngettext("%(count)s match was added.", "%(count)s matches were added.", added) % {"count": added},
            )
        elif action in ("enter", "withdraw"):
            version = get_object_or_404(BotVersion, pk=asked.number(pk))
            if version.bot.owner_id != viewer.pk and not (action == "withdraw" and viewer.pk == found.owner_id):
                raise PermissionDenied
            (domain.enter if action == "enter" else domain.withdraw)(found, version, actor=viewer.name)
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("tournament", slug=slug)


@login_required
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new tournament; without `?game=` the choice of its game."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        return render(request, "tournaments/tournament_new.html", {"games": [describe(one) for one in engine.games()]})
    game = at_table(key, request.GET.get("players", ""))
    versions = queries.entrants(key)
    form = _form(game, versions, request.POST or None, request.GET)
    action = request.POST.get("action", "")
    if request.method == "POST" and form.is_valid() and action != "predict":
        try:
            made = _create(
                people.player_of_user(request.user), game, versions, form.cleaned_data, start=action == "start"
            )
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            return redirect("tournament", slug=made.slug)
    context = {
        "form": form,
        "game": describe(key),
        "seats": len(game.sides),
        "sittings": len(game.sittings(len(game.sides))),
        "players": game.players,
        "prediction": _prediction(game, form),
    }
    return render(request, "tournaments/tournament_new.html", context, status=422 if form.errors else 200)


def forecast(request: HttpRequest) -> HttpResponse:
    """What the tournament of a form would take, as plain text: the form asks while somebody types. Five queries."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        raise Http404
    game = at_table(key, request.GET.get("players", ""))
    versions = queries.entrants(key)
    form = _form(game, versions, request.GET)
    form.fields["name"].required = False
    text = forecasts.sentence(game, form.cleaned_data) if form.is_valid() else ""
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _form(game: engine.Game, versions: list[tuple[str, BotVersion]], data: Any, wish: Any = None) -> TournamentForm:
    """`wish` is the query of a link that has chosen already: `?with=rufo&with=greedy&format=duel`."""
    wanted = wish.getlist("with") if wish else []
    start = {
        "name": f"{game.title}",
        "boards": domain.default_boards(game.key, game.players),
        "bots": [slug for slug, _ in versions if slug in wanted or not wanted],
        "format": wish.get("format") if wish and "format" in wish else "round_robin",
    }
    return TournamentForm(game, [(slug, str(v)) for slug, v in versions], data, initial=start)


def _prediction(game: engine.Game, form: TournamentForm) -> str:
    """Of what was sent; of a fresh form, of what it offers."""
    if not form.is_bound:
        chosen = {**form.initial, "bots": form.initial["bots"][: settings.MAX_ENTRIES]}
        return forecasts.sentence(game, chosen | {"parameters": {}, "options": {}})
    return forecasts.sentence(game, form.cleaned_data) if form.is_valid() else ""


def _create(
    owner: Player, game: engine.Game, versions: list[tuple[str, BotVersion]], chosen: dict[str, Any], *, start: bool
) -> Tournament:
    with transaction.atomic():
        made = domain.create(
            owner,
            chosen["name"],
            game.key,
            chosen["options"],
            chosen["boards"],
            [version for slug, version in versions if slug in chosen["bots"]],
            game.players,
            format=chosen["format"],
            parameters=chosen["parameters"],
            seeding=chosen["seeding"],
            mixed=chosen.get("mixed", False),
        )
        if start:
            domain.start(made, actor=owner.name)
    return made
