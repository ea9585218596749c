"""Puzzles for people: a position as its seat saw it, the choices and their costs. Everything works without scripts."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_safe

import engine
from engine.puzzles import Puzzle
from engine.rules.terms import GAME_SCORE
from engine.themes import THEMES
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.puzzles import answers, mistakes, shelf
from league.domain.puzzles.mistakes import OwnMistake
from league.domain.puzzles.shelf import Shelf
from league.domain.talk import places
from league.domain.talk.places import Place
from league.models import Player
from league.web.common import families, talk, words
from league.web.common.inputs import is_own_form, short_text
from league.web.common.viewers import player_of, viewer_of
from league.web.matches import narrate, pictures
from league.web.matches.offers import chosen, offer
from league.web.matches.record import shown_moments
from league.web.matches.viewer import for_viewer

MOST_ZONE = 60  # Characters of the name of a time zone.
MOST_ROWS = 50  # Mistakes on a page.
SURE = 1.96  # Standard errors of a 95 % interval.


@never_cache
@require_safe
def puzzles(request: HttpRequest) -> HttpResponse:
    """List the games and themes that have puzzles, with the viewer's rating and progress. One query, seven if signed in."""
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
        "themes": [(name, words.theme_name(name), count) for name, count in puzzle_shelf.theme_counts().items()],
        "day": puzzle_shelf.of_day(clock.present().date(), families.game_order()),
        "signed_in": viewer is not None,
        "standing": (standing := answers.standing(viewer) if viewer else None),
        "margin": SURE * standing.deviation if standing else 0,
        "due": len(mistakes.due(viewer)) if viewer else 0,
    }
    return render(request, "puzzles/puzzles.html", context)


@never_cache
@require_safe
def next_puzzle(request: HttpRequest) -> HttpResponse:
    """Go to the puzzle nearest to the viewer's rating that they have not answered, with a theme or of a game. At most five queries."""
    theme, game = _theme_of(request), short_text(request.GET.get("game", ""), 40)
    item = answers.next_puzzle(shelf.shelf(), viewer_of(request), theme=theme, game=game)
    if item is None:
        return redirect("puzzles")
    return redirect(_address(item, theme))


@never_cache
@require_safe
def day_puzzle(request: HttpRequest, day: str) -> HttpResponse:
    """Go to the puzzle of a day, such as 2026-01-31, that is not ahead. One query."""
    try:
        date_of_day = date.fromisoformat(day)
    except ValueError:
        raise Http404 from None
    item = None
    if date_of_day <= clock.present().date():
        item = shelf.shelf().of_day(date_of_day, families.game_order())
    return redirect(_address(item) if item else "puzzles")


def _theme_of(request: HttpRequest) -> str:
    theme = request.GET.get("theme", "")
    return theme if theme in THEMES else ""


def _address(item: Puzzle, theme: str = "") -> str:
    return reverse("puzzle", args=[item.id]) + (f"?theme={theme}" if theme else "")


@never_cache
# The front page has the puzzle of the day without a token, because it comes from a cache; see is_own_form.
@csrf_exempt
def puzzle(request: HttpRequest, identity: str) -> HttpResponse:
    """Show a puzzle, and the verdict on an answer. One query; some more for the answer of a signed-in player, and up to four for comments."""
    return _puzzle(request, identity) if is_own_form(request) else _with_token(request, identity)


def _puzzle(request: HttpRequest, identity: str) -> HttpResponse:
    puzzle_shelf = shelf.shelf()
    item = _found(puzzle_shelf, identity)
    viewer, theme = viewer_of(request), _theme_of(request)
    context = _position(item) | {"theme": theme, "theme_name": words.theme_name(theme)}
    status = 200
    if request.method == "POST":
        zone = short_text(request.POST.get("zone", ""), MOST_ZONE)
        try:
            verdict = answers.answer(item, chosen(request, item.legal), viewer, zone=zone)
        except Refused as refusal:
            context["refused"], status = shown(refusal), 422
        else:
            context |= {"verdict": verdict, **_solution(item, verdict.answer), "standing": verdict.standing}
            context["place"] = _place(item) if item.id in puzzle_shelf.own else ""
            context["themes"] = [(name, words.theme_name(name)) for name in puzzle_shelf.themes[item.id]]
            following = _following(puzzle_shelf, item, theme, viewer)
            context["next"] = _address(following, theme) if following else ""
    place = Place(puzzle=item.id) if "verdict" in context else places.of_puzzle(item.id, viewer)
    context |= {
        "talk": talk.section(request, place) if place else None,
        "picture": pictures.of_puzzle(item, shown_moments(record_of(item)), names_of(item, short=True)),
        "embed": reverse("embed-puzzle", args=[item.id]),
        "action": _address(item, theme),
        "record": reverse("puzzle-replay", args=[item.id]),
    }
    return render(request, "puzzles/puzzle.html", context, status=status)


