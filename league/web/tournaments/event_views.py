"""Pages of events: the list, one event with its stages, and the actions of owners and players."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from league.domain.bots import consent
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.matches import embargoes, sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.talk.places import Place
from league.domain.tournaments import events as domain
from league.domain.tournaments import formats, releases, rule, waiting
from league.domain.tournaments.standings import standings
from league.enums import BotState, Entrance, RequestStatus, TournamentStatus, VersionStatus
from league.models import Bot, Circuit, EntryRequest, Event, Tournament
from league.pure.calendar import event_plan
from league.service import changes, topics
from league.web.common import talk
from league.web.common.csv_files import RESULT_COLUMNS, csv_file
from league.web.common.inputs import bot_named, next_page
from league.web.common.viewers import player_of, user_of
from league.web.tournaments import pictures
from league.web.tournaments.correcting import CORRECTIONS, SURE, correct_contest, is_deletable, is_sure
from league.web.tournaments.ending import TournamentEnd, describe_end
from league.web.tournaments.entrants import tournaments_with_entries
from league.web.tournaments.forms import TermsForm, UntilForm, until_of
from league.web.tournaments.log_lines import public_lines

MOST_TABLES = 8  # The most tournaments of an event whose standings the page shows.
MOST_FOLLOWED = 6  # The most tournaments of an event that the page follows.
SOON = timedelta(seconds=10)  # Time between the owner's click and the start of a show.


@dataclass(frozen=True)
class ShownStage:
    """One stage of an event: its plan, its tournaments, and the matches for which it waits."""

    number: int
    title: str
    sentence: str
    planned: event_plan.PlannedStage
    tournaments: list[Tournament]
    waits: list[waiting.StageWait]


@changes.kept_until(changes.EVENTS, changes.BOTS)
def events(request: HttpRequest) -> HttpResponse:
    """List events and recurring leagues, newest first. Two queries."""
    context = {
        "events": sight.events(Event.objects.select_related("owner"), user_of(request))
        .defer("secret")
        .order_by("-created", "-pk")[:50],
        "circuits": Circuit.objects.select_related("owner").order_by("-created", "-pk")[:50],
    }
    return render(request, "tournaments/events.html", context)


@changes.kept_until(changes.EVENTS, changes.TOURNAMENTS, changes.BOTS, changes.TALK, changes.CLOCK)
def event(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an event: every stage with the advancing bots and the matches for which it waits. Ten queries; one more before it starts."""
    viewer = user_of(request)
    changes.keep_until(request, *map(changes.of_tournament, sight.find_stages(slug)))
    rows = sight.tournaments(Tournament.objects.filter(event__slug=slug), viewer)
    stages = rows.values_list("pk", flat=True)[:MOST_FOLLOWED]
    topics.follow(request, changes.EVENTS, changes.TOURNAMENTS, *map(changes.of_tournament, stages))
    events = Event.objects.select_related("owner").prefetch_related(tournaments_with_entries(viewer))
    event = get_object_or_404(sight.events(events, viewer), slug=slug)
    if event.status not in (TournamentStatus.OPEN, TournamentStatus.RUNNING):
        topics.leave(request)
    owned = sight.manages(event, viewer)
    by_stage: dict[int | None, list[Tournament]] = defaultdict(list)
    for tournament in event.tournaments.all():
        by_stage[tournament.stage].append(tournament)
    sees_results = sight.sees_results(event, viewer)
    waits = waiting.waits(event)
    tables = {row.pk: standings(row).rows for row in event.tournaments.all()[:MOST_TABLES]} if sees_results else {}
    last = by_stage[max((stage for stage in by_stage if stage), default=None)]
    described = {description.key: description for description in formats.describe_formats()}
    context = {
        "event": event,
        "game": event.document["game"],
        "stages": [
            ShownStage(
                number,
                described[planned.format].title,
                described[planned.format].sentence,
                planned,
                by_stage[number],
                [wait for wait in waits if wait.tournament.stage == number],
            )
            for number, planned in enumerate(_planned(event), 1)
        ],
        "why": waiting.why_cancelled(event),
        "secret": domain.published_secret(event, is_visible=sees_results),
        "counting": rule.counting(event),
        "embargo": event.secret_after if embargoes.hides_secret(event) else None,
        "owned": owned,
        "seen": sees_results,
        "ended": event.finished is not None,
        "opens": event.opens if event.opens != sight.NEVER else None,
        "held": not sight.is_open(event),
        "playing": [] if sees_results else _playing(event),
        "terms": _terms(event) if owned and _may_change(event) else None,
        "log": public_lines(event),
        "ending": _ending(event, by_stage) if sees_results else None,
        "tables": tables,
        "picture": pictures.of_event(event, tables.get(last[0].pk, ()) if len(last) == 1 else ()),
        "deletable": owned and is_deletable(event),
        "here": request.build_absolute_uri(reverse("event", args=[slug])),
        "opening": event.entries_from if event.entries_from and event.entries_from > clock.present() else None,
        "takes": event.private or owned or event.entrance == Entrance.ANYBODY,
        "link": _link(request, event) if owned else "",
        "guests": _guests(event) if owned and event.private else [],
        "until_form": UntilForm.of(event),
        "holds": _is_owner(event, viewer) and (event.finished is None or event.embargo is not None),
        "talk": talk.section(request, Place(event=event)) if sees_results else None,
        **(_door(event, viewer, owned=owned) if event.status == TournamentStatus.OPEN else {}),
    }
    return render(request, "tournaments/event.html", context)


