"""Replays for frames on other sites, and their descriptions by oEmbed (https://oembed.com). Everybody gets what an anonymous reader sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

import engine
from league.domain.matches import replays, sight
from league.domain.puzzles import shelf
from league.domain.tables import seating
from league.models import Match
from league.service import changes
from league.web.common.game_lines import game_title
from league.web.common.inputs import whole_address, whole_number
from league.web.matches import narrate, pictures, puzzles, tables
from league.web.matches.record import shown_moments
from league.web.matches.seats import numbered, party_names, seat_bots, seat_names
from league.web.matches.views import SHOWN, chosen_sitting, parties_of
from league.web.previews import embeds, links
from league.web.previews.drawing import HEIGHT, WIDTH, Picture


@dataclass(frozen=True)
class Framed:
    """A replay for a frame.

    page, frame, record: the addresses of its page on the site, of its page for frames, and of its record; lines: its steps in words; hands: the
    dealt hands; at_end: True if only its last step is of interest.
    """

    title: str
    about: str
    page: str
    frame: str
    record: str
    lines: list[narrate.Sentence]
    hands: list[list[str]]
    picture: Picture
    at_end: bool = False


@embeds.for_frames
@require_safe
@changes.kept_until(*SHOWN)
def embed_match(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a sitting of a match (`?b=` and `?s=`) in a frame. Four queries."""
    return _show(request, _of_match(public_id, request.GET))


@embeds.for_frames
@require_safe
def embed_puzzle(request: HttpRequest, identity: str) -> HttpResponse:
    """Show the position of a puzzle in a frame. At most one query."""
    return _show(request, _of_puzzle(identity))