_with_token = csrf_protect(_puzzle)


def _following(puzzle_shelf: Shelf, item: Puzzle, theme: str, viewer: Player | None) -> Puzzle | None:
    """Return the next puzzle: of the theme, if there is one, else of the same game."""
    if theme and viewer:
        return answers.next_puzzle(puzzle_shelf, viewer, theme=theme)
    if theme:
        rows = puzzle_shelf.about(theme)
        return rows[(rows.index(item) + 1) % len(rows)] if item in rows and len(rows) > 1 else None
    return puzzle_shelf.next_after(item, answers.tried(viewer) if viewer else frozenset())


def _position(item: Puzzle) -> dict[str, Any]:
    """Return what a page shows of a position before an answer."""
    game = engine.load(item.game, players=item.players, **item.options)
    names = names_of(item)
    return {
        "one": item,
        "lines": narrate.narrate(shown_moments(record_of(item)), names, names, item.seat),
        "offer": offer(item.legal, item.hand),
        "unit": game.score_unit,
        "size": GAME_SCORE if game.score_unit == "games" else 1,
        "solution": answers.SOLUTION,
    }


def _solution(item: Puzzle, answer: str) -> dict[str, Any]:
    """Return what a page shows of a position after an answer."""
    return {
        "choices": _choices(item, answer),
        "mine": capfirst(words.action_name(answer)),
        "best": ", ".join(map(words.action_name, item.best)),
        "error": SURE * item.error,
    }


@never_cache
@login_required
def own_mistakes(request: HttpRequest) -> HttpResponse:
    """List the viewer's mistakes, and queue the search for others. At most seven queries."""
    player = player_of(request)
    if request.method == "POST":
        try:
            count = mistakes.ask(player)
        except Refused as refusal:
            messages.error(request, f"{capfirst(shown(refusal))}.")
        else:
            text = ngettext("%(count)d search queued.", "%(count)d searches queued.", count) % {"count": count}
            messages.info(request, text if count else _("Nothing new to search. Play a hand at a table first."))
        return redirect("mistakes")
    due_rows = mistakes.due(player)
    total, learnt = mistakes.counts(player)
    context = {
        "first": due_rows[0] if due_rows else None,
        "due": len(due_rows),
        "total": total,
        "learnt": learnt,
        "waiting": mistakes.waiting(player),
        "rows": mistakes.visible(player).defer("line").order_by("due", "-pk")[:MOST_ROWS],
    }
    return render(request, "puzzles/mistakes.html", context)


@never_cache
@login_required
def own_mistake(request: HttpRequest, identity: str) -> HttpResponse:
    """Show a mistake of the viewer as a puzzle, and the verdict on an answer."""
    player = player_of(request)
    mistake = _own(player, identity)
    item = mistake.puzzle
    here = reverse("mistake", args=[item.id])
    context = _position(item) | {
        "mistake": mistake,
        "action": here,
        "record": reverse("mistake-replay", args=[item.id]),
    }
    status = 200
    if request.method == "POST":
        zone = short_text(request.POST.get("zone", ""), MOST_ZONE)
        try:
            verdict = mistakes.answer(mistake, chosen(request, item.legal), zone=zone)
        except Refused as refusal:
            context["refused"], status = shown(refusal), 422
        else:
            due_rows = mistakes.due(player)
            context |= {"verdict": verdict, **_solution(item, verdict.answer)}
            context["next"] = reverse("mistake", args=[due_rows[0].puzzle]) if due_rows else ""
            context["played"] = words.action_name(mistake.played)
            context["place"] = _place_of_mistake(mistake)
    return render(request, "puzzles/puzzle.html", context, status=status)


@never_cache
@login_required
@require_safe
def own_mistake_json(request: HttpRequest, identity: str) -> JsonResponse:
    """Return the record of a mistake of the viewer for the replay viewer."""
    return _record(_own(player_of(request), identity).puzzle)


def _own(player: Player, identity: str) -> OwnMistake:
    mistake = mistakes.find(player, identity)
    if mistake is None:
        raise Http404
    return mistake


def _place_of_mistake(mistake: OwnMistake) -> str:
    """Return the address of the board from which a mistake comes."""
    if not mistake.table:
        return _place(mistake.puzzle)
    return f"{reverse('table', args=[mistake.table])}?b={mistake.puzzle.source['board']}"


@never_cache
@require_safe
def puzzle_json(_request: HttpRequest, identity: str) -> JsonResponse:
    """Return the record of a puzzle for the replay viewer."""
    return _record(_found(shelf.shelf(), identity))


def _record(item: Puzzle) -> JsonResponse:
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