def _is_owner(event: Event, viewer: User | None) -> bool:
    """Return True for the only one who hides replays: an embargo of somebody else counts as that of an operator."""
    return viewer is not None and event.owner.user_id == viewer.pk


def _ending(event: Event, by_stage: dict[int | None, list[Tournament]]) -> TournamentEnd | None:
    """Return the end of a finished event: that of its last stage, if this was a single tournament."""
    last = by_stage[len(_planned(event))] if event.status == TournamentStatus.FINISHED else []
    return describe_end(last[0], standings(last[0]), event.name) if len(last) == 1 else None


def _planned(event: Event) -> Sequence[event_plan.PlannedStage]:
    """Return the planned stages; none if this release cannot read the plan (then the domain ends the event with the reason)."""
    try:
        return event_plan.read_plan(event.document).stages
    except event_plan.BadEvent:
        return ()


def _door(event: Event, viewer: User | None, *, owned: bool) -> dict[str, object]:
    """Return what the page of an open event says of its entries: who is in, how many more it takes, and what the viewer and the owner may do."""
    entrants = _entrants(event)
    entered = [row for row in entrants if row.status == RequestStatus.GRANTED]
    own_bots = _own_bots(viewer, event)
    inside = {row.bot_id for row in entered}
    player = getattr(viewer, "player", None)
    own_ids = ownership.allowed_bots(player, (row.bot for row in entered), BotAct.ENTER)
    own_inside = [row.bot for row in entered if row.bot_id in own_ids]
    room = domain.room(event)
    is_out = viewer is not None and not owned and not consent.is_welcome(event, viewer.player)
    has_place = len(entered) < room and (owned or (len(own_inside) < event.per_player and not is_out))
    is_late = event.due is not None and event.due <= clock.present()
    removed = consent.requests_for(event).filter(status=RequestStatus.REMOVED).select_related("bot") if owned else []
    return {
        "entrants": entrants,
        "entered": len(entered),
        "room": room,
        "mine": own_bots,
        "can_enter": [bot for bot in own_bots if bot.pk not in inside] if has_place and not is_late else [],
        "can_leave": own_inside if not is_late else [],
        "removed": list(removed),
        "is_out": is_out,
        "not_started": waiting.why_not_started(event) if event.due is None or is_late else "",
        "late": is_late,
        "why_not_yet": domain.why_not_yet(event, len(entered)) if owned and len(entered) > 1 else "",
    }


def _guests(event: Event) -> list[str]:
    """Return the players who have joined by name: neither the owner of the event nor those of house bots."""
    house = Bot.objects.filter(is_house=True).values("owner")
    guests = event.guests.exclude(player=event.owner).exclude(player__in=house)
    return list(guests.order_by("player__name").values_list("player__name", flat=True))


def _entrants(event: Event) -> list[EntryRequest]:
    """Return the entries of an event that has not started: entered bots, and bots whose owners have been asked."""
    rows = consent.requests_for(event).filter(status__in=[RequestStatus.GRANTED, RequestStatus.ASKED])
    return list(rows.select_related("bot__owner", "bot__team", "version").order_by("pk"))


def _playing(event: Event) -> list[Bot]:
    """Return the bots of the first stage, for viewers who may not see results. One query."""
    return list(
        Bot.objects.filter(
            versions__entries__tournament__event=event, versions__entries__tournament__stage=1
        ).distinct()
    )


def _may_change(event: Event) -> bool:
    return event.status == TournamentStatus.OPEN or not sight.is_open(event)


def _terms(event: Event) -> TermsForm:
    form = TermsForm(initial=_chosen(event), auto_id="terms-%s")  # Another form on the page has a zone, too.
    if event.status != TournamentStatus.OPEN:
        del form.fields["due"]
    return form


def _chosen(event: Event) -> dict[str, object]:
    return {"audience": event.audience, "release": event.release, "pace_s": event.pace_s, "due": event.due}


def _link(request: HttpRequest, event: Event) -> str:
    if not event.invitation:
        return ""
    return request.build_absolute_uri(reverse("event-join", args=[event.slug, event.invitation]))


