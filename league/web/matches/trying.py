"""The editor: write a bot, try it in the sandbox and submit it as a version. Everything works without script.

Anybody may write, and try boards; everything else that runs or is stored needs an account (league.domain.bots.tries has the limits). A
visitor's text stays in the page and in the browser, and so does the text of an author whose session or form has expired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

import engine
from engine.runner import Limits, PackageRefused, tracebacks
from engine.runner.rebuild import Exchange
from league.domain.bots import bots, drafts, languages, tries
from league.domain.bots.languages import Language
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.matches import conversations
from league.domain.people import ownership, quotas
from league.domain.people.guests import KEPT, Person
from league.domain.people.ownership import BotAct
from league.models import Bot, Match, Player, Try
from league.pure import lead
from league.service import limits
from league.web.common import guests, words
from league.web.common.inputs import short_text, whole_number
from league.web.common.viewers import player_of
from league.web.matches import editing, narrate
from league.web.matches.editing import EditorForm
from league.web.matches.opening import own_seats
from league.web.matches.record import shown_moments
from league.web.matches.seats import numbered, sitting_letter
from league.web.matches.viewer import for_viewer

FILES = "|".join(re.escape(language.file) for language in languages.LANGUAGES.values())
LINE = re.compile(rf"(?:{FILES}), line (\d+)")  # A line of code in a verdict.
OF_GUESTS = ("try", "again", "series", "series-again")  # The buttons that visitors without an account may use.
PASS = re.compile(r"^--- pass (\d+), seat (\d+)$", re.MULTILINE)  # The heading of each process in stderr.
LATEST = 6  # Number of tries on the page.


class _TokenCheck(CsrfViewMiddleware):
    """Django's check of a form's token, which returns the reason instead of a response."""

    def _reject(self, request: HttpRequest, reason: str) -> str:
        return reason


def _has_token(request: HttpRequest) -> bool:
    return _TokenCheck(_nothing).process_view(request, _nothing, (), {}) is None


def _nothing(_request: HttpRequest) -> HttpResponse:
    return HttpResponse()


@never_cache
@csrf_exempt  # The view checks the token itself, because its response to an expired one must keep the text.
def editor(request: HttpRequest) -> HttpResponse:
    """Show the editor with a template, a draft or a version (`?from=rufo/3`, `?bot=rufo`); try or submit the text. A refusal keeps the text."""
    player = player_of(request) if request.user.is_authenticated else None
    if request.method != "POST":
        return _opened(request, player)
    form = EditorForm(request.POST)
    do = request.POST.get("do", "")
    ended = "member" in request.POST  # The page was opened with an account: whoever sent it wants to log in again.
    if player is None and (ended or do not in OF_GUESTS or not settings.GUEST_TRIES):
        return _editor(request, None, form, 401)
    if not _has_token(request):
        form.is_valid()
        form.add_error(
            None, _("This page is older than your session. Your code is still here: press the button again.")
        )
        return _editor(request, player, form, 403)
    if do == "submit" and not request.POST.get("bot", "").strip():
        form.add_error("bot", _("Give your bot a name, such as rufo-2."))
    if not form.is_valid():
        return _editor(request, player, form, 422)
    try:
        if player is None:
            return _try_as_guest(request, form)
        return {"submit": _submit, "here": _try_here}.get(do, _try)(request, player, form)
    except TooMany as refusal:
        form.add_error(None, shown(refusal))
        return _editor(request, player, form, 429)
    except bots.NameRefused as refusal:
        form.add_error("bot", shown(refusal))
        return _editor(request, player, form, 422)
    except (PackageRefused, Refused) as refusal:
        form.add_error("source", shown(refusal))
        return _editor(request, player, form, 422)


def _opened(request: HttpRequest, player: Player | None) -> HttpResponse:
    version = request.GET.get("from", "")
    game = request.GET.get("game", "") if request.GET.get("game", "") in engine.games() else editing.FIRST_GAME
    language = languages.LANGUAGES.get(request.GET.get("language", ""))
    query = request.GET.get("bot", ""), version, request.GET.get("template", "")
    try:
        begun = editing.beginning(player, *query, language, game)
    except Http404:
        if player is None:
            return redirect_to_login(request.get_full_path())
        raise
    at = editing.read_decision(request.GET.get("at", ""))
    initial = {
        "game": game,
        "language": begun.language.key,
        "rival": editing.FIRST_RIVAL,
        "bot": begun.bot.slug if begun.bot else short_text(request.GET.get("bot", ""), 60),
        "draft": begun.bot.slug if begun.bot else drafts.NEW,
        "at": editing.write_decision(at) if at else "",
        "source": begun.text,
    }
    opens = "given" if version or at or request.GET.get("template") else "last"
    return _editor(request, player, EditorForm(initial=initial), begun=begun, opens=opens)


def _try_as_guest(request: HttpRequest, form: EditorForm) -> HttpResponse:
    """Play boards for a visitor without an account; a cookie gets the visitor's key."""
    for _part in range(tries.counts_as(_boards(request))):
        spent = limits.spend("guest-try", f"a{limits.address(request)}", settings.LIMITS["guest-try"])
    if spent.over:
        raise TooMany(
            "visitors from your network have made {most} tries in this hour; sign up, or try again later: your code is kept",
            retry_after=spent.seconds,
            most=spent.quota,
        )
    guest, key = guests.new_guest(request)
    answer = _try(request, guest, form)
    guests.remember(answer, key)
    return answer