@embeds.for_frames
@require_safe
@never_cache
def embed_table(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a hand (`?b=`) of a finished table in a frame. Two queries."""
    return _show(request, _of_table(public_id, request.GET))


@require_safe
@never_cache
def embed_table_json(request: HttpRequest, public_id: str) -> JsonResponse:
    """Return the record of a hand of a finished table as a stranger sees it. Two queries."""
    view = seating.visible(None, public_id)
    if view is None or not view.row.records:
        raise Http404
    return tables.record_response(request, view)


def _show(request: HttpRequest, framed: Framed | None) -> HttpResponse:
    page = whole_address(request, framed.page if framed else reverse("home"))
    return render(request, "matches/embed.html", {"framed": framed, "page": page}, status=200 if framed else 404)


@require_safe
@changes.kept_until(*SHOWN)
def oembed(request: HttpRequest) -> JsonResponse:
    """Describe the frame for the page in `?url=`, at most `?maxwidth=` wide and `?maxheight=` high. Four queries at most."""
    if request.GET.get("format", "json") != "json":
        return _refuse(_("Only the format json is served."), 501)
    framed = _named(request, request.GET.get("url", ""))
    if framed is None:
        return _refuse(_("There is no replay to embed at this address."), 404)
    most_wide, most_high = (whole_number(request.GET.get(name)) for name in ("maxwidth", "maxheight"))
    width = min(embeds.WIDTH, most_wide or embeds.WIDTH)
    height = min(embeds.HEIGHT, most_high or embeds.HEIGHT)
    answer: dict[str, Any] = {
        "version": "1.0",
        "type": "rich",
        "title": framed.title,
        "provider_name": _("Tute League"),
        "provider_url": whole_address(request, reverse("home")),
        "width": width,
        "height": height,
        "html": embeds.frame(whole_address(request, framed.frame), framed.title, width, height),
    }
    if (most_wide or WIDTH) >= WIDTH and (most_high or HEIGHT) >= HEIGHT:
        answer["thumbnail_url"] = whole_address(request, links.address(framed.picture))
        answer |= {"thumbnail_width": WIDTH, "thumbnail_height": HEIGHT}
    return _public(JsonResponse(answer))


def _refuse(why: str, status: int) -> JsonResponse:
    return _public(JsonResponse({"error": why}, status=status))


def _public(response: JsonResponse) -> JsonResponse:
    """Allow scripts of every site to read a response, which contains nothing about its reader."""
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


def _named(request: HttpRequest, url: str) -> Framed | None:
    """Return the replay of the page at an address of this site; None for every other address."""
    try:
        parts = urlsplit(url)
        page = resolve(parts.path)
    except (ValueError, Resolver404):
        return None
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != request.get_host().lower():
        return None
    query = dict(parse_qsl(parts.query))
    match page.view_name:  # Addresses of the API have the same names, in a namespace.
        case "match":
            return _of_match(page.kwargs["public_id"], query)
        case "board":
            return _of_match(page.kwargs["public_id"], {"b": str(page.kwargs["number"]), "s": "0"})
        case "table":
            return _of_table(page.kwargs["public_id"], query)
        case "puzzle":
            return _of_puzzle(page.kwargs["identity"])
    return None


def _of_match(public_id: str, query: Mapping[str, str]) -> Framed | None:
    """Return a sitting of a match that everybody may see; None if there is none, which does not reveal if the match exists."""
    rows = Match.objects.select_related("pool", "tournament", "log").defer("tournament__secret")
    match = sight.matches(rows, None).filter(public_id=public_id).first()
    sitting = chosen_sitting(match, query) if match is not None and not replays.reason_closed(match) else None
    if match is None or sitting is None:
        return None
    try:
        moments = shown_moments(replays.replay(sitting))
    except replays.Unreadable:
        return None
    parties = parties_of(match)
    names = seat_names(sitting, parties)
    lines = narrate.narrate(moments, names, seat_bots(sitting, parties))
    if not lines:
        return None
    step, place = query.get("step", ""), {"b": sitting.board.number, "s": sitting.number}
    anchor = f"#{step}" if any(line.anchor == step for line in lines) else ""
    where = f"?{urlencode(place)}"
    return Framed(
        title=" – ".join(party_names(parties)),
        about=f"{game_title(match.pool.game)} · {_('Board %(board)s') % {'board': sitting.board.number}}",
        page=f"{reverse('match', args=[match.public_id])}{where}",
        frame=f"{reverse('embed-match', args=[match.public_id])}{where}{anchor}",
        record=f"{reverse('match-replay', args=[match.public_id])}{where}",
        lines=lines,
        hands=next((moment["hands"] for moment in moments if moment["e"] == "deal" and moment.get("hands")), []),
        picture=pictures.of_step(match, sitting.board, parties, moments, lines, names, step),
    )


def _of_table(public_id: str, query: Mapping[str, str]) -> Framed | None:
    """Return a hand of a finished table, which everybody may see; None does not reveal if there is a running one."""
    view = seating.visible(None, public_id)
    if view is None or not view.row.records:
        return None
    row = view.row
    board = min(max(1, whole_number(query.get("b")) or 1), len(row.scores))
    moments, names = shown_moments(tables.board_record(view, board)), view.names
    game = engine.load(row.pool.game, players=row.pool.players, **row.pool.options)
    address, place = [row.public_id], f"?b={board}"
    return Framed(
        title=" – ".join(numbered(names)),
        about=f"{game_title(row.pool.game)} · {_('Hand %(board)s') % {'board': board}}",
        page=f"{reverse('table', args=address)}{place}",
        frame=f"{reverse('embed-table', args=address)}{place}",
        record=f"{reverse('embed-table-replay', args=address)}{place}",
        lines=narrate.narrate(moments, numbered(names), names),
        hands=next((moment["hands"] for moment in moments if moment["e"] == "deal" and moment.get("hands")), []),
        picture=pictures.of_table(row, game, moments, numbered(names), view.seat),
    )


def _of_puzzle(identity: str) -> Framed | None:
    item = shelf.shelf().by_id.get(identity)
    if item is None:
        return None
    names, moments = puzzles.names_of(item), shown_moments(puzzles.record_of(item))
    return Framed(
        title=_("What would you do?"),
        about=game_title(item.game),
        page=reverse("puzzle", args=[item.id]),
        frame=reverse("embed-puzzle", args=[item.id]),
        record=reverse("puzzle-replay", args=[item.id]),
        lines=narrate.narrate(moments, names, names, item.seat),
        hands=[item.hand if seat == item.seat else [] for seat in range(item.players)],
        picture=pictures.of_puzzle(item, moments, puzzles.names_of(item, short=True)),
        at_end=True,
    )
