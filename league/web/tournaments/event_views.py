"""Events of several stages: the list, one with its stages, a new one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

import engine
from league.domain.bots import consent
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.matches import embargoes, sight
from league.domain.tournaments import events as domain
from league.domain.tournaments import formats, releases, waiting
from league.domain.tournaments.standings import standings
from league.enums import BotState, RequestStatus, TournamentStatus, VersionStatus
from league.models import Bot, Circuit, EntryRequest, Event, Tournament
from league.pure.calendar import event_plan
from league.service import changes, topics
from league.service import changes as written
from league.web.common.csv_files import RESULT_COLUMNS, csv_file
from league.web.common.game_lines import game_at_table
from league.web.common.inputs import bot_named, until_of
from league.web.common.viewers import may_manage, player_of, user_of
from league.web.tournaments import forecasts
from league.web.tournaments.bot_choice import bot_choice, labels_of_sent, unsent
from league.web.tournaments.entrants import tournaments_with_entries
from league.web.tournaments.event_forms import EventForm, TermsForm
from league.web.tournaments.game_choice import choose_game, chosen_game

MOST_FOLLOWED = 6  # tournaments of an event
SOON = timedelta(seconds=10)  # so long after its owner says so a show begins


@dataclass(frozen=True)
class Stage:
    """One stage of an event: as planned, and what there is of it."""

    number: int
    title: str
    sentence: str
    planned: event_plan.Stage
    tournaments: list[Tournament]
    waits: list[waiting.StageWait]


@changes.kept_until(written.EVENTS, written.BOTS)
def events(request: HttpRequest) -> HttpResponse:
    """Events and recurring leagues, from the newest. Two queries."""
    context = {
        "events": sight.events(Event.objects.select_related("owner"), user_of(request))
        .defer("secret")
        .order_by("-created", "-pk")[:50],
        "circuits": Circuit.objects.select_related("owner").order_by("-created", "-pk")[:50],
    }
    return render(request, "tournaments/events.html", context)


@changes.kept_until(written.EVENTS, written.TOURNAMENTS, written.BOTS)
def event(request: HttpRequest, slug: str) -> HttpResponse:
    """One event: every stage, planned or played, who goes on, and what it waits for. Nine queries; one more before it has begun."""
    viewer = user_of(request)
    changes.keep_until(request, *map(written.of_tournament, sight.find_stages(slug)))
    rows = sight.tournaments(Tournament.objects.filter(event__slug=slug), viewer)
    stages = rows.values_list("pk", flat=True)[:MOST_FOLLOWED]
    topics.follow(request, written.EVENTS, written.TOURNAMENTS, *map(written.of_tournament, stages))
    events = Event.objects.select_related("owner").prefetch_related(tournaments_with_entries(viewer))
    found = get_object_or_404(sight.events(events, viewer), slug=slug)
    if found.status not in (TournamentStatus.OPEN, TournamentStatus.RUNNING):
        topics.leave(request)
    owned = may_manage(request, found.owner_id)
    by_stage: dict[int | None, list[Tournament]] = defaultdict(list)
    for one in found.tournaments.all():
        by_stage[one.stage].append(one)
    seen = sight.sees_results(found, viewer)
    waits = waiting.waits(found)
    described = {one.key: one for one in formats.describe_formats()}
    context = {
        "event": found,
        "game": found.document["game"],
        "stages": [
            Stage(
                number,
                described[planned.format].title,
                described[planned.format].sentence,
                planned,
                by_stage[number],
                [one for one in waits if one.tournament.stage == number],
            )
            for number, planned in enumerate(_planned(found), 1)
        ],
        "why": waiting.why_cancelled(found),
        "secret": domain.published_secret(found, is_visible=seen),
        "embargo": found.secret_after if embargoes.hides_secret(found) else None,
        "owned": owned,
        "seen": seen,
        "opens": found.opens if found.opens != sight.NEVER else None,
        "held": not sight.is_open(found),
        "playing": [] if seen else _playing(found),
        "terms": _terms(found) if owned and _may_change(found) else None,
        "not_started": waiting.why_not_started(found)
        if found.status == TournamentStatus.OPEN and found.due is None
        else "",
        "link": _link(request, found) if owned else "",
        "guests": found.guests.count() if owned and found.private else 0,
        "mine": _own_bots(viewer, found),
        "holds": found.finished is None or found.embargo is not None,
        "entrants": _entrants(found) if found.status == TournamentStatus.OPEN else [],
    }
    return render(request, "tournaments/event.html", context)


def _planned(found: Event) -> Sequence[event_plan.Stage]:
    """The stages of its document; none where this release cannot read it, which ends the event with the reason."""
    try:
        return event_plan.read_plan(found.document).stages
    except event_plan.BadEvent:
        return ()


def _entrants(found: Event) -> list[EntryRequest]:
    """Of an event that has not begun: the bots that are in it, and those that wait for their owners."""
    rows = consent.requests_for(found).filter(status__in=[RequestStatus.GRANTED, RequestStatus.ASKED])
    return list(rows.select_related("bot", "version").order_by("pk"))


def _playing(found: Event) -> list[Bot]:
    """The bots of its first stage, for who sees nothing else of it. One query."""
    return list(
        Bot.objects.filter(
            versions__entries__tournament__event=found, versions__entries__tournament__stage=1
        ).distinct()
    )


def _may_change(found: Event) -> bool:
    return found.status == TournamentStatus.OPEN or not sight.is_open(found)


def _terms(found: Event) -> TermsForm:
    form = TermsForm(initial=_chosen(found))
    if found.status != TournamentStatus.OPEN:
        del form.fields["due"]
    return form


def _chosen(found: Event) -> dict[str, object]:
    return {"audience": found.audience, "release": found.release, "pace_s": found.pace_s, "due": found.due}


def _link(request: HttpRequest, found: Event) -> str:
    if not found.invitation:
        return ""
    return request.build_absolute_uri(reverse("event-join", args=[found.slug, found.invitation]))


def _own_bots(viewer: User | None, found: Event) -> list[Bot]:
    """Of a private event that is open: the bots of who looks that may enter it. One query where there is such an event."""
    if viewer is None or not found.private or found.status != TournamentStatus.OPEN:
        return []
    rows = Bot.objects.filter(owner__user=viewer, state=BotState.ACTIVE, versions__status=VersionStatus.ACCEPTED)
    return list(rows.distinct().order_by("slug"))


@never_cache
def join_event(request: HttpRequest, slug: str, link: str) -> HttpResponse:
    """The page behind the link of a private event: what it is, and the button that lets in who is logged in. 404 where it does not hold any more."""
    if request.method == "POST" and request.user.is_authenticated:
        joined = releases.join(slug, link, player_of(request))
        if joined is None:
            raise Http404
        return redirect("event", slug=slug)
    found = releases.invited(slug, link)
    if found is None:
        raise Http404
    return render(request, "tournaments/event_join.html", {"event": found, "game": found.document["game"]})


@login_required
@require_POST
def enter_event(request: HttpRequest, slug: str) -> HttpResponse:
    """Enter one's own bot in an open private event, or take it out."""
    found = get_object_or_404(sight.events(Event.objects.all(), user_of(request)), slug=slug)
    act = domain.leave if request.POST.get("action") == "leave" else domain.enter
    try:
        act(found, bot_named(request.POST.get("bot", "")), player_of(request))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("event", slug=slug)


