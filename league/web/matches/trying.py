"""The editor: a text is written, tried in the sandbox, and submitted as a version. Everything works without script."""

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

TEMPLATE = settings.BASE_DIR / "bots" / "sdk" / "template" / "bot.py"  # the ten lines
FIRST_GAME, FIRST_RIVAL = "partnership", "greedy"
LINE = re.compile(re.escape(tries.FILE) + r", line (\d+)")  # of a verdict
PARTS = 4  # numbers that name a decision in a match
LATEST = 6  # tries that the page lists


class EditorForm(forms.Form):
    """A text, the name that it is to have, and what it is tried against."""

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
        required=False,  # the league says itself what is wrong with an empty one
        widget=forms.Textarea(
            attrs={"rows": 22, "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off", "wrap": "off"}
        ),
    )
    game = forms.ChoiceField(label=gettext_lazy("Game"))
    rival = forms.ChoiceField(label=gettext_lazy("Against"))
    at = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)  # a decision: `_at`
    games = forms.MultipleChoiceField(label=gettext_lazy("Games"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        games = [(key, engine.load(key).title) for key in engine.games()]
        rivals = [(version.bot.slug, version.bot.slug) for version in tries.rivals()]
        set_choices(self, games=games, game=games, rival=rivals)

    def clean_source(self) -> str:
        """The text with the ends of lines of Python: forms send others."""
        text: str = self.cleaned_data["source"]
        return text.replace("\r\n", "\n")


@never_cache
@login_required
def editor(request: HttpRequest) -> HttpResponse:
    """Show the ten lines, or a version of one's own (`?from=rufo/3`); try a text or submit it. Nothing that was written is lost by a refusal."""
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
    told = form.cleaned_data
    made = tries.begin(player, told["source"], told["game"], told["rival"], told["bot"].strip())
    return redirect("try", public_id=made.work.public_id)


def _try_here(player: Player, form: EditorForm) -> HttpResponse:
    told = form.cleaned_data
    at = _at(told["at"])
    if at is None:
        raise Refused("no decision is open; open one from a match of your bot")
    made = tries.begin_at(player, told["source"], at, told["rival"], told["bot"].strip())
    return redirect("try", public_id=made.work.public_id)


def _at(text: str) -> tries.Moment | None:
    """The decision that "8f3k2.1.0.2.14" names: match, board, sitting, seat, step."""
    match, *rest = text.split(".")
    numbers = [number for part in rest if (number := whole_number(part)) is not None]
    return tries.Moment(match, *numbers) if match and len(rest) == len(numbers) == PARTS else None


def _name_of(at: tries.Moment) -> str:
    return f"{at.match}.{at.board}.{at.sitting}.{at.seat}.{at.step}"


def _submit(player: Player, form: EditorForm) -> HttpResponse:
    told = form.cleaned_data
    data = tries.checked(told["source"])
    made = bots.upload(player, told["bot"].strip(), data, tries.FILE, told["games"] or None)
    return redirect("version", slug=made.bot.slug, number=made.number)


def _first(request: HttpRequest, player: Player) -> dict[str, str]:
    """What the form begins with: a version of the player's own, of one file, else the ten lines."""
    first = {"game": FIRST_GAME, "rival": FIRST_RIVAL, "bot": short_text(request.GET.get("bot", ""), 60)}
    if (at := _at(request.GET.get("at", ""))) is not None:
        first["at"] = _name_of(at)
    slug, _slash, number = short_text(request.GET.get("from", ""), 60).partition("/")
    if slug:
        mine = BotVersion.objects.select_related("bot", "package").filter(bot__owner=player)
        version = get_object_or_404(mine, bot__slug=slug, number=whole_number(number) or 0)
        text = _text_of(version)
        if text is not None:
            return {**first, "bot": version.bot.slug, "source": text}
    return {**first, "source": TEMPLATE.read_text()}


def _text_of(version: BotVersion) -> str | None:
    """The text of a version that is one Python file and could be written again here; None of any other."""
    content = archive.read(bytes(version.package.data), "package.zip")
    if len(content.files) != 2 or version.runtime != "python":
        return None
    try:
        text = content.files[version.entry].decode()
    except UnicodeDecodeError:
        return None
    return text if len(text.encode()) <= tries.MOST_SOURCE else None


def _editor(request: HttpRequest, player: Player, form: EditorForm, status: int = 200, **more: object) -> HttpResponse:
    mine = Try.objects.filter(owner=player).select_related("work__pool", "rival__bot").defer("source", "result")
    context: dict[str, object] = {
        "form": form,
        "at": _at(str(form["at"].value() or "")),
        "mine": player.bots.order_by("slug"),
        "latest": list(mine.order_by("-created")[:LATEST]),
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
    """What the part of a page for the author of a bot reads."""

    fault: str


@dataclass(frozen=True)
class Log:
    """The same."""

    party: Party
    faults: list[dict[str, Any]]
    stderr: str


def _mine(request: HttpRequest, public_id: str) -> Try:
    """A try of who looks."""
    found = tries.of_player(player_of(request), public_id)
    if found is None:
        raise Http404
    return found


@never_cache
@login_required
def tried(request: HttpRequest, public_id: str) -> HttpResponse:
    """One try of one's own: what came of it, and its text again, to go on. Eleven queries."""
    topics.follow(request, topics.of_match(public_id))
    row = _mine(request, public_id)
    found = tries.opened(row)
    context: dict[str, Any] = {"row": row, "match": row.work, "found": found}
    if found is not None or row.work.status in ("void", "cancelled"):
        topics.leave(request)
    if found is not None:
        context |= _shown(row, found, whole_number(request.GET.get("s")) or 0)
    at = tries.Moment(**row.at) if row.at else None
    begun_with = {
        "at": _name_of(at) if at else "",
        "bot": row.name,
        "source": row.source,
        "game": row.work.pool.game,
        "rival": row.rival.bot.slug,
    }
    return _editor(request, row.owner, EditorForm(initial=begun_with), **context)


def _shown(row: Try, found: tries.Result, number: int) -> dict[str, Any]:
    number = min(number, max(0, len(found.sittings) - 1))
    faults, verdict = found.faults, tracebacks.verdict(found.stderr)
    line = LINE.match(verdict)
    times = [
        ms for place in range(len(found.sittings)) for one in tries.asked(found, place) if (ms := one.cpu) is not None
    ]
    told: dict[str, Any] = {
        "log": Log(Party(faults[0]["kind"] if faults else ""), faults, found.stderr),
        "verdict": verdict,
        "line": line and line[1],
        "size": engine.load(row.work.pool.game).score_size,
        "sittings": list(enumerate(found.sittings)),
        "number": number,
        "number_text": str(number),
        "each_ms": sum(times) / len(times) if times else None,
        "most_ms": max(times, default=0.0),
    }
    told["asked"] = tries.asked(found, number)
    if row.at and not found.stopped and not found.faults and told["asked"]:
        told["now_did"] = told["asked"][-1].did
    if found.sittings:
        one = found.sittings[number]
        names = _bots(row, one["seating"])
        told["lines"] = narrate.narrate(shown_moments(one["replay"]), numbered(names), names)
    return told


def _bots(row: Try, seating: Sequence[int]) -> list[str]:
    """Who holds each seat."""
    mine = row.name or _("my bot")
    return [row.rival.bot.slug if party else mine for party in seating]


@never_cache
@login_required
def sent(request: HttpRequest, public_id: str) -> HttpResponse:
    """What one's own bots were sent in a sitting (`?b=&s=`) of a match that is over, decision by decision; each can be opened in the editor."""
    player = player_of(request)
    match = get_object_or_404(
        sight.matches(Match.objects.select_related("pool", "tournament"), user_of(request)), public_id=public_id
    )
    board, sitting = whole_number(request.GET.get("b")) or match.first_board, whole_number(request.GET.get("s")) or 0
    row = get_object_or_404(Sitting.objects.filter(board__match=match, board__number=board), number=sitting)
    parties = {party.number: party for party in match.parties.select_related("version__bot", "version__package")}
    mine = [seat for seat, held in enumerate(row.seating) if parties[held].version.bot.owner_id == player.pk]
    if not mine:
        raise Http404
    seats, refused = [], ""
    try:
        for seat in mine:
            lines = conversations.told(match, board, sitting, seat, player)
            here = [
                _logged(one, match, sitting)
                for one in lines
                if one.board == board and one.step >= 0 and one.answer is not None
            ]
            seats.append((seat + 1, parties[row.seating[seat]].version, here))
    except Refused as refusal:
        refused = shown(refusal)
    context = {"match": match, "board": board, "sitting": sitting, "seats": seats, "refused": refused}
    return render(request, "matches/sent.html", context)


def _logged(one: Exchange, match: Match, sitting: int) -> tuple[str, tries.Asked]:
    """A decision of a match, with the name of its place."""
    request = one.request.decode("ascii", "replace").rstrip("\n")
    legal = json.loads(request)["legal"]
    at = tries.Moment(match.public_id, one.board, sitting, one.seat, one.step)
    return _name_of(at), tries.Asked(
        one.step, one.seat + 1, request, one.fault or one.answer or "", legal, one.answer or ""
    )


@never_cache
@login_required
def tried_json(request: HttpRequest, public_id: str) -> JsonResponse:
    """What the viewer folds of a sitting (`?s=`) of one's own try."""
    row = _mine(request, public_id)
    found = tries.opened(row)
    number = whole_number(request.GET.get("s")) or 0
    if found is None or number >= len(found.sittings):
        raise Http404
    one, record = found.sittings[number], tries.record_of(found, number)
    answer = for_viewer(record, _bots(row, one["seating"]), one["seating"])
    return JsonResponse(answer, json_dumps_params={"separators": (",", ":"), "ensure_ascii": False})
