"""Tournaments: the list, one with its crosstable, the form of a new one, and the actions of owners and players."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from league.domain.arenas import arenas
from league.domain.bots import bots, consent
from league.domain.core import paging
from league.domain.core.errors import Refused, shown
from league.domain.matches import embargoes, sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.talk.places import Place
from league.domain.tournaments import booking, corrections, enrolment, formats, progress, requests, rule
from league.domain.tournaments import brackets as domain_brackets
from league.domain.tournaments import tournaments as domain
from league.domain.tournaments.standings import Standings, meetings, standings
from league.enums import BotState, Entrance, MatchStatus, TournamentStatus, VersionStatus
from league.models import BotVersion, Entry, EntryRequest, Match, Party, Player, Tournament
from league.service import changes, topics
from league.web.common import lists, talk
from league.web.common.csv_files import RESULT_COLUMNS, csv_file
from league.web.common.inputs import bot_named, whole_number
from league.web.common.viewers import may_manage, player_of, user_of, viewer_of
from league.web.tournaments import pictures, tiebreaks
from league.web.tournaments.brackets import brackets
from league.web.tournaments.correcting import CORRECTIONS, SURE, correct_contest, is_deletable, is_sure
from league.web.tournaments.crosstable import Window, crosstable, picture
from league.web.tournaments.ending import describe_end
from league.web.tournaments.entrants import offer, tell_entered
from league.web.tournaments.forms import UntilForm, until_of
from league.web.tournaments.log_lines import public_lines

BY_PLACE = paging.Order.by("place")
MOST_ARENAS = 3  # Arenas for people above the list of tournaments.
MOST_OPEN = 6  # The most tournaments open for entries above the list.
# Actions of the owner that need only a button.
OWNER_ACTIONS: dict[str, Callable[..., object]] = {
    "start": domain.start,
    "cancel": progress.cancel,
    "close": progress.close,
    "pause": progress.pause,
    "resume": progress.resume,
}


ENTRY_ACTIONS = ("replace", "disqualify", "reinstate", "remove")


@changes.kept_until(changes.TOURNAMENTS, changes.EVENTS, changes.MATCHES)
def tournaments(request: HttpRequest) -> HttpResponse:
    """List all tournaments, newest first; above them the viewer's own, those open for entries, and arenas. Nine queries."""
    page = lists.page_of(request, lists.listed_tournaments(user_of(request)))
    lists.counted(page)
    context = {
        "page": page,
        "open_tournaments": lists.open_tournaments([], user_of(request))[:MOST_OPEN],
        "open_events": lists.open_events(user_of(request))[:MOST_OPEN],
        "mine": lists.contests_of(viewer_of(request)),
        "arenas": arenas.near(MOST_ARENAS),
    }
    return render(request, "tournaments/tournaments.html", context)