@require_safe
@changes.kept_until(written.EVENTS, written.TOURNAMENTS, written.BOTS)
def marks(request: HttpRequest, slug: str) -> HttpResponse:
    """What everybody reached in an event, for a spreadsheet: who came further stands above. For its owner also who takes part without a bot.

    Three queries for each of its tables, more of some formats, and four.
    """
    changes.keep_until(request, *map(written.of_tournament, sight.find_stages(slug)))
    viewer = user_of(request)
    rows = Event.objects.select_related("owner").prefetch_related(tournaments_with_entries(viewer))
    found = get_object_or_404(sight.events(rows, viewer), slug=slug)
    if not sight.sees_results(found, viewer):
        raise Http404
    entered = dict(consent.requests_for(found).filter(status=RequestStatus.GRANTED).values_list("bot_id", "answered"))
    reached: dict[int, tuple[tuple[object, ...], list[object]]] = {}
    for one in sorted(found.tournaments.all(), key=lambda one: (one.stage or 0, one.group)):
        for row in standings(one).rows:
            bot, result = row.entry.version.bot, row.result
            told = [bot.owner.name, bot.slug, row.entry.version.number, entered.get(bot.pk) or "", one.stage, one.group]
            told += [result.place, *(getattr(result, name) for name in RESULT_COLUMNS), row.faults]
            reached[bot.pk] = (-(one.stage or 0), result.place, one.group, bot.slug), told
    line = [told for _, told in sorted(reached.values(), key=lambda one: one[0])]
    if may_manage(request, found.owner_id):
        there = {told[0] for told in line}
        line += [
            [name]
            for name in found.guests.order_by("player__name").values_list("player__name", flat=True)
            if name not in there
        ]
    head = ["player", "bot", "version", "entered", "stage", "group", "place", *RESULT_COLUMNS, "faults"]
    return csv_file(f"{slug}-marks", head, line)


