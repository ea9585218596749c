"""The calendar: the page of what comes, with entering and leaving, and the files for calendar programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

import engine
from league.domain.core import clock
from league.domain.tournaments import agenda, formats
from league.domain.tournaments.agenda import Appointment
from league.enums import Entrance, RequestStatus, VersionStatus
from league.models import Arena, ArenaEntry, Bot, BotVersion, Circuit, EntryRequest, Event, Player
from league.pure.calendar import event_plan, icalendar
from league.service import changes
from league.web.common.game_lines import describe_game, game_title, pool_label
from league.web.common.viewers import player_of, viewer_of
from league.web.tournaments.entrants import FREE
from league.web.tournaments.forms import WELL_KNOWN


@dataclass(frozen=True)
class CalendarLine:
    """A line of the page: a date, and what the viewer can do about it: bots that are in, and bots that could enter."""

    date: Appointment
    format: str
    entered: Sequence[str] = ()
    can_enter: Sequence[str] = ()


@changes.kept_until(changes.EVENTS, changes.BOTS, changes.NAMES, changes.CLOCK)
def calendar(request: HttpRequest) -> HttpResponse:
    """Show the dates of the next weeks, of all games or one. Five queries; four more for a viewer who is logged in."""
    game = _game(request.GET.get("game", ""))
    now, viewer = clock.present(), viewer_of(request)
    week, later = agenda.coming(agenda.public(game=game, now=now), now=now)
    lines = _lines([*week, *later], viewer)
    context = {
        "game": game,
        "games": sorted((game_title(key), key) for key in engine.games()),
        "week": lines[: len(week)],
        "later": lines[len(week) :],
        "address": _address(request, reverse("calendar-file", args=[game]) if game else reverse("calendar-files")),
        "own": _own_address(request, viewer) if viewer else "",
        "viewer": viewer,
        "now": now,
    }
    return render(request, "tournaments/calendar.html", context)


def _game(key: str) -> str:
    return key if key in engine.games() else ""


def _address(request: HttpRequest, path: str) -> str:
    return request.build_absolute_uri(path)


def _own_address(request: HttpRequest, player: Player) -> str:
    if not player.calendar_link:
        return ""
    return _address(request, reverse("calendar-own", args=[player.name, player.calendar_link]))


def _lines(dates: Sequence[Appointment], viewer: Player | None) -> list[CalendarLine]:
    titles = {described.key: described.title for described in formats.describe_formats()}
    titles |= {key: str(title) for key, (title, _line) in WELL_KNOWN.items() if key in titles}
    own, inside = _own_bots(viewer), _entered(dates, viewer)
    lines = []
    for date in dates:
        entered: Sequence[str] = inside[date.place]
        if isinstance(date.contest, Arena):
            lines.append(CalendarLine(date, _("arena for people"), entered))
            continue
        playing = [slug for slug, games in own.items() if date.game in games]
        owned = viewer is not None and date.contest.owner_id == viewer.pk
        has_share = owned or len(entered) < date.contest.per_player
        takes = has_share and (owned or _is_open(date.contest))
        free = [slug for slug in playing if slug not in entered] if takes else []
        lines.append(CalendarLine(date, titles.get(_format(date.contest), ""), entered, free))
    return lines


def _is_open(contest: Event | Circuit) -> bool:
    if isinstance(contest, Circuit):
        return True
    is_early = contest.entries_from is not None and contest.entries_from > clock.present()
    return contest.entrance == Entrance.ANYBODY and not is_early


def _format(contest: Event | Circuit) -> str:
    if isinstance(contest, Circuit):
        return contest.format
    try:
        return event_plan.read_plan(contest.document).stages[0].format
    except event_plan.BadEvent:
        return ""


def _own_bots(viewer: Player | None) -> dict[str, set[str]]:
    """Return the viewer's bots that may enter something, with the games that each plays. One query."""
    if viewer is None:
        return {}
    rows = BotVersion.objects.filter(
        status=VersionStatus.ACCEPTED, bot__in=Bot.objects.filter(FREE, owner=viewer, in_class=False)
    )
    games: dict[str, set[str]] = defaultdict(set)
    for version in rows.select_related("bot").order_by("bot__slug"):
        games[version.bot.slug] |= {key for key in engine.games() if version.plays(key)}
    return games