def tournament(request: HttpRequest, slug: str) -> HttpResponse:
    """Show state, standings, crosstable and matches. Ten queries; eleven while entries change."""
    pk = _seen(request, Tournament.objects.only("pk"), slug).pk
    changes.keep_until(request, changes.of_tournament(pk), changes.BOTS, changes.TALK, changes.CLOCK)
    topics.follow(request, changes.of_tournament(pk))
    tournament = get_object_or_404(Tournament.objects.select_related("pool", "owner"), pk=pk)
    if not _lives(tournament):
        topics.leave(request)
    viewer = viewer_of(request)
    owned = may_manage(request, tournament.owner_id)
    table: Standings = standings(tournament)
    lines = paging.cut_page(table.rows, lists.cursor_of(request, BY_PLACE, "rows"))
    window = _window(request, table)
    down, across = ([row.entry for row in side] for side in (window.rows(table), window.columns(table)))
    met = meetings(tournament, down, across, played=table.played)
    matches = lists.with_parties(tournament.matches.select_related("round"))
    page = lists.page_of(request, matches, paging.Order.by("id"))
    may_enter = _changes(tournament)
    context = {
        "tournament": tournament,
        "owned": owned,
        "table": table,
        "lines": lines,
        "following": table.rows[-1] if table.rows else None,
        "window": window,
        "cross": crosstable(table, window, met),
        "across": [(number, row) for number, row in enumerate(window.columns(table), window.across + 1)],
        "seats": pools.parties(tournament.pool),
        "digits": 1 if pools.game_of(tournament.pool).score_size == 1 else 2,
        "sittings": _sittings(tournament),
        "page": page,
        **(_door(tournament, table, viewer, owned=owned) if tournament.status == TournamentStatus.OPEN else {}),
        **(_late(tournament, table, viewer, owned=owned) if tournament.status == TournamentStatus.RUNNING else {}),
        "total": _total(tournament, sum(table.statuses.values())),
        "done": table.statuses[MatchStatus.FINISHED],
        "stalled": progress.stalled(tournament) if table.statuses[MatchStatus.VOID] else [],
        "secret": domain.published_secret(tournament),
        "counting": rule.counting(tournament),
        "embargo": tournament.secret_after if embargoes.hides_secret(tournament) else None,
        "until_form": UntilForm.of(tournament),
        "holds": owned
        and tournament.event_id is None
        and (tournament.finished is None or tournament.embargo is not None),
        "example": _example_match(page),
        "format": _format(tournament),
        "breaks": tiebreaks.columns(table.rows),
        "ranked": tournament.status != TournamentStatus.OPEN,
        "any_faults": any(row.faults for row in table.rows),
        "names": {row.entry.number: row.entry.version.bot.slug for row in table.rows},
        "rounds": _rounds(tournament),
        "parts": brackets(tournament, {row.entry.number: row.entry for row in table.rows}),
        "grows": _grows(tournament),
        "ends": formats.ends_at(tournament),
        "changes": may_enter,
        "settled": not enrolment.is_flexible(tournament),
        "mine": _own_versions(viewer, tournament) if viewer and may_enter else [],
        "waiting": requests.waiting(tournament) if may_enter else [],
        "leavers": _removable_versions(viewer, table, owned=owned and enrolment.is_flexible(tournament))
        if _lives(tournament)
        else [],
        "growing": _growing_parameters(tournament) if owned else [],
        "ending": describe_end(tournament, table),
        "picture": pictures.of_tournament(tournament, table.rows),
        "log": public_lines(tournament),
        "here": request.build_absolute_uri(reverse("tournament", args=[slug])),
        "disqualified": [row.entry for row in table.rows if row.entry.disqualified is not None],
        "correctable": _correctable(tournament, table) if owned else [],
        "offered": _offered(tournament, viewer) if owned and viewer and may_enter else [],
        "takes": tournament.entrance == Entrance.ANYBODY or owned,
        "deletable": owned and is_deletable(tournament),
        "talk": talk.section(request, Place(tournament=tournament)) if tournament.event_id is None else None,
    }
    return render(request, "tournaments/tournament.html", context)


def _seen(request: HttpRequest, rows: QuerySet[Tournament], slug: str) -> Tournament:
    """Return the tournament if the viewer may see it, or 404. One query."""
    return get_object_or_404(sight.tournaments(rows, user_of(request)), slug=slug)


def _correctable(tournament: Tournament, table: Standings) -> list[Entry]:
    """Return the entries that the owner may correct: all that are not disqualified."""
    if tournament.status == TournamentStatus.CANCELLED:
        return []
    return [row.entry for row in table.rows if row.entry.disqualified is None]


def _offered(tournament: Tournament, viewer: Player) -> list[str]:
    """Return names of bots for the owner to pick while typing. Four queries."""
    return [slug for slug, _version in offer(tournament.pool.game, viewer).versions]


