"""Puzzles for people: a position as its seat saw it, its choices, and what each of them gives away. Everything works without script."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

import engine
from engine.puzzles import Puzzle
from engine.rules.terms import GAME_SCORE
from league.domain.core.errors import Refused, shown
from league.domain.puzzles import answers, shelf
from league.domain.puzzles.shelf import Shelf
from league.web.common import words
from league.web.common.viewers import viewer_of
from league.web.matches import narrate
from league.web.matches.offers import chosen, offer
from league.web.matches.record import shown_moments
from league.web.matches.viewer import for_viewer

SURE = 1.96  # standard errors: 95 %


@never_cache
@require_safe
def puzzles(request: HttpRequest) -> HttpResponse:
    """The games that have puzzles, and how far one has come. One query, and two for who is signed in."""
    there = shelf.shelf()
    if not there.by_id:
        raise Http404
    viewer = viewer_of(request)
    tally = answers.tally(viewer) if viewer else {}
    done = answers.tried(viewer) if viewer else frozenset()
    rows = []
    for game, ones in sorted(there.by_game.items()):
        first = next((one for one in ones if one.id not in done), ones[0])
        tried, right = tally.get(game, (0, 0))
        rows.append({"game": game, "count": len(ones), "first": first, "tried": tried, "right": right})
    return render(request, "puzzles/puzzles.html", {"rows": rows, "signed_in": viewer is not None})


@never_cache
def puzzle(request: HttpRequest, identity: str) -> HttpResponse:
    """One puzzle; to an answer what it is worth. One query, and for who is signed in two for an answer of theirs."""
    there = shelf.shelf()
    one = _found(there, identity)
    viewer = viewer_of(request)
    context: dict[str, Any] = {}
    status = 200
    if request.method == "POST":
        try:
            verdict = answers.answer(one, chosen(request, one.legal), viewer)
        except Refused as refusal:
            context["refused"], status = shown(refusal), 422
        else:
            context |= {"verdict": verdict, "choices": _choices(one, verdict.answer)}
            context |= {"error": SURE * one.error, "place": _place(one) if one.id in there.own else ""}
            context["next"] = there.next_after(one, answers.tried(viewer) if viewer else frozenset())
    game = engine.load(one.game, players=one.players, **one.options)
    context |= {
        "one": one,
        "names": (names := _names(one)),
        "lines": narrate.narrate(shown_moments(_record(one)), names, names),
        "offer": offer(one.legal, one.hand),
        "size": GAME_SCORE if game.score_unit == "games" else 1,
    }
    return render(request, "puzzles/puzzle.html", context, status=status)


@never_cache
@require_safe
def puzzle_json(_request: HttpRequest, identity: str) -> JsonResponse:
    """What the viewer folds of a puzzle."""
    one = _found(shelf.shelf(), identity)
    answer = for_viewer(_record(one), _names(one), list(range(one.players)))
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})


@require_safe
def puzzles_jsonl(_request: HttpRequest) -> StreamingHttpResponse:
    """All of them as a file, for `tute puzzles try`."""
    there = shelf.shelf()
    if not there.by_id:
        raise Http404
    lines = (f"{one.line()}\n" for one in there.by_id.values())
    header = {"Content-Disposition": 'attachment; filename="puzzles.jsonl"'}
    return StreamingHttpResponse(lines, content_type="application/jsonl", headers=header)


def _found(there: Shelf, identity: str) -> Puzzle:
    one = there.by_id.get(identity)
    if one is None:
        raise Http404
    return one


def _place(one: Puzzle) -> str:
    """The address of the sitting that it comes from."""
    at = one.source
    return f"{reverse('match', args=[at['match']])}?b={at['board']}&s={at['sitting']}"


def _names(one: Puzzle) -> list[str]:
    """Who holds each seat, in words."""
    sides = engine.load(one.game, players=one.players, **one.options).sides
    return [words.seat_of_puzzle(seat, one.seat, sides) for seat in range(one.players)]


def _record(one: Puzzle) -> dict[str, Any]:
    """What the viewer folds: the position as its seat saw it come about."""
    events = [{**event, "to": [one.seat]} if event["e"] == "deal" else event for event in one.events]
    return {"game": one.game, "players": one.players, "options": one.options, "events": events}


def _choices(one: Puzzle, answer: str) -> list[dict[str, Any]]:
    """Every choice with what it gives away, the best first."""
    return [
        {
            "text": words.action_name(text),
            "lost": lost,
            "right": text in one.best,
            "mine": text == answer,
        }
        for text, lost in sorted(one.lost.items(), key=lambda item: (item[1], one.legal.index(item[0])))
    ]