def _boards(request: HttpRequest) -> int:
    return tries.SERIES if request.POST.get("do", "").startswith("series") else 1


def _try(request: HttpRequest, author: Person, form: EditorForm) -> HttpResponse:
    """Play a new board ("try") or series ("series"), or the cards of the shown try again ("again", "series-again")."""
    values, do = form.cleaned_data, request.POST.get("do", "")
    attempt = tries.begin(
        author,
        values["source"],
        values["game"],
        values["rival"],
        values["bot"].strip(),
        language=form.written_in,
        table=form.table,
        boards=_boards(request),
        like=values["cards"] if do.endswith("again") else "",
        first=values["board"] or 1 if do == "again" else 1,
    )
    return redirect("try", public_id=attempt.work.public_id)


def _try_here(request: HttpRequest, player: Player, form: EditorForm) -> HttpResponse:
    values = form.cleaned_data
    at = editing.chosen_decision(values["at"])
    name = values["bot"].strip()
    attempt = tries.begin_at(player, values["source"], at, values["rival"], name, language=form.written_in)
    return redirect("try", public_id=attempt.work.public_id)


def _submit(request: HttpRequest, player: Player, form: EditorForm) -> HttpResponse:
    values = form.cleaned_data
    name = values["bot"].strip()
    content = languages.package(tries.checked(values["source"]), form.written_in, values["games"])
    version = bots.upload(player, name, content.zip(), "bot.zip")
    drafts.discard(player, values["draft"], form.written_in)
    if version.bot.slug != name:
        messages.success(request, _("Your bot is called %(slug)s in lists and addresses.") % {"slug": version.bot.slug})
    answer = redirect("version", slug=version.bot.slug, number=version.number)
    if request.headers.get(
        "X-In-Place"
    ):  # The script opens the page itself: a redirect that it followed would use up the message.
        answer.status_code = 201
    return answer