def _window(request: HttpRequest, table: Standings) -> Window:
    """Return the requested window of the crosstable: by row and column, or by a point of the picture (one pixel per cell)."""
    down, across = (
        whole_number(request.GET.get(name, request.GET.get(point)))
        for name, point in (("down", "at.y"), ("across", "at.x"))
    )
    return Window.at(len(table.rows), down, across)


@require_safe
def crosstable_png(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the whole crosstable as a picture."""
    pk = _seen(request, Tournament.objects.only("pk"), slug).pk
    changes.keep_until(request, changes.of_tournament(pk), changes.BOTS)
    table = standings(get_object_or_404(Tournament.objects.select_related("pool"), pk=pk))
    if not table.rows:
        raise Http404
    return HttpResponse(picture(table), content_type="image/png")


def _rounds(tournament: Tournament) -> list[domain_brackets.RoundMatches]:
    """Return the rounds of formats in which each round follows from the earlier ones."""
    return domain_brackets.read_all_rounds(tournament) if domain_brackets.has_rounds(tournament) else []


def _grows(tournament: Tournament) -> bool:
    return formats.format_named(tournament.format).grows and tournament.status == TournamentStatus.RUNNING


def _changes(tournament: Tournament) -> bool:
    """Return True while entries can change."""
    return enrolment.is_flexible(tournament) or bool(enrolment.late_round(tournament))


def _late(tournament: Tournament, table: Standings, viewer: Player | None, *, owned: bool) -> dict[str, Any]:
    """Return what the page of a running tournament says of late entries. Two queries if the format takes them."""
    own = sum(1 for row in table.rows if viewer is not None and row.entry.version.bot.owner_id == viewer.pk)
    return {
        "late": enrolment.late_round(tournament),
        "late_until": formats.format_named(tournament.format).complete(tournament.parameters).get("late"),
        "share_used": not _grows(tournament) and not owned and own >= tournament.per_player,
    }


def _lives(tournament: Tournament) -> bool:
    """Return True while entries can be withdrawn."""
    return tournament.status in (TournamentStatus.OPEN, TournamentStatus.RUNNING)


def _removable_versions(viewer: Player | None, table: Standings, *, owned: bool) -> list[BotVersion]:
    """Return the versions that the viewer may withdraw: their own, and as owner all."""
    versions = [row.entry.version for row in table.rows if row.entry.withdrawn is None]
    own = ownership.allowed_bots(viewer, (version.bot for version in versions), BotAct.ENTER)
    return [version for version in versions if owned or version.bot_id in own]


def _growing_parameters(tournament: Tournament) -> list[tuple[str, int]]:
    """Return the parameters of a running tournament that can be raised, with their values."""
    if tournament.status != TournamentStatus.RUNNING:
        return []
    values = formats.format_named(tournament.format).complete(tournament.parameters)
    return [(name, int(values[name])) for name in domain.growing_parameters(tournament)]


def _format(tournament: Tournament) -> dict[str, Any]:
    """Return the format in a sentence, and its parameters with their values."""
    [description] = [entry for entry in formats.describe_formats() if entry.key == tournament.format]
    values = formats.format_named(tournament.format).complete(tournament.parameters)
    parameters = [(p.name, values[p.name], text) for p, text in description.parameters]
    return {"sentence": description.sentence, "parameters": parameters}


def _planned(tournament: Tournament) -> int:
    """Return the most matches with the current entries; 0 if no table can be filled."""
    try:
        return domain.count_planned(tournament)[1]
    except Refused:
        return 0


def _door(tournament: Tournament, table: Standings, viewer: Player | None, *, owned: bool) -> dict[str, Any]:
    """Return what the page of an open tournament says of its entries: how many more it takes, and why it could not start so."""
    own = len(ownership.allowed_bots(viewer, (row.entry.version.bot for row in table.rows), BotAct.ENTER))
    room = booking.room(tournament)
    return {
        "planned": _planned(tournament),
        "room": room,
        "full": not owned and len(table.rows) >= room,
        "is_out": viewer is not None and not consent.is_welcome(tournament, viewer),
        "share_used": not owned and own >= tournament.per_player,
        "why_not_yet": booking.why_not_yet(tournament) if owned else "",
    }


def _total(tournament: Tournament, inserted: int) -> int:
    """Return the number of all matches, including, if known, those that the scheduler has yet to insert."""
    return inserted if formats.follows_results(tournament) else max(inserted, tournament.planned_matches)


def _example_match(page: paging.Page[Match]) -> str:
    """Return the first finished match, as the example of how to check a log."""
    return next((match.public_id for match in page if match.status == MatchStatus.FINISHED), "MATCH")


def _sittings(tournament: Tournament) -> int:
    game = pools.game_of(tournament.pool)
    return len(game.sittings(pools.parties(tournament.pool)))


def _own_versions(viewer: Any, tournament: Tournament) -> list[BotVersion]:
    rows = BotVersion.objects.filter(
        ownership.owned(viewer, BotAct.ENTER, "bot__"),
        bot__state=BotState.ACTIVE,
        bot__stopped=None,
        status=VersionStatus.ACCEPTED,
    )
    entered = set(tournament.entries.values_list("version_id", flat=True))
    versions = rows.select_related("bot").order_by("bot__slug", "-number")
    return [v for v in versions if v.pk not in entered and v.plays(tournament.pool.game)]


def _correct(request: HttpRequest, tournament: Tournament, viewer: Player, action: str) -> None:
    """Carry out a correction of an entry by the owner of the tournament, or of its bot."""
    entry = get_object_or_404(
        Entry.objects.select_related("tournament__pool", "version__bot__owner", "version__bot__team"),
        tournament=tournament,
        pk=whole_number(request.POST.get("entry")),
    )
    if action == "replace":
        newest = bots.sent_version(entry.version.bot, tournament.pool.game)
        if newest.pk == entry.version_id:
            messages.info(request, _("%(version)s is the newest version already.") % {"version": newest})
        corrections.replace_version(entry, newest, player=viewer)
    elif action == "disqualify":
        corrections.disqualify(entry, request.POST.get("why", ""), player=viewer)
    elif action == "reinstate":
        corrections.reinstate(entry, player=viewer)
    else:
        _change_entry(tournament, entry.version, viewer, "withdraw")


@login_required
@require_POST
def act_on_tournament(request: HttpRequest, slug: str) -> HttpResponse:
    """Carry out an action of the owner of a tournament, or of a player with a bot."""
    tournament = _seen(request, Tournament.objects.select_related("owner", "pool"), slug)
    viewer = player_of(request)
    action = request.POST.get("action", "")
    owned = may_manage(request, tournament.owner_id)
    if (action in OWNER_ACTIONS or action in ("extend", "embargo", *CORRECTIONS)) and not owned:
        raise PermissionDenied
    try:
        if action not in SURE or is_sure(request):
            _act(request, tournament, viewer, action)
    except Refused as refusal:
        messages.error(request, shown(refusal))
    else:
        if action == "delete" and tournament.pk is None:
            return redirect("tournaments")
    return redirect("tournament", slug=slug)


def _act(request: HttpRequest, tournament: Tournament, viewer: Player, action: str) -> None:
    if action in CORRECTIONS:
        correct_contest(request, tournament, viewer, action)
    elif action in ENTRY_ACTIONS:
        _correct(request, tournament, viewer, action)
    elif action in OWNER_ACTIONS:
        OWNER_ACTIONS[action](tournament, actor=viewer.name)
    elif action == "extend":
        _extend(request, tournament, viewer)
    elif action == "embargo":
        embargoes.change_own(tournament, until_of(request), owner=viewer)
    elif action in ("enter", "withdraw"):
        version = get_object_or_404(BotVersion, pk=whole_number(request.POST.get("version")))
        _change_entry(tournament, version, viewer, action)
    elif action == "ask":
        _ask(request, tournament, viewer)


def _extend(request: HttpRequest, tournament: Tournament, viewer: Player) -> None:
    sent_values = {name: request.POST[name] for name in domain.growing_parameters(tournament) if name in request.POST}
    parameters = {name: int(value) for name, value in sent_values.items() if value.isdecimal()}
    added = domain.extend(tournament, parameters, actor=viewer.name)
    text = ngettext("%(count)s match added.", "%(count)s matches added.", added)
    messages.success(request, text % {"count": added})


def _change_entry(tournament: Tournament, version: BotVersion, viewer: Player, action: str) -> None:
    """Enter or withdraw a version. Players may do so with their own; the owner of the tournament may withdraw any."""
    if not ownership.may(viewer, version.bot, BotAct.ENTER) and not (
        action == "withdraw" and viewer.pk == tournament.owner_id
    ):
        raise PermissionDenied
    (enrolment.enter if action == "enter" else enrolment.withdraw)(tournament, version, player=viewer)


def _ask(request: HttpRequest, tournament: Tournament, viewer: Player) -> None:
    """Enter another player's bot by name, or ask its owner."""
    if viewer.pk != tournament.owner_id:
        raise PermissionDenied
    bot = bot_named(request.POST.get("bot", ""))
    entered = enrolment.enter(tournament, bot, player=viewer, message=request.POST.get("message", ""))
    tell_entered(request, bot, is_request=isinstance(entered, EntryRequest))


@require_safe
def standings_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the standings, one row per entry; decimal points, and names as in the API."""
    pk = sight.find_tournament(slug)
    if pk is not None:
        changes.keep_until(request, changes.of_tournament(pk), changes.BOTS)
    tournament = _seen(request, Tournament.objects.select_related("pool"), slug)
    rows = standings(tournament).rows
    breaks = next((list(row.breaks) for row in rows if row.breaks), [])
    head = ["place", "bot", "version", *RESULT_COLUMNS, *(f"tiebreak_{key}" for key in breaks), "faults"]
    return csv_file(
        f"{slug}-standings",
        head,
        (
            [
                row.result.place,
                row.entry.version.bot.slug,
                row.entry.version.number,
                *(getattr(row.result, name) for name in RESULT_COLUMNS),
                *(row.breaks.get(key, "") for key in breaks),
                row.faults,
            ]
            for row in rows
        ),
    )


@require_safe
def matches_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the finished matches: one row for each party, with its boards won, drawn and lost. Three queries."""
    pk = _seen(request, Tournament.objects.only("pk"), slug).pk
    changes.keep_until(request, changes.of_tournament(pk), changes.BOTS)
    parties = Party.objects.filter(match__tournament=pk, match__status=MatchStatus.FINISHED)
    rows = parties.order_by("match_id", "number").values_list(
        *("match__public_id", "match__finished", "version__bot__slug", "version__number"),
        *("points", "wins", "draws", "losses", "fault"),
    )
    head = ["match", "finished", "bot", "version", "score", "wins", "draws", "losses", "fault"]
    return csv_file(
        f"{slug}-matches", head, ([at.isoformat() if isinstance(at, datetime) else at for at in row] for row in rows)
    )


@require_safe
def crosstable_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the crosstable: the board points of each row against each column; empty if the two have not met."""
    pk = _seen(request, Tournament.objects.only("pk"), slug).pk
    changes.keep_until(request, changes.of_tournament(pk), changes.BOTS)
    table = standings(get_object_or_404(Tournament.objects.select_related("pool"), pk=pk))
    names = [str(row.entry.version) for row in table.rows]
    numbers = [row.entry.number for row in table.rows]
    met = {(a, b): table.cells.get((a, b)) for a in numbers for b in numbers if a != b}
    rows = (
        [name, *("" if (cell := met.get((a, b))) is None else cell.points for b in numbers)]
        for name, a in zip(names, numbers, strict=True)
    )
    return csv_file(f"{slug}-crosstable", ["bot", *names], rows)
