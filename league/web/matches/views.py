"""Pages of matches: the list, one match with its replay, and the record as JSON and as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.html import strip_tags
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

import engine
from league.domain.audits import results
from league.domain.consultations import asking as consultations
from league.domain.core.errors import Refused, shown
from league.domain.jobs.handlers.requests import PATIENCE
from league.domain.judgements import asking
from league.domain.matches import replays, sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.talk.places import Place
from league.enums import JudgementKind, MatchStatus
from league.models import Board, Match, Party, RatingPoint, Sitting
from league.service import changes, topics
from league.web.common import lists, talk
from league.web.common.choice_words import usual_of
from league.web.common.inputs import whole_number
from league.web.common.viewers import player_of, user_of, viewer_of
from league.web.matches import comparing, consulting, judging, luck, narrate, pictures
from league.web.matches.column import column
from league.web.matches.record import shown_moments
from league.web.matches.seats import party_names, score_of, seat_bots, seat_names, seat_sides, seats_of
from league.web.matches.timing import times
from league.web.matches.viewer import for_viewer

OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)
# Change counters of everything that the pages of one match show.
SHOWN = (
    changes.MATCHES,
    changes.BOTS,
    changes.AUDITS,
    changes.POOLS,
    changes.TOURNAMENTS,
    changes.JUDGEMENTS,
)


@changes.kept_until(changes.MATCHES, changes.BOTS)
def matches(request: HttpRequest) -> HttpResponse:
    """List all matches, newest first; `?status=` and `?game=` filter. Two queries."""
    rows = lists.latest_matches(user_of(request))
    status, game = request.GET.get("status", ""), request.GET.get("game", "")
    if status in MatchStatus.values:
        rows = rows.filter(status=status)
    if game in engine.games():
        rows = rows.filter(pool__game=game)
    context = {
        "page": lists.page_of(request, rows),
        "status": status,
        "game": game,
        "statuses": MatchStatus.choices,
        "games": engine.games(),
    }
    return render(request, "matches/matches.html", context)


def _match(request: HttpRequest, public_id: str) -> Match:
    rows = sight.readable(user_of(request)).select_related("pool", "tournament", "log").defer("tournament__secret")
    return get_object_or_404(rows, public_id=public_id)


def parties_of(match: Match) -> list[Party]:
    """Return the parties of a match with their bots. One query."""
    return list(match.parties.select_related("version__bot__owner", "version__bot__team").order_by("number"))


def _sittings(match: Match) -> Iterator[Sitting]:
    """Yield the sittings of a match. They share the `match` object, so that its log is read only once."""
    yield from _of(match, _rows(match).iterator())


def _rows(match: Match) -> QuerySet[Sitting]:
    return Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")


def _of(match: Match, rows: Iterable[Sitting]) -> Iterator[Sitting]:
    for sitting in rows:
        sitting.board.match = match
        yield sitting


def chosen_sitting(match: Match, query: Mapping[str, str]) -> Sitting | None:
    """Return the sitting in `?b=` (board) and `?s=` (sitting), else the first one. At most two queries."""
    board, sitting = whole_number(query.get("b")), whole_number(query.get("s"))
    chosen = None
    if board is not None and sitting is not None:
        chosen = _rows(match).filter(board__number=board, number=sitting).first()
    chosen = chosen or _rows(match).first()
    if chosen:
        chosen.board.match = match
    return chosen


@changes.kept_until(*SHOWN, changes.TALK)
def match(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a match: parties, boards and one sitting (`?b=board&s=sitting`). Thirteen queries, a few more with consultations and comments."""
    topics.follow(request, topics.of_match(public_id))
    row = _match(request, public_id)
    if row.status in OVER:
        topics.leave(request)
    viewer = viewer_of(request)
    parties = parties_of(row)
    changes = {point.version_id: point for point in row.rating_points.all()}
    views = [(replays.party_view(party, viewer), changes.get(party.version_id)) for party in parties]
    size = engine.load(row.pool.game, players=row.pool.players).score_size
    context: dict[str, Any] = {
        "match": row,
        "shown": views,
        "parties": parties,
        "size": size,
        "heads": list(zip(parties, party_names(parties), range(len(parties)), strict=True)),
        "surprise": any(_gained_by_losing(party, changes.get(party.version_id), parties) for party in parties),
        "private": any(view.private for view in (view for view, _change in views)),
        "broken": any(view.private and view.faults for view, _change in views),
        "picture": pictures.of_match(row, parties, size, range(len(parties))),
    }
    closed = replays.reason_closed(row)
    if closed and row.status in (MatchStatus.FINISHED, MatchStatus.VOID):
        context["closed"] = shown(closed)
    if not closed:
        context["audits"] = list(results.of_match(row))
        sitting = chosen_sitting(row, request.GET)
        if sitting is None and row.status == MatchStatus.FINISHED:
            context["unreadable"] = [_("the boards of this match have been deleted; its result still counts")]
            return render(request, "matches/match.html", context, status=410)
        if sitting:
            context |= _boards_context(row, sitting, parties)
            try:
                record = replays.replay(sitting, viewer)
            except replays.Unreadable as error:
                context["unreadable"] = [shown(error)]
                return render(request, "matches/match.html", context, status=error.status)
            own = {view.party.number for view, _change in views if view.private}
            own_ids = ownership.allowed_bots(viewer, (party.version.bot for party in parties), BotAct.CODE)
            own_bots = [party for party in parties if party.version.bot_id in own_ids]
            context["own"] = (
                bool(own_bots) and "pass" in record
            )  # Older records have no passes, so conversations cannot be rebuilt.
            names, bots = seat_names(sitting, parties), seat_bots(sitting, parties)
            moments = shown_moments(record)
            usual = usual_of(row, record)
            context["lines"] = [
                replace(line, usual=usual.get(line.anchor)) for line in narrate.narrate(moments, names, bots)
            ]
            context["notes"] = record.get("notes", [])
            sides = seat_sides(record, sitting.seating)
            context["heads"] = [
                (party, name, next((sides[seat] for seat in seats_of(sitting, party.number)), party.number))
                for party, name in zip(parties, party_names(parties), strict=True)
            ]
            context |= _shared(request, row, sitting, parties, moments, context["lines"])
            context["talk"] = _talk(request, row, sitting, context["lines"])
            context["own_parties"] = {party.number for party in own_bots}
            context["own_seats"] = [
                seat for seat, party in enumerate(sitting.seating) if party in context["own_parties"]
            ]
            if row.status == MatchStatus.FINISHED and context["lines"]:
                context |= _judgements(request, row, sitting, parties, names, context["lines"])
                if "pass" in record:  # See "own" above.
                    section = _consultations(request, row, sitting, names)
                    consulting.show_position(section, context["lines"], request.GET.get("step", ""), context["judged"])
                    if section.every or section.bots or viewer is None:
                        context |= {"consulted": section, "lines": consulting.mark(context["lines"], section)}
            context["times"] = times(record, {seat for seat, party in enumerate(sitting.seating) if party in own})
        context["tab"] = _tab(request, context)
    return render(request, "matches/match.html", context)