@never_cache
@csrf_exempt
@require_POST
def draft(request: HttpRequest) -> HttpResponse:
    """Store the text as a draft of the viewer (204), or discard it and open the editor again."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    if not _has_token(request):
        return HttpResponse(status=403)
    player, bot = player_of(request), short_text(request.POST.get("draft", ""), 40)
    try:
        language = languages.find(request.POST.get("language") or languages.PYTHON.key)
        if request.POST.get("do") == "discard":
            drafts.discard(player, bot, language)
            return redirect_to_editor(bot, language)
        drafts.save(player, bot, request.POST.get("source", "").replace("\r\n", "\n"), language=language)
    except Refused as refusal:
        return HttpResponse(shown(refusal), status=422, content_type="text/plain; charset=utf-8")
    return HttpResponse(status=204)


def redirect_to_editor(bot: str, language: Language) -> HttpResponse:
    """Redirect to the editor with the last version of a bot in a language, or with a template."""
    answer = redirect("editor")
    answer["Location"] += "?" + urlencode({"bot": bot, "language": language.key} if bot else {"language": language.key})
    return answer


def _editor(
    request: HttpRequest,
    player: Player | None,
    form: EditorForm,
    status: int = 200,
    *,
    begun: editing.Beginning | None = None,
    **more: object,
) -> HttpResponse:
    key = str(form["draft"].value() or "")
    own = [] if player is None else list(player.bots.order_by("slug"))
    bot = begun.bot if begun else next((candidate for candidate in own if candidate.slug == key), None)
    author = player or guests.guest_of(request)
    latest = tries.own(author) if author else Try.objects.none()
    language, playable = form.written_in, languages.playable()
    context: dict[str, object] = {
        "form": form,
        "choices": [form["game"], form["rival"]],
        "rules": form.rules,
        "player": player,
        "bot": bot,
        "begun": begun,
        "next_number": 1 + (bot.versions.count() if bot else 0),
        "at": editing.read_decision(str(form["at"].value() or "")),
        "mine": own,
        "latest": list(
            latest.select_related("work__pool", "rival__bot").defer("source", "result").order_by("-created")[:LATEST]
        ),
        "limits_of_tries": [quotas.limit(player, name) for name in (quotas.TRIES, quotas.SERIES)] if player else [],
        "language": language,
        "languages": [(choice, choice in playable) for choice in languages.LANGUAGES.values()],
        "templates": editing.templates(form.rules.game.key, language),
        "kits": editing.KITS.items(),
        "members": editing.help_members(language),
        "guests_try": settings.GUEST_TRIES > 0,
        "account_needed": player is None and status == 401,
        "most_kb": tries.MOST_SOURCE // 1024,
        "most_s": int(tries.MOST_S),
        "series": tries.SERIES,
        "series_s": int(tries.MOST_SERIES_S),
        "kept_days": (tries.KEPT if player else KEPT).days,
        "limits": Limits(),
        **more,
    }
    return render(request, "matches/editor.html", context, status=status)


# ---- one try


def _own(request: HttpRequest, public_id: str) -> Try | None:
    """Return a try of the viewer, or 404; None for a visitor who may have to log in first."""
    author = guests.person_of(request)
    row = tries.find(author, public_id) if author else None
    if row is None and request.user.is_authenticated:
        raise Http404
    return row


@never_cache
def tried(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a try of the viewer in the editor, with its text. Its script asks again until there is a result. Fourteen queries."""
    row = _own(request, public_id)
    if row is None:
        return redirect_to_login(request.get_full_path())
    result, work = tries.opened(row), row.work
    over = result is not None or work.status in ("void", "cancelled")
    context: dict[str, Any] = {"row": row, "match": work, "result": result, "waits": not over}
    board = None
    if result is not None:
        context |= _shown(row, result, whole_number(request.GET.get("s")) or 0)
        board = context.get("board_number")
    at = tries.DecisionPoint(**row.at) if row.at else None
    slug = (
        row.name
        if row.owner and Bot.objects.filter(ownership.owned(row.owner, BotAct.UPLOAD), slug=row.name).exists()
        else drafts.NEW
    )
    begun_with = {
        "at": editing.write_decision(at) if at else "",
        "bot": row.name,
        "draft": slug,
        "source": row.source,
        "language": row.language,
        "game": work.pool.game,
        "players": work.pool.players,
        **editing.initial_options(work.pool.options),
        "rival": row.rival.bot.slug,
        "cards": "" if row.at else public_id,
        "board": board or "",
    }
    return _editor(request, row.owner, EditorForm(initial=begun_with), opens="try", **context)


def _shown(row: Try, result: tries.TryResult, number: int) -> dict[str, Any]:
    number = min(number, max(0, len(result.sittings) - 1))
    faults, verdict = result.faults, tracebacks.verdict(result.stderr)
    line = LINE.match(verdict)
    game = engine.load(row.work.pool.game)
    context: dict[str, Any] = {
        "log": {"faults": faults, "stderr": _named(row, result)},
        "verdict": verdict,
        "line": line and line[1],
        "size": game.score_size,
        "unit": game.score_unit,
        "digits": 0 if game.score_size == 1 and game.score_unit == "points" else 2,
        "outcome": result.scores
        and (result.scores[0] > max(result.scores[1:])) - (result.scores[0] < max(result.scores[1:])),
        "number": number,
        "tried_well": not faults,
    }
    if row.work.boards_planned > 1:
        context |= _series(row, result, game.score_size)
    else:
        context |= _timed(result)
    sitting = result.sittings[number] if result.sittings else None
    by_seat = _bots(row, sitting["seating"]) if sitting else []
    names = numbered(by_seat)
    context["asked"] = [_row(line, names) for line in tries.asked(result, number)]
    context["decisions"] = sum(1 for line in context["asked"] if line["number"])
    if row.at and not result.stopped and not result.faults and context["asked"]:
        context["now_did"] = context["asked"][-1]["did"]
    if sitting is not None:
        board = sitting.get("board", row.work.first_board)
        context["board_number"] = board
        places = [
            place for place, other in enumerate(result.sittings) if other.get("board", row.work.first_board) == board
        ]
        context["sittings"] = [(place, order) for order, place in enumerate(places)]
        context["letters"] = " + ".join(sitting_letter(order) for order in range(len(places)))
        context["lines"] = narrate.narrate(shown_moments(sitting["replay"]), names, by_seat)
    return context