@login_required
@require_POST
def act_on_event(request: HttpRequest, slug: str) -> HttpResponse:
    """Start or take back one's own event that has not begun; hold back its replays; say to whom it is shown, and by which link."""
    found = get_object_or_404(sight.events(Event.objects.all(), user_of(request)), slug=slug)
    if not may_manage(request, found.owner_id):
        raise PermissionDenied
    actions = {"start": domain.start, "cancel": domain.cancel}
    action = request.POST.get("action", "")
    try:
        if act := actions.get(action):
            act(found, actor=player_of(request).name)
        elif action == "embargo":
            embargoes.change_own(found, until_of(request), by=player_of(request))
        elif action in ("renew", "close"):
            releases.renew(found, actor=player_of(request).name, close=action == "close")
        elif action in ("show", "show_now", "begin_show"):
            _show(request, found, action)
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("event", slug=slug)


def _show(request: HttpRequest, found: Event, action: str) -> None:
    form = TermsForm(request.POST)
    if action == "show_now":
        releases.change(found, releases.OPEN, actor=player_of(request).name)
    elif form.is_valid():
        terms = form.terms()
        if action == "begin_show":
            terms = replace(terms, release=clock.present() + SOON)
        releases.change(found, terms, actor=player_of(request).name)
    else:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))


@login_required
def new_event(request: HttpRequest) -> HttpResponse:
    """The form of a new event; without `?game=` the choice of its game."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        return choose_game(request, "tournaments/event_new.html")
    game = game_at_table(key, request.GET.get("players", ""))
    owner = player_of(request)
    choice = bot_choice(key, owner, request.POST, request.GET)
    finds = request.POST.get("action") == "find"
    filled = None if finds else request.POST or None
    form = EventForm(game, choice.labels, filled, chosen=choice.start)
    if finds:
        unsent([form, *form.stages], request.POST)
    prediction = ""
    if filled and form.is_valid():
        chosen = [choice.versions[slug] for slug in form.cleaned_data["bots"]]
        if request.POST.get("action") == "predict":
            prediction = forecasts.event_sentences(form.document(), len(chosen))
        else:
            try:
                with transaction.atomic():
                    made = domain.create(owner, form.document(), chosen, terms=form.terms())
            except Refused as refusal:
                form.add_error(None, shown(refusal))
            else:
                return redirect("event", slug=made.slug)
    bad = bool(filled) and bool(form.errors or any(stage.errors for stage in form.stages))
    context = chosen_game(game) | {"form": form, "choice": choice, "prediction": prediction}
    return render(request, "tournaments/event_new.html", context, status=422 if bad else 200)


def event_forecast(request: HttpRequest) -> HttpResponse:
    """The matches, boards and time of the event that a form describes, as plain text. The form asks while somebody types. Four queries."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        raise Http404
    game = game_at_table(key, request.GET.get("players", ""))
    form = EventForm(game, labels_of_sent(key, request.GET), request.GET)
    form.fields["name"].required = False
    text = (
        forecasts.event_sentences(form.document(), len(form.cleaned_data["bots"]))
        if form.is_valid() and form.cleaned_data["bots"]
        else ""
    )
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