def _entered(dates: Sequence[Appointment], viewer: Player | None) -> dict[str, list[str]]:
    """Return the viewer's bots in each of these contests, by its name in the journal; the viewer themselves in an arena. Three queries."""
    inside: dict[str, list[str]] = defaultdict(list)
    if viewer is None:
        return inside
    events = [date.contest.pk for date in dates if not (date.is_circuit or date.is_arena)]
    hours = [date.contest.pk for date in dates if date.is_arena]
    for slug in ArenaEntry.objects.filter(arena__in=hours, player=viewer).values_list("arena__slug", flat=True):
        inside[f"arena:{slug}"].append(viewer.name)
    rows = EntryRequest.objects.filter(event__in=events, bot__owner=viewer, status=RequestStatus.GRANTED)
    for slug, bot in rows.order_by("bot__slug").values_list("event__slug", "bot__slug"):
        inside[f"event:{slug}"].append(bot)
    circuits = Circuit.objects.filter(pk__in=[date.contest.pk for date in dates if date.is_circuit])
    for slug, bot in circuits.filter(bots__owner=viewer).order_by("bots__slug").values_list("slug", "bots__slug"):
        inside[f"circuit:{slug}"].append(bot)
    return inside


@login_required
@require_POST
def change_link(request: HttpRequest) -> HttpResponse:
    """Make, replace or remove the private address of the player's own calendar."""
    agenda.renew_link(player_of(request), remove=request.POST.get("action") == "remove")
    return redirect(f"{reverse('calendar')}#own")


@require_safe
@changes.kept_until(changes.EVENTS, changes.BOTS, changes.NAMES, changes.CLOCK)
def calendar_file(request: HttpRequest, game: str = "") -> HttpResponse:
    """Return the public calendar, of all games or one, as a file. Four queries."""
    if game and not _game(game):
        raise Http404
    dates = agenda.public(game=game, now=clock.present())
    name = _("Tute League: %(game)s") % {"game": game_title(game)} if game else _("Tute League: tournaments")
    return _file(request, name, dates)


@require_safe
@never_cache
def own_calendar_file(request: HttpRequest, name: str, link: str) -> HttpResponse:
    """Return the calendar of a player to programs that know its private address; 404 if it is no longer valid. Four queries."""
    player = agenda.player_of_link(name, link)
    if player is None:
        raise Http404
    return _file(request, _("Tute League: my tournaments"), agenda.own(player, now=clock.present()))


def _name(date: Appointment) -> str:
    if isinstance(date.contest, Arena):
        return _("Arena: %(game)s") % {"game": pool_label(date.contest.pool)}
    return date.contest.name


def _file(request: HttpRequest, title: str, dates: Sequence[Appointment]) -> HttpResponse:
    counts = agenda.changes(dates)
    host = request.get_host()
    items = []
    for date in dates:
        sequence, stamp = counts[date.place]
        text = describe_game(date.game).title
        name, description = _name(date), "" if isinstance(date.contest, Arena) else date.contest.description
        if description:
            text = f"{text}\n{description}"
        view = "circuit" if date.is_circuit else "arena" if date.is_arena else "event"
        page = _address(request, reverse(view, args=[date.contest.slug]))
        items.append(
            icalendar.CalendarItem(f"{date.key}@{host}", date.start, name, text, page, stamp, sequence, date.cancelled)
        )
    answer = HttpResponse(icalendar.write(title, items), content_type="text/calendar; charset=utf-8")
    answer["Content-Disposition"] = 'inline; filename="tute-league.ics"'
    return answer