def _timed(result: tries.TryResult) -> dict[str, Any]:
    times = [
        ms
        for place in range(len(result.sittings))
        for decision in tries.asked(result, place)
        if (ms := decision.cpu) is not None
    ]
    return {"each_ms": sum(times) / len(times) if times else None, "most_ms": max(times, default=0.0)}


def _row(line: tries.Asked, names: Sequence[str]) -> dict[str, Any]:
    """Return a line for the list of decisions, with the seat's name at the table."""
    seat = names[line.seat - 1] if line.seat <= len(names) else _("Seat %(number)s") % {"number": line.seat}
    return {
        "number": line.number,
        "seat": seat,
        "did": line.did,
        "choices": len(line.legal),
        "cpu": line.cpu,
        "request": line.request,
        "answer": line.answer,
    }


def _named(row: Try, result: tries.TryResult) -> str:
    """Return the bot's stderr with seats and sittings named as on the page."""

    def head(match: re.Match[str]) -> str:
        sitting, seat = int(match[1]), int(match[2])
        names: list[str] = []
        if sitting < len(result.sittings):
            names = numbered(_bots(row, result.sittings[sitting]["seating"]))
        name = names[seat] if seat < len(names) else _("Seat %(number)s") % {"number": seat + 1}
        return "--- " + _("Seats %(letter)s, %(name)s") % {"letter": sitting_letter(sitting), "name": name}

    return PASS.sub(head, result.stderr)


def _series(row: Try, result: tries.TryResult, size: int) -> dict[str, Any]:
    """Return the results of the text over all boards of this series and its earlier ones, and against the previous text on the same deals."""
    first = {sitting["board"]: place for place, sitting in reversed(list(enumerate(result.sittings)))}
    cells = []
    for board in result.boards:
        scores = board["scores"]
        difference = (scores[0] - sum(scores[1:]) / (len(scores) - 1)) / size
        cells.append({"number": board["number"], "place": first.get(board["number"]), "difference": difference})
    whole = tries.text_boards(row)
    pairs = tries.compare(row)
    many = max((len(board["scores"]) for board in result.boards), default=2) - 1
    return {
        "cells": cells,
        "lead": lead.of_boards(whole, size) if whole else None,
        "against_before": lead.of_boards(pairs, size * many) if pairs else None,
    }


def _bots(row: Try, seating: Sequence[int]) -> list[str]:
    """Return the bot of each seat."""
    own_name = row.name or _("my bot")
    return [row.rival.bot.slug if party else own_name for party in seating]


@never_cache
@login_required
def sent(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show what the viewer's bots received in a sitting (`?b=&s=`) of a finished match; each decision opens in the editor."""
    player, here = player_of(request), own_seats(request, public_id)
    match, board, sitting, parties = here.match, here.board, here.row.number, here.parties
    names = numbered([parties[holder].version.bot.slug for holder in here.row.seating])
    seats, refused = [], ""
    try:
        for seat in here.seats:
            lines = conversations.told(match, board, sitting, seat, player)
            decided = [
                _logged(exchange, match, sitting)
                for exchange in lines
                if exchange.board == board and exchange.step >= 0 and exchange.answer is not None
            ]
            version = parties[here.row.seating[seat]].version
            seats.append((names[seat], version, languages.language_of(version) is not None, decided))
    except Refused as refusal:
        refused = shown(refusal)
    context = {"match": match, "board": board, "sitting": sitting, "seats": seats, "refused": refused}
    return render(request, "matches/sent.html", context)


def _logged(exchange: Exchange, match: Match, sitting: int) -> dict[str, Any]:
    """Return a decision of a match for the list, with its identifier."""
    request = exchange.request.decode("ascii", "replace").rstrip("\n")
    at = tries.DecisionPoint(match.public_id, exchange.board, sitting, exchange.seat, exchange.step)
    return {
        "at": editing.write_decision(at),
        "step": exchange.step,
        "request": request,
        "did": exchange.answer or "",
        "fault": words.fault_name(exchange.fault) if exchange.fault else "",
        "choices": len(json.loads(request)["legal"]),
    }


@never_cache
def tried_json(request: HttpRequest, public_id: str) -> HttpResponse:
    """Return the record of a sitting (`?s=`) of the viewer's own try, for the replay viewer."""
    row = _own(request, public_id)
    if row is None:
        return redirect_to_login(request.get_full_path())
    result = tries.opened(row)
    number = whole_number(request.GET.get("s")) or 0
    if result is None or number >= len(result.sittings):
        raise Http404
    sitting, record = result.sittings[number], tries.record_of(result, number)
    answer = for_viewer(record, _bots(row, sitting["seating"]), sitting["seating"])
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})