def _shared(
    request: HttpRequest,
    match: Match,
    sitting: Sitting,
    parties: list[Party],
    moments: list[dict[str, Any]],
    lines: list[narrate.Sentence],
) -> dict[str, Any]:
    """Return the links for sharing this page: a frame, and an address of its board or, with `?step=`, of a step, with its picture."""
    place: dict[str, Any] = {"b": sitting.board.number, "s": sitting.number}
    shared: dict[str, Any] = {}
    if lines and sight.is_public(match):
        shared["embed"] = f"{reverse('embed-match', args=[match.public_id])}?{urlencode(place)}"
    step = request.GET.get("step", "")
    if any(line.anchor == step for line in lines):
        place["step"] = step
    elif not request.GET.keys() & place.keys():
        return shared
    names = seat_names(sitting, parties)
    picture = pictures.of_step(match, sitting.board, parties, moments, lines, names, step)
    return shared | {"shared": f"?{urlencode(place)}", "picture": picture}


def _talk(
    request: HttpRequest, match: Match, sitting: Sitting, lines: list[narrate.Sentence]
) -> talk.TalkSection | None:
    """Return the comments on a sitting; with `?step=` those at that step, if there are any."""
    steps = {line.anchor: strip_tags(line.html) for line in lines}
    place = Place(match=match, board=sitting.board.number, sitting=sitting.number)
    step = request.GET.get("step", "")
    return talk.section(request, place, step=step if step in steps else "", steps=steps)


TABS = ("decisions", "boards", "ask", "sent", "talk", "about")


def _tab(request: HttpRequest, context: dict[str, Any]) -> str:
    """Return the tab that is open at first: the one in the address, else the one with most contents."""
    tab = request.GET.get("tab", "ask" if "w" in request.GET else "decisions" if "j" in request.GET else "")
    parts = {"decisions": "judgements", "ask": "consulted", "sent": "private", "talk": "talk"}
    if tab in TABS and context.get(parts.get(tab, "match")):
        return tab
    if context["broken"]:
        return "sent"
    judged = context.get("judged")
    return "decisions" if judged is not None and (judged.graph or judged.worst) else "boards"


