"""The editor: write a bot, try it in the sandbox and upload it as a version. Everything works without script."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

import engine
from engine.packages import archive
from engine.runner import Limits, PackageRefused
from engine.runner.rebuild import Exchange
from league.domain.bots import bots, tries
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.matches import conversations, sight
from league.domain.people import quotas
from league.models import BotVersion, Match, Player, Sitting, Try
from league.service import topics
from league.web.common import tracebacks
from league.web.common.fields import set_choices
from league.web.common.inputs import short_text, whole_number
from league.web.common.viewers import player_of, user_of
from league.web.matches import narrate
from league.web.matches.record import shown_moments
from league.web.matches.seats import numbered
from league.web.matches.viewer import for_viewer

TEMPLATE = settings.BASE_DIR / "bots" / "sdk" / "template" / "bot.py"  # The example of ten lines.
FIRST_GAME, FIRST_RIVAL = "partnership", "greedy"
LINE = re.compile(re.escape(tries.FILE) + r", line (\d+)")  # The line in a verdict.
PARTS = 4  # Numbers that identify a decision in a match.
LATEST = 6  # Number of tries on the page.


class EditorForm(forms.Form):
    """The code of a bot, its name, and the game and opponent for a try."""

    bot = forms.CharField(
        label=gettext_lazy("Bot"),
        max_length=60,
        required=False,
        help_text=gettext_lazy("A new name, or the name of one of your bots. You need it only to upload."),
        widget=forms.TextInput(attrs={"list": "my-bots", "autocomplete": "off", "spellcheck": "false"}),
    )
    source = forms.CharField(
        label=gettext_lazy("Code of the bot"),
        strip=False,
        required=False,  # The domain explains what is wrong with an empty text.
        widget=forms.Textarea(
            attrs={"rows": 22, "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off", "wrap": "off"}
        ),
    )
    game = forms.ChoiceField(label=gettext_lazy("Game"))
    rival = forms.ChoiceField(label=gettext_lazy("Against"))
    at = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)  # A decision; see `_at`.
    games = forms.MultipleChoiceField(label=gettext_lazy("Games"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        games = [(key, engine.load(key).title) for key in engine.games()]
        rivals = [(version.bot.slug, version.bot.slug) for version in tries.rivals()]
        set_choices(self, games=games, game=games, rival=rivals)

    def clean_source(self) -> str:
        """Return the text with the line ends of Python; forms send others."""
        text: str = self.cleaned_data["source"]
        return text.replace("\r\n", "\n")


@never_cache
@login_required
def editor(request: HttpRequest) -> HttpResponse:
    """Show the example or a version of the player's own (`?from=rufo/3`); try or upload the text. A refusal keeps the text."""
    player = player_of(request)
    if request.method != "POST":
        return _editor(request, player, EditorForm(initial=_first(request, player)))
    form = EditorForm(request.POST)
    if request.POST.get("do") == "submit" and not request.POST.get("bot", "").strip():
        form.add_error("bot", _("Enter a name to upload the bot."))
    if not form.is_valid():
        return _editor(request, player, form, 422)
    try:
        do = {"submit": _submit, "here": _try_here}.get(request.POST.get("do", ""), _try)
        return do(player, form)
    except TooMany as refusal:
        form.add_error(None, shown(refusal))
        return _editor(request, player, form, 429)
    except (PackageRefused, Refused) as refusal:
        form.add_error("source", shown(refusal))
        return _editor(request, player, form, 422)


def _try(player: Player, form: EditorForm) -> HttpResponse:
    values = form.cleaned_data
    attempt = tries.begin(player, values["source"], values["game"], values["rival"], values["bot"].strip())
    return redirect("try", public_id=attempt.work.public_id)


def _try_here(player: Player, form: EditorForm) -> HttpResponse:
    values = form.cleaned_data
    at = _at(values["at"])
    if at is None:
        raise Refused("no decision is open; open one from a match of your bot")
    attempt = tries.begin_at(player, values["source"], at, values["rival"], values["bot"].strip())
    return redirect("try", public_id=attempt.work.public_id)