def _own_bots(viewer: User | None, event: Event) -> list[Bot]:
    """Return the viewer's bots that may enter an open event. One query for such an event."""
    if viewer is None or event.status != TournamentStatus.OPEN:
        return []
    if event.owner.user_id != viewer.pk and not event.private and event.entrance != Entrance.ANYBODY:
        return []
    rows = Bot.objects.filter(
        Q() if event.private else Q(in_class=False),
        ownership.owned(getattr(viewer, "player", None), BotAct.ENTER),
        state=BotState.ACTIVE,
        versions__status=VersionStatus.ACCEPTED,
    )
    return list(rows.distinct().order_by("slug"))


@never_cache
def join_event(request: HttpRequest, slug: str, link: str) -> HttpResponse:
    """Show a private event to people with its invitation link, with the button to join. 404 if the link is no longer valid."""
    if request.method == "POST" and request.user.is_authenticated:
        joined = releases.join(slug, link, player_of(request))
        if joined is None:
            raise Http404
        return redirect("event", slug=slug)
    event = releases.invited(slug, link)
    if event is None:
        raise Http404
    return render(request, "tournaments/event_join.html", {"event": event, "game": event.document["game"]})


@login_required
@require_POST
def enter_event(request: HttpRequest, slug: str) -> HttpResponse:
    """Enter the player's own bot in an open event, or withdraw it."""
    event = get_object_or_404(sight.events(Event.objects.all(), user_of(request)), slug=slug)
    act = domain.leave if request.POST.get("action") == "leave" else domain.enter
    try:
        act(event, bot_named(request.POST.get("bot", ""), user_of(request)), player_of(request))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect(next_page(request, reverse("event", args=[slug])))


@require_safe
@changes.kept_until(changes.EVENTS, changes.TOURNAMENTS, changes.BOTS)
def marks(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the results of an event, the best first. The owner also gets the participants without a bot.

    Three queries for each tournament, more for some formats, and four.
    """
    changes.keep_until(request, *map(changes.of_tournament, sight.find_stages(slug)))
    viewer = user_of(request)
    rows = Event.objects.select_related("owner").prefetch_related(tournaments_with_entries(viewer))
    event = get_object_or_404(sight.events(rows, viewer), slug=slug)
    if not sight.sees_results(event, viewer):
        raise Http404
    entered = dict(consent.requests_for(event).filter(status=RequestStatus.GRANTED).values_list("bot_id", "answered"))
    reached: dict[int, tuple[tuple[object, ...], list[object]]] = {}
    for tournament in sorted(event.tournaments.all(), key=lambda row: (row.stage or 0, row.group)):
        for row in standings(tournament).rows:
            bot, result = row.entry.version.bot, row.result
            place = (tournament.stage, tournament.group)
            cells: list[object] = [
                bot.owner.name,
                bot.slug,
                row.entry.version.number,
                entered.get(bot.pk) or "",
                *place,
            ]
            cells += [result.place, *(getattr(result, name) for name in RESULT_COLUMNS), row.faults]
            reached[bot.pk] = (-(tournament.stage or 0), result.place, tournament.group, bot.slug), cells
    line = [cells for _, cells in sorted(reached.values(), key=lambda item: item[0])]
    if sight.manages(event, viewer):
        with_bot = {cells[0] for cells in line}
        line += [
            [name]
            for name in event.guests.order_by("player__name").values_list("player__name", flat=True)
            if name not in with_bot
        ]
    head = ["player", "bot", "version", "entered", "stage", "group", "place", *RESULT_COLUMNS, "faults"]
    return csv_file(f"{slug}-marks", head, line)


@login_required
@require_POST
def act_on_event(request: HttpRequest, slug: str) -> HttpResponse:
    """Carry out an action of who manages the event: start or cancel an open event, hide replays, change visibility or the link."""
    event = get_object_or_404(sight.events(Event.objects.select_related("owner"), user_of(request)), slug=slug)
    if not sight.manages(event, user_of(request)):
        raise PermissionDenied
    actions = {"start": domain.start, "cancel": domain.cancel}
    action = request.POST.get("action", "")
    try:
        if action in SURE and not is_sure(request):
            pass
        elif action in CORRECTIONS:
            correct_contest(request, event, player_of(request), action)
        elif act := actions.get(action):
            act(event, actor=player_of(request).name)
        elif action == "embargo" and _is_owner(event, user_of(request)):
            embargoes.change_own(event, until_of(request), owner=player_of(request))
        elif action in ("renew", "close"):
            releases.renew(event, actor=player_of(request).name, close=action == "close")
        elif action in ("show", "show_now", "begin_show"):
            _show(request, event, action)
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("event", slug=slug) if event.pk else redirect("tournaments")


def _show(request: HttpRequest, event: Event, action: str) -> None:
    form = TermsForm(request.POST)
    if action == "show_now":
        releases.change(event, releases.OPEN, actor=player_of(request).name)
    elif form.is_valid():
        terms = form.terms()
        if action == "begin_show":
            terms = replace(terms, release=clock.present() + SOON)
        releases.change(event, terms, actor=player_of(request).name)
    else:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
