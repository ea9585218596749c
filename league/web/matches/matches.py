"""Matches: the list, one match with its replay, the record as JSON and as text."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

import engine
from league.domain.core.errors import Refused, shown
from league.domain.matches import replays
from league.enums import MatchStatus
from league.models import Board, Match, Party, Sitting
from league.web.common import asked, queries, words
from league.web.matches import comparing, narrate
from league.web.matches.column import column
from league.web.matches.record import shown_events
from league.web.matches.timing import times

UNSEEN = ("seed", "actions", "timings", "faults", "meta")  # parts of a record that the viewer has no use for


def matches(request: HttpRequest) -> HttpResponse:
    """All matches from the newest; `?status=` and `?game=` filter. Three queries."""
    rows = queries.latest_matches()
    status, game = request.GET.get("status", ""), request.GET.get("game", "")
    if status in MatchStatus.values:
        rows = rows.filter(status=status)
    if game in engine.games():
        rows = rows.filter(pool__game=game)
    context = {
        "page": queries.page(request, rows),
        "status": status,
        "game": game,
        "statuses": MatchStatus.choices,
        "games": engine.games(),
    }
    return render(request, "matches/matches.html", context)


def _match(public_id: str) -> Match:
    rows = Match.objects.select_related("pool", "tournament").defer("secret", "tournament__secret")
    return get_object_or_404(rows, public_id=public_id)


def _parties(match: Match) -> list[Party]:
    return list(match.parties.select_related("version__bot__owner").order_by("number"))


def _sitting(match: Match, board: int | None, sitting: int | None) -> Sitting | None:
    """The asked sitting, else the first one. One query."""
    rows = Sitting.objects.filter(board__match=match).select_related("board")
    found = rows.filter(board__number=board, number=sitting).first() or rows.order_by("board__number", "number").first()
    if found:
        found.board.match = match
    return found


def _names(sitting: Sitting, parties: list[Party]) -> list[str]:
    """One name per seat; a bot that holds several seats is told apart by a number."""
    names = _bots(sitting, parties)
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(f"{name} {seen[name]}" if names.count(name) > 1 else name)
    return told


def _bots(sitting: Sitting, parties: list[Party]) -> list[str]:
    """Who holds each seat: the slug, with its version where two versions of one bot meet."""
    slugs = {party.version.bot.slug: set[int]() for party in parties}
    for party in parties:
        slugs[party.version.bot.slug].add(party.version_id)
    held = [parties[number].version for number in sitting.seating]
    return [v.bot.slug if len(slugs[v.bot.slug]) == 1 else f"{v.bot.slug} v{v.number}" for v in held]


def match(request: HttpRequest, public_id: str) -> HttpResponse:
    """One match: parties, boards, and the chosen sitting (`?b=board&s=sitting`) step by step. Eight queries."""
    found = _match(public_id)
    viewer = queries.viewer(request)
    parties = _parties(found)
    changes = {point.version_id: point for point in found.rating_points.all()}
    shown = [(replays.party_view(party, viewer), changes.get(party.version_id)) for party in parties]
    size = engine.load(found.pool.game, players=found.pool.players).score_size
    context: dict[str, Any] = {"match": found, "shown": shown, "parties": parties, "size": size}
    if not replays.reason_closed(found):
        sitting = _sitting(found, asked.number(request.GET.get("b")), asked.number(request.GET.get("s")))
        if sitting:
            record = replays.replay(sitting, viewer)
            own = {view.party.number for view, _ in shown if view.private}
            context |= _replay_context(found, sitting, parties, record)
            context["times"] = times(record, {seat for seat, party in enumerate(sitting.seating) if party in own})
    return render(request, "matches/match.html", context)


def _replay_context(found: Match, sitting: Sitting, parties: list[Party], record: dict[str, Any]) -> dict[str, Any]:
    boards = list(found.boards.prefetch_related("sittings").order_by("number"))
    for board in boards:
        for one in board.sittings.all():
            one.by_party = [None] * len(parties)
            for seat, party in enumerate(one.seating):
                one.by_party[party] = one.scores[seat] if one.by_party[party] is None else one.by_party[party]
    return {
        "sitting": sitting,
        "board": sitting.board,
        "boards": boards,
        "names": _names(sitting, parties),
        "lines": narrate.narrate(shown_events(record), _names(sitting, parties), _bots(sitting, parties)),
        "notes": record.get("notes", []),
    }


def board(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """One board of a finished match: all its sittings side by side, in the suits of the deal. Six queries."""
    found = _match(public_id)
    row = get_object_or_404(Board.objects.prefetch_related("sittings"), match=found, number=number)
    if replays.reason_closed(found):
        raise Http404
    parties = _parties(found)
    game = engine.load(found.pool.game, players=found.pool.players, **found.pool.options)
    columns, playings = [], []
    for sitting in sorted(row.sittings.all(), key=lambda one: one.number):
        sitting.board = row
        record = replays.unpack(sitting)
        names, bots = _names(sitting, parties), _bots(sitting, parties)
        events = shown_events({**record, "events": comparing.plain(record, game.pack.suits)})
        playings.append((events, names, bots))
        seats = [[seat + 1 for seat, held in enumerate(sitting.seating) if held == party.number] for party in parties]
        scores = [sitting.scores[held[0] - 1] if held else None for held in seats]
        columns.append((sitting, list(zip(parties, seats, scores, strict=True))))
    others = found.boards.order_by("number")
    context = {
        "match": found,
        "board": row,
        "parties": parties,
        "columns": columns,
        "deals": comparing.compare(playings),
        "size": game.score_size,
        "before": others.filter(number__lt=number).values_list("number", flat=True).last(),
        "after": others.filter(number__gt=number).values_list("number", flat=True).first(),
        "key": f"{game.key} · {found.table} · {number}",
    }
    return render(request, "matches/board.html", context)


def replay_json(request: HttpRequest, public_id: str) -> HttpResponse:
    """What the viewer folds: the events that this reader may see, and the words it shows. `?as=` a seat or `public` restricts."""
    found = _match(public_id)
    sitting = _sitting(found, asked.number(request.GET.get("b")), asked.number(request.GET.get("s")))
    if sitting is None:
        raise Http404
    text = request.GET.get("as")
    seat = text if asked.number(text) is None else asked.number(text)
    try:
        record = replays.replay(sitting, queries.viewer(request), seat)
    except Refused as refusal:
        return JsonResponse({"error": shown(refusal)}, status=409 if replays.reason_closed(found) else 400)
    parties = _parties(found)
    sides = _sides(record, sitting)
    answer = {name: value for name, value in record.items() if name not in UNSEEN} | {"events": shown_events(record)}
    answer["seats"] = [
        {"name": name, "bot": bot, "party": party, "side": side}
        for name, bot, party, side in zip(
            _names(sitting, parties), _bots(sitting, parties), sitting.seating, sides, strict=True
        )
    ]
    answer["cards"] = words.card_names()
    answer["labels"] = words.badge_labels() | {
        "suits": {suit: words.suit_name(suit) for suit in words.SUITS},
        "faults": {kind: words.fault_name(kind) for kind in words.FAULTS},
    }
    answer["unit"] = engine.load(found.pool.game, players=found.pool.players).score_unit
    response = JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})
    patch_vary_headers(response, ["Accept-Language", "Cookie"])
    return response


def _sides(record: dict[str, Any], sitting: Sitting) -> list[int]:
    """The side of every seat, as the record's header states it."""
    sides = next((event["sides"] for event in record.get("events", ()) if event["e"] == "match"), None)
    if sides is None:
        return list(sitting.seating)
    return [next(number for number, seats in enumerate(sides) if seat in seats) for seat in range(len(sitting.seating))]