def _at(text: str) -> tries.Moment | None:
    """Parse a decision such as "8f3k2.1.0.2.14": match, board, sitting, seat, step. Return None if it is malformed."""
    match, *rest = text.split(".")
    numbers = [number for part in rest if (number := whole_number(part)) is not None]
    return tries.Moment(match, *numbers) if match and len(rest) == len(numbers) == PARTS else None


def _name_of(at: tries.Moment) -> str:
    return f"{at.match}.{at.board}.{at.sitting}.{at.seat}.{at.step}"


def _submit(player: Player, form: EditorForm) -> HttpResponse:
    values = form.cleaned_data
    data = tries.checked(values["source"])
    version = bots.upload(player, values["bot"].strip(), data, tries.FILE, values["games"] or None)
    return redirect("version", slug=version.bot.slug, number=version.number)


def _first(request: HttpRequest, player: Player) -> dict[str, str]:
    """Return the initial values of the form: a version of the player's own with one file, else the example."""
    first = {"game": FIRST_GAME, "rival": FIRST_RIVAL, "bot": short_text(request.GET.get("bot", ""), 60)}
    if (at := _at(request.GET.get("at", ""))) is not None:
        first["at"] = _name_of(at)
    slug, _slash, number = short_text(request.GET.get("from", ""), 60).partition("/")
    if slug:
        own_versions = BotVersion.objects.select_related("bot", "package").filter(bot__owner=player)
        version = get_object_or_404(own_versions, bot__slug=slug, number=whole_number(number) or 0)
        text = _text_of(version)
        if text is not None:
            return {**first, "bot": version.bot.slug, "source": text}
    return {**first, "source": TEMPLATE.read_text()}


def _text_of(version: BotVersion) -> str | None:
    """Return the text of a version that is one Python file and fits the editor, else None."""
    content = archive.read(bytes(version.package.data), "package.zip")
    if len(content.files) != 2 or version.runtime != "python":
        return None
    try:
        text = content.files[version.entry].decode()
    except UnicodeDecodeError:
        return None
    return text if len(text.encode()) <= tries.MOST_SOURCE else None


def _editor(request: HttpRequest, player: Player, form: EditorForm, status: int = 200, **more: object) -> HttpResponse:
    own_tries = Try.objects.filter(owner=player).select_related("work__pool", "rival__bot").defer("source", "result")
    context: dict[str, object] = {
        "form": form,
        "at": _at(str(form["at"].value() or "")),
        "mine": player.bots.order_by("slug"),
        "latest": list(own_tries.order_by("-created")[:LATEST]),
        "limit": quotas.limit(player, quotas.TRIES),
        "most_kb": tries.MOST_SOURCE // 1024,
        "most_s": int(tries.MOST_S),
        "kept_days": tries.KEPT.days,
        "limits": Limits(),
        **more,
    }
    return render(request, "matches/editor.html", context, status=status)


# ---- one try


@dataclass(frozen=True)
class Party:
    """A stand-in with the fields that the author's part of a match page reads."""

    fault: str


@dataclass(frozen=True)
class Log:
    """A stand-in for a log, for the same part of the page."""

    party: Party
    faults: list[dict[str, Any]]
    stderr: str


def _mine(request: HttpRequest, public_id: str) -> Try:
    """Return a try of the viewer, or 404."""
    row = tries.of_player(player_of(request), public_id)
    if row is None:
        raise Http404
    return row


