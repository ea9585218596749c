"""Puzzles for people: a position as its seat saw it, the choices and their costs. Everything works without scripts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_safe

import engine
from engine.puzzles import Puzzle
from engine.rules.terms import GAME_SCORE
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.puzzles import answers, shelf
from league.domain.puzzles.shelf import Shelf
from league.domain.talk import places
from league.domain.talk.places import Place
from league.web.common import families, talk, words
from league.web.common.inputs import is_own_form
from league.web.common.viewers import viewer_of
from league.web.matches import narrate, pictures
from league.web.matches.offers import chosen, offer
from league.web.matches.record import shown_moments
from league.web.matches.viewer import for_viewer

SURE = 1.96  # Standard errors of a 95 % interval.


@never_cache
@require_safe
def puzzles(request: HttpRequest) -> HttpResponse:
    """List the games that have puzzles, with the viewer's progress. One query, three if signed in."""
    if not settings.PUZZLES:
        raise Http404
    puzzle_shelf = shelf.shelf()
    viewer = viewer_of(request)
    tally = answers.tally(viewer) if viewer else {}
    answered = answers.tried(viewer) if viewer else frozenset()
    rows = []
    for game in families.game_order():
        ones = puzzle_shelf.by_game.get(game, [])
        if not ones:
            continue
        first = next((item for item in ones if item.id not in answered), ones[0])
        tried, right = tally.get(game, (0, 0))
        rows.append({"game": game, "count": len(ones), "first": first, "tried": tried, "right": right})
    context = {
        "rows": rows,
        "day": puzzle_shelf.of_day(clock.present().date(), families.game_order()),
        "signed_in": viewer is not None,
    }
    return render(request, "puzzles/puzzles.html", context)


@never_cache
# The front page has the puzzle of the day without a token, because it comes from a cache; see is_own_form.
@csrf_exempt
def puzzle(request: HttpRequest, identity: str) -> HttpResponse:
    """Show a puzzle, and the verdict on an answer. One query; two more for the answer of a signed-in player, and up to four for comments."""
    return _puzzle(request, identity) if is_own_form(request) else _with_token(request, identity)


def _puzzle(request: HttpRequest, identity: str) -> HttpResponse:
    puzzle_shelf = shelf.shelf()
    item = _found(puzzle_shelf, identity)
    viewer = viewer_of(request)
    context: dict[str, Any] = {}
    status = 200
    if request.method == "POST":
        try:
            verdict = answers.answer(item, chosen(request, item.legal), viewer)
        except Refused as refusal:
            context["refused"], status = shown(refusal), 422
        else:
            context |= {"verdict": verdict, "choices": _choices(item, verdict.answer)}
            context["mine"] = capfirst(words.action_name(verdict.answer))
            context["best"] = ", ".join(map(words.action_name, item.best))
            context |= {"error": SURE * item.error, "place": _place(item) if item.id in puzzle_shelf.own else ""}
            context["next"] = puzzle_shelf.next_after(item, answers.tried(viewer) if viewer else frozenset())
    game = engine.load(item.game, players=item.players, **item.options)
    names = names_of(item)
    place = Place(puzzle=item.id) if "verdict" in context else places.of_puzzle(item.id, viewer)
    context |= {
        "talk": talk.section(request, place) if place else None,
        "one": item,
        "lines": narrate.narrate((moments := shown_moments(record_of(item))), names, names, item.seat),
        "picture": pictures.of_puzzle(item, moments, names_of(item, short=True)),
        "embed": reverse("embed-puzzle", args=[item.id]),
        "offer": offer(item.legal, item.hand),
        "unit": game.score_unit,
        "size": GAME_SCORE if game.score_unit == "games" else 1,
    }
    return render(request, "puzzles/puzzle.html", context, status=status)


_with_token = csrf_protect(_puzzle)


@never_cache
@require_safe
def puzzle_json(_request: HttpRequest, identity: str) -> JsonResponse:
    """Return the record of a puzzle for the replay viewer."""
    item = _found(shelf.shelf(), identity)
    answer = for_viewer(record_of(item), names_of(item, short=True), list(range(item.players)), item.seat)
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


@require_safe
def puzzles_jsonl(_request: HttpRequest) -> StreamingHttpResponse:
    """Download all puzzles, for `tute puzzles try`."""
    puzzle_shelf = shelf.shelf()
    if not puzzle_shelf.by_id:
        raise Http404
    lines = (f"{item.line()}\n" for item in puzzle_shelf.by_id.values())
    header = {"Content-Disposition": 'attachment; filename="puzzles.jsonl"'}
    return StreamingHttpResponse(lines, content_type="application/jsonl", headers=header)


def _found(puzzle_shelf: Shelf, identity: str) -> Puzzle:
    item = puzzle_shelf.by_id.get(identity)
    if item is None:
        raise Http404
    return item


def _place(item: Puzzle) -> str:
    """Return the address of the sitting from which the puzzle comes."""
    at = item.source
    return f"{reverse('match', args=[at['match']])}?b={at['board']}&s={at['sitting']}"


def names_of(item: Puzzle, *, short: bool = False) -> list[str]:
    """Return a name for each seat; short: for the plates on the table."""
    sides = engine.load(item.game, players=item.players, **item.options).sides
    return [words.seat_of_puzzle(seat, item.seat, sides, short=short) for seat in range(item.players)]


def record_of(item: Puzzle) -> dict[str, Any]:
    """Return the record of the position as its seat saw it."""
    events = [{**event, "to": [item.seat]} if event["e"] == "deal" else event for event in item.events]
    return {"game": item.game, "players": item.players, "options": item.options, "events": events}


def _choices(item: Puzzle, answer: str) -> list[dict[str, Any]]:
    """Return every choice with its cost, the best first."""
    return [
        {
            "text": words.action_name(text),
            "lost": lost,
            "right": text in item.best,
            "mine": text == answer,
        }
        for text, lost in sorted(item.lost.items(), key=lambda cost: (cost[1], item.legal.index(cost[0])))
    ]