def _judgements(
    request: HttpRequest,
    match: Match,
    sitting: Sitting,
    parties: list[Party],
    names: list[str],
    lines: list[narrate.Sentence],
) -> dict[str, Any]:
    """Return both kinds of analysis for the template. One query, and some more if there are results."""
    selected = request.GET.get("j", "")
    sections = judging.views(match, selected, sitting, parties, names, lines)
    if any(section.waits for section in sections):
        topics.follow(request, changes.JUDGEMENTS)
        sections = judging.views(
            match, selected, sitting, parties, names, lines
        )  # Read again, because the state may be older than the topic.
    context: dict[str, Any] = {
        "judgements": sections,
        "deals": settings.JUDGE_DEALS,
        "a_day": settings.QUOTA_JUDGEMENTS,
        "failed_days": asking.FAILED_DAYS,
        "patience_min": round(PATIENCE.total_seconds() / 60),
    }
    context["drawn"] = any(section.graph for section in sections)
    context["judged"] = next((section for section in sections if section.chosen), None)
    return context


def _gained_by_losing(party: Party, point: RatingPoint | None, parties: list[Party]) -> bool:
    """Return True if a party lost the match by boards and its rating rose, or won it and its rating fell."""
    if point is None or party.wins is None or len(parties) != 2:
        return False
    lead = party.wins - (party.losses or 0)
    points_lead = (party.points or 0) - max((other.points or 0) for other in parties if other is not party)
    return point.change * (lead or points_lead) < 0


def _consultations(
    request: HttpRequest, match: Match, sitting: Sitting, names: list[str]
) -> consulting.ConsultationSection:
    """Return the consultations of this sitting. One query, two if the viewer may ask."""
    selected = request.GET.get("w", ""), whole_number(request.GET.get("at"))
    section = consulting.view(match, sitting, names, selected, viewer_of(request))
    if section.waits:
        topics.follow(request, changes.JUDGEMENTS)
        section = consulting.view(
            match, sitting, names, selected, viewer_of(request)
        )  # Read again, because the state may be older than the topic.
    return section


@login_required
@require_POST
def consult(request: HttpRequest, public_id: str) -> HttpResponse:
    """Ask a house bot about a seat of a sitting, then return to the page of the sitting."""
    match = _match(request, public_id)
    bot = request.POST.get("bot", "")
    board, sitting, seat = (whole_number(request.POST.get(name)) for name in ("b", "s", "seat"))
    if board is None or sitting is None or seat is None:
        raise Http404
    try:
        consultations.ask(match, board, sitting, seat, bot, player_of(request))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    query = urlencode({"b": board, "s": sitting, "w": bot, "at": seat})
    return redirect(f"{reverse('match', args=[match.public_id])}?{query}#consultation")


@login_required
@require_POST
def judge(request: HttpRequest, public_id: str) -> HttpResponse:
    """Request an analysis of a match, then return to its page."""
    match = _match(request, public_id)
    kind = request.POST.get("kind", "")
    if kind not in JudgementKind.values:
        raise Http404
    try:
        asking.ask(match, kind, player_of(request))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    board, sitting = whole_number(request.POST.get("b")), whole_number(request.POST.get("s"))
    place = f"b={board}&s={sitting}&" if board is not None and sitting is not None else ""
    return redirect(f"{reverse('match', args=[match.public_id])}?{place}j={kind}#judgement")


def _boards_context(match: Match, sitting: Sitting, parties: list[Party]) -> dict[str, Any]:
    boards = list(match.boards.prefetch_related("sittings").order_by("number"))
    at = next(at for at, board in enumerate(boards) if board.number == sitting.board.number)
    return {
        "sitting": sitting,
        "board": sitting.board,
        "before": boards[at - 1].number if at else None,
        "after": boards[at + 1].number if at + 1 < len(boards) else None,
        "last_board": boards[-1].number,
        "sittings": sorted(row.number for row in boards[at].sittings.all()),
        "boards": [
            (
                board,
                [
                    (sitting_row, [score_of(sitting_row, party.number) for party in parties])
                    for sitting_row in board.sittings.all()
                ],
            )
            for board in boards
        ],
        "names": seat_names(sitting, parties),
    }


