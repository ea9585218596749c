"""The page of a new tournament: one form for tournaments of a single stage, of several stages, and recurring leagues, with a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

import engine
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.tournaments import circuits, events, releases
from league.domain.tournaments import tournaments as domain
from league.models import BotVersion, Player
from league.web.common.game_lines import describe_game
from league.web.common.inputs import short_text, whole_number
from league.web.common.once import once
from league.web.common.options import OptionsForm, game_chosen
from league.web.common.viewers import player_of, viewer_of
from league.web.tournaments import forecasts
from league.web.tournaments.bot_choice import bot_choice, labels_of_sent, unsent
from league.web.tournaments.copying import ContestCopy, copy_of
from league.web.tournaments.forms import GROUPS, ContestForm, place_of

EXPECTED = 5  # Number of bots for which a fresh form shows a forecast.
UNSENT = ("find", "refresh")  # Buttons that change what the form shows, without checking it.


@login_required
@once
def new_tournament(request: HttpRequest) -> HttpResponse:
    """Show the form of a new tournament, or create one, open for entries or started at once. Eight queries to show the form."""
    owner = player_of(request)
    copied = copy_of(request.GET.get("copy", ""), owner)
    link = request.GET.copy()
    if copied is not None:
        link.setlist("with", copied.bots)
    game = game_chosen((copied.game if copied else {}) | request.GET.dict() | request.POST.dict())
    choice = bot_choice(game.key, owner, request.POST, link)
    action = request.POST.get("action", "")
    sent = None if action in UNSENT else request.POST or None
    part = OptionsForm(game, sent, initial=copied.options if copied else {})
    initial = _start(request, game, choice.start) | (copied.values if copied else {})
    form = ContestForm(game, choice.labels, sent, options=part, initial=initial)
    if copied is None or not copied.guests:
        del form.fields["invite"]
    if action in UNSENT:
        unsent([form, part], request.POST)
    valid = bool(sent) and all([part.is_valid(), form.is_valid()])
    if valid and action != "predict":
        try:
            with transaction.atomic():
                address = _create(owner, form, choice.versions, start=action == "start", copied=copied)
        except Refused as refusal:
            form.add_error(place_of(refusal, form.fields), shown(refusal))
        else:
            return redirect(address)
    faults = [(field, error) for sheet in (form, part) for field in sheet for error in field.errors]
    context = {
        "form": form,
        "part": part,
        "choice": choice,
        "game": describe_game(game.key),
        "faults": faults,
        "prediction": forecasts.form_sentence(form, owner) if (valid and not form.errors) or not request.POST else "",
        "copied": copied,
        "query": urlencode({"game": game.key, "players": str(game.players)}),
    }
    bad = bool(faults or form.non_field_errors() or part.non_field_errors())
    return render(request, "tournaments/tournament_new.html", context, status=422 if bad else 200)


def _start(request: HttpRequest, game: engine.Game, bots: Sequence[str]) -> dict[str, object]:
    """Return the initial values of a fresh form; a link may give more, such as `?format=weekly&boards=32&private=1`."""
    link = request.GET
    boards = whole_number(link.get("boards")) or domain.default_boards(game.key, game.players)
    values: dict[str, object] = {
        "name": short_text(link.get("name", ""), 60),
        "boards": boards,
        "bots": list(bots),
        "format": link.get("format", "round_robin"),
        "private": link.get("private") == "1",
        "expected": max(2, len(bots)) if "with" in link else EXPECTED,
    }
    if values["format"] == GROUPS:
        values |= {"groups": 2, "advance": 2}
    return values


def forecast(request: HttpRequest) -> HttpResponse:
    """Return the matches, boards and time of the tournament in a form, as plain text. The page asks for it while somebody types. Five queries."""
    if request.GET.get("game") not in engine.games():
        raise Http404
    game = game_chosen(request.GET)
    part = OptionsForm(game, request.GET)
    form = ContestForm(game, labels_of_sent(game.key, request.GET), request.GET, options=part)
    form.fields["name"].required = False
    valid = all([part.is_valid(), form.is_valid()])
    text = forecasts.form_sentence(form, viewer_of(request)) if valid else ""
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def old_address(request: HttpRequest, format: str, name: str = "tournament-new") -> HttpResponse:
    """Redirect an address of the older forms."""
    query: QueryDict = request.GET.copy()
    query.setdefault("format", format)
    return redirect(f"{reverse(name)}?{query.urlencode()}")


def _create(
    owner: Player, form: ContestForm, versions: dict[str, BotVersion], *, start: bool, copied: ContestCopy | None
) -> str:
    """Create what the form describes, and return its address."""
    chosen, game = form.cleaned_data, form.table
    entered = [versions[slug] for slug in chosen["bots"]]
    if form.kind == "circuit":
        circuit = circuits.create(owner, chosen["name"], game.key, players=game.players, **form.season())
        for version in entered:
            circuits.join(circuit, version.bot, player=owner)
        return reverse("circuit", args=[circuit.slug])
    if form.kind == "event":
        terms = form.terms()
        event = events.create(
            owner,
            form.document(),
            [version.bot for version in entered],
            terms=replace(terms, due=None) if start else terms,
            wait=True,
            entrance=chosen["entrance"],
            per_player=chosen["per_player"],
            entries_from=None if start else chosen["entries_from"],
            description=chosen["description"],
        )
        if copied and event.private and chosen.get("invite"):
            releases.add(event, copied.guests, now=clock.present())
        if start:
            events.start(event, actor=owner.name)
        return reverse("event", args=[event.slug])
    tournament = domain.create(
        owner,
        chosen["name"],
        game.key,
        form.options,
        chosen["boards"],
        entered,
        game.players,
        format=chosen["format"],
        parameters=form.parameters(chosen["format"]),
        seeding=chosen["seeding"],
        mixed=chosen.get("mixed", False),
        sealed=chosen.get("sealed", False),
        description=chosen["description"],
        entrance=chosen["entrance"],
        per_player=chosen["per_player"],
    )
    if start:
        domain.start_at_once(tournament, actor=owner.name)
    return reverse("tournament", args=[tournament.slug])