@never_cache
@login_required
def tried(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a try of the viewer: its result, and the editor with its text. Eleven queries."""
    topics.follow(request, topics.of_match(public_id))
    row = _mine(request, public_id)
    result = tries.opened(row)
    context: dict[str, Any] = {"row": row, "match": row.work, "found": result}
    if result is not None or row.work.status in ("void", "cancelled"):
        topics.leave(request)
    if result is not None:
        context |= _shown(row, result, whole_number(request.GET.get("s")) or 0)
    at = tries.Moment(**row.at) if row.at else None
    begun_with = {
        "at": _name_of(at) if at else "",
        "bot": row.name,
        "source": row.source,
        "game": row.work.pool.game,
        "rival": row.rival.bot.slug,
    }
    return _editor(request, row.owner, EditorForm(initial=begun_with), **context)


def _shown(row: Try, result: tries.Result, number: int) -> dict[str, Any]:
    number = min(number, max(0, len(result.sittings) - 1))
    faults, verdict = result.faults, tracebacks.verdict(result.stderr)
    line = LINE.match(verdict)
    times = [
        ms
        for place in range(len(result.sittings))
        for decision in tries.asked(result, place)
        if (ms := decision.cpu) is not None
    ]
    context: dict[str, Any] = {
        "log": Log(Party(faults[0]["kind"] if faults else ""), faults, result.stderr),
        "verdict": verdict,
        "line": line and line[1],
        "size": engine.load(row.work.pool.game).score_size,
        "sittings": list(enumerate(result.sittings)),
        "number": number,
        "number_text": str(number),
        "each_ms": sum(times) / len(times) if times else None,
        "most_ms": max(times, default=0.0),
    }
    context["asked"] = tries.asked(result, number)
    if row.at and not result.stopped and not result.faults and context["asked"]:
        context["now_did"] = context["asked"][-1].did
    if result.sittings:
        sitting = result.sittings[number]
        names = _bots(row, sitting["seating"])
        context["lines"] = narrate.narrate(shown_moments(sitting["replay"]), numbered(names), names)
    return context


def _bots(row: Try, seating: Sequence[int]) -> list[str]:
    """Return the bot of each seat."""
    own_name = row.name or _("my bot")
    return [row.rival.bot.slug if party else own_name for party in seating]


@never_cache
@login_required
def sent(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show what the viewer's bots received in a sitting (`?b=&s=`) of a finished match; each decision opens in the editor."""
    player = player_of(request)
    match = get_object_or_404(
        sight.matches(Match.objects.select_related("pool", "tournament"), user_of(request)), public_id=public_id
    )
    board, sitting = whole_number(request.GET.get("b")) or match.first_board, whole_number(request.GET.get("s")) or 0
    row = get_object_or_404(Sitting.objects.filter(board__match=match, board__number=board), number=sitting)
    parties = {party.number: party for party in match.parties.select_related("version__bot", "version__package")}
    own_seats = [seat for seat, holder in enumerate(row.seating) if parties[holder].version.bot.owner_id == player.pk]
    if not own_seats:
        raise Http404
    seats, refused = [], ""
    try:
        for seat in own_seats:
            lines = conversations.told(match, board, sitting, seat, player)
            here = [
                _logged(exchange, match, sitting)
                for exchange in lines
                if exchange.board == board and exchange.step >= 0 and exchange.answer is not None
            ]
            seats.append((seat + 1, parties[row.seating[seat]].version, here))
    except Refused as refusal:
        refused = shown(refusal)
    context = {"match": match, "board": board, "sitting": sitting, "seats": seats, "refused": refused}
    return render(request, "matches/sent.html", context)


def _logged(exchange: Exchange, match: Match, sitting: int) -> tuple[str, tries.Asked]:
    """Return a decision of a match, with its identifier."""
    request = exchange.request.decode("ascii", "replace").rstrip("\n")
    legal = json.loads(request)["legal"]
    at = tries.Moment(match.public_id, exchange.board, sitting, exchange.seat, exchange.step)
    return _name_of(at), tries.Asked(
        exchange.step, exchange.seat + 1, request, exchange.fault or exchange.answer or "", legal, exchange.answer or ""
    )


@never_cache
@login_required
def tried_json(request: HttpRequest, public_id: str) -> JsonResponse:
    """Return the record of a sitting (`?s=`) of the viewer's own try, for the replay viewer."""
    row = _mine(request, public_id)
    result = tries.opened(row)
    number = whole_number(request.GET.get("s")) or 0
    if result is None or number >= len(result.sittings):
        raise Http404
    sitting, record = result.sittings[number], tries.record_of(result, number)
    answer = for_viewer(record, _bots(row, sitting["seating"]), sitting["seating"])
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})