@changes.kept_until(*SHOWN)
def board(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """Show all sittings of a board side by side, with the suits of the deal. Seven queries."""
    match = _match(request, public_id)
    row = get_object_or_404(Board.objects.prefetch_related("sittings"), match=match, number=number)
    if replays.reason_closed(match):
        raise Http404
    parties = parties_of(match)
    game = engine.load(match.pool.game, players=match.pool.players, **match.pool.options)
    columns, playings, unreadable = [], [], []
    row.match = match
    for sitting in sorted(row.sittings.all(), key=lambda item: item.number):
        sitting.board = row
        try:
            record = replays.unpack(sitting)
            moments = shown_moments({**record, "events": comparing.plain(record, game.pack.suits)})
            playings.append((moments, seat_names(sitting, parties), seat_bots(sitting, parties)))
        except replays.Unreadable as error:
            unreadable.append(error)
        results = [
            (party, [seat + 1 for seat in seats_of(sitting, party.number)], score_of(sitting, party.number))
            for party in parties
        ]
        columns.append((sitting, results))
    others = match.boards.order_by("number")
    context = {
        "match": match,
        "board": row,
        "parties": parties,
        "columns": columns,
        "deals": [] if unreadable else comparing.compare(playings),
        "unreadable": [shown(error) for error in unreadable],
        "size": game.score_size,
        "before": others.filter(number__lt=number).values_list("number", flat=True).last(),
        "after": others.filter(number__gt=number).values_list("number", flat=True).first(),
        "key": f"{game.key} · {match.table} · {number}",
        "picture": pictures.of_deal(match, row, parties, playings[0][0] if playings else ()),
    }
    if playings and sight.is_public(match):
        context["embed"] = f"{reverse('embed-match', args=[match.public_id])}?b={number}&s=0"
    if not unreadable and match.status == MatchStatus.FINISHED:
        context["luck"] = luck.of_board(match, [sitting for sitting, _results in columns], number, parties)
    return render(request, "matches/board.html", context, status=max((item.status for item in unreadable), default=200))


@changes.kept_until(*SHOWN)
def replay_json(request: HttpRequest, public_id: str) -> HttpResponse:
    """Return the events that this viewer may see, for the replay viewer. `?as=` restricts them to a seat or to `public`."""
    match = _match(request, public_id)
    sitting = chosen_sitting(match, request.GET)
    if sitting is None:
        if why := replays.gone(public_id, match.first_board, 0):
            return JsonResponse({"error": shown(why)}, status=why.status)
        raise Http404
    perspective = request.GET.get("as")
    number = whole_number(perspective)
    try:
        record = replays.replay(sitting, viewer_of(request), perspective if number is None else number)
    except replays.Unreadable as error:
        return JsonResponse({"error": shown(error)}, status=error.status)
    except Refused as refusal:
        return JsonResponse({"error": shown(refusal)}, status=409 if replays.reason_closed(match) else 400)
    answer = for_viewer(record, seat_bots(sitting, parties_of(match)), sitting.seating)
    response = JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})
    patch_vary_headers(response, ["Accept-Language", "Cookie"])
    return response


def replay_log(request: HttpRequest, public_id: str) -> StreamingHttpResponse:
    """Download all replays of a finished match, one per line, for `tute verify` and `tute repro`. Only owners get the notes of a bot.

    A replay that cannot be shown becomes a line with an `error`, which makes both programs fail, so that nobody takes the log for complete.
    """
    match = _match(request, public_id)
    viewer = viewer_of(request)
    if replays.reason_closed(match):
        raise Http404

    def line(sitting: Sitting) -> str:
        try:
            data = replays.replay(sitting, viewer)
        except replays.Unreadable as error:
            data = {
                "error": shown(error),
                "status": error.status,
                "board": sitting.board.number,
                "sitting": sitting.number,
            }
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"

    response = StreamingHttpResponse(map(line, _sittings(match)), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{match.public_id}.jsonl"'
    patch_vary_headers(response, ["Cookie"])
    return response


def replay_text(request: HttpRequest, public_id: str) -> HttpResponse:
    """Return the match as text, like a newspaper's bridge column: all boards, one (`?b=`) or one sitting (`?b=&s=`)."""
    tournament = sight.find_tournament_of(public_id)
    changes.keep_until(
        request, changes.MATCHES if tournament is None else changes.of_tournament(tournament), changes.BOTS
    )
    match = _match(request, public_id)
    if closed := replays.reason_closed(match):
        return HttpResponse(shown(closed) + "\n", content_type="text/plain; charset=utf-8", status=409)
    parties = parties_of(match)
    rows = _rows(match)
    for name, lookup in (("b", "board__number"), ("s", "number")):
        if name in request.GET:
            number = whole_number(request.GET[name])
            rows = rows.none() if number is None else rows.filter(**{lookup: number})
    title = " – ".join(str(party.version) for party in parties)
    parts, status = [f"{match.public_id}  {title}\n"], 200
    for sitting in _of(match, rows.iterator()):
        try:
            moments = shown_moments(replays.unpack(sitting))
        except replays.Unreadable as error:
            parts.append(shown(error) + "\n")
            status = max(status, error.status)
            continue
        names, bots = seat_names(sitting, parties), seat_bots(sitting, parties)
        parts.append(column(sitting.board.number, sitting.number, names, bots, moments))
    return HttpResponse("\n".join(parts), content_type="text/plain; charset=utf-8", status=status)