def log(request: HttpRequest, public_id: str) -> StreamingHttpResponse:
    """All replays of a finished match, one a line: what `tute verify` and `tute repro` read. Notes of a bot are for its owner."""
    found = _match(public_id)
    rows = Sitting.objects.filter(board__match=found).select_related("board").order_by("board__number", "number")
    viewer = queries.viewer(request)
    if replays.reason_closed(found):
        raise Http404

    def line(sitting: Sitting) -> str:
        sitting.board.match = found
        return json.dumps(replays.replay(sitting, viewer), separators=(",", ":"), ensure_ascii=False) + "\n"

    response = StreamingHttpResponse(map(line, rows.iterator()), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{found.public_id}.jsonl"'
    patch_vary_headers(response, ["Cookie"])
    return response


def text(request: HttpRequest, public_id: str) -> HttpResponse:
    """The match like a newspaper's bridge column: all boards, or one (`?b=`), or one sitting of it (`?b=&s=`)."""
    found = _match(public_id)
    if replays.reason_closed(found):
        return HttpResponse(
            _("This match is not over yet.") + "\n", content_type="text/plain; charset=utf-8", status=409
        )
    parties = _parties(found)
    rows = Sitting.objects.filter(board__match=found).select_related("board").order_by("board__number", "number")
    if "b" in request.GET:
        rows = rows.filter(board__number=asked.number(request.GET.get("b")))
    if "s" in request.GET:
        rows = rows.filter(number=asked.number(request.GET.get("s")))
    title = " – ".join(str(party.version) for party in parties)
    parts = [f"{found.public_id}  {title}\n"]
    for sitting in rows.iterator():
        sitting.board.match = found
        record = replays.unpack(sitting)
        parts.append(
            column(
                sitting.board.number,
                sitting.number,
                _names(sitting, parties),
                _bots(sitting, parties),
                shown_events(record),
            )
        )
    return HttpResponse("\n".join(parts), content_type="text/plain; charset=utf-8")
