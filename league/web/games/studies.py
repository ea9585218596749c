"""Studies of variants: the form that starts one, and its page, which grows with the boards."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

import engine
from league.domain.core.errors import Forbidden, Refused, shown
from league.domain.studies import asking, parts
from league.models import Study
from league.pure.refusal import Message
from league.service import changes, topics
from league.web.common import errors, inputs
from league.web.common.game_lines import describe_game
from league.web.common.options import OptionsForm, describe_options, first_change, form_values, game_chosen
from league.web.common.viewers import player_of, viewer_of
from league.web.games import lab

UNCHANGED = Message("nothing differs from the usual rules; change at least one rule, or the number of players")


class StudyForm(forms.Form):
    """The boards and bots of a study."""

    boards = forms.IntegerField(
        label=_("Boards"),
        min_value=asking.LEAST,
        max_value=asking.MOST,
        initial=asking.USUAL,
        help_text=_("Four times as many boards halve the intervals. You can add boards later."),
    )
    better = forms.ChoiceField(label=_("Bots"), required=False)

    def __init__(self, game: engine.Game, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        pairs = asking.pairs(game.key)
        self.has_bots = bool(pairs)
        self.fields["better"].choices = [  # type: ignore[attr-defined]
            (better.bot.slug, f"{better.bot.slug} – {worse.bot.slug}") for better, worse in pairs
        ]


@never_cache
@login_required
def new_study(request: HttpRequest, key: str) -> HttpResponse:
    """Show the form for a study of a variant of a game, or start it."""
    if key not in engine.games():
        raise Http404
    usual, change = engine.load(key), {}
    player, is_sent = player_of(request), request.method == "POST" and request.POST.get("do") != "refresh"
    game = game_chosen({"game": key, "players": request.POST.get("players", "")})
    if request.method == "POST":
        data, initial = (request.POST, None) if is_sent else (None, request.POST.dict())
        form, rules = StudyForm(game, data, initial=initial), OptionsForm(game, data, initial=initial)
    else:
        reports = [report["options"] for report in lab.reports_of(key) if report["players"] == game.players]
        likely: dict[str, Any] = next(filter(None, reports), {})
        change = first_change(game, likely)
        form, rules = StudyForm(game), OptionsForm(game, initial=form_values(change))
    status = 200
    if is_sent:
        status = 422
        if form.is_valid() and rules.is_valid():
            wish = form.cleaned_data
            chosen = engine.load(key, players=game.players, **rules.cleaned_data["options"])
            try:
                if not chosen.options and chosen.players == usual.players:
                    raise Refused(UNCHANGED.message)
                row = asking.begin(chosen, player, boards=wish["boards"], better=wish["better"])
                return redirect("study", key=row.key)
            except Refused as refusal:
                form.add_error(None, shown(refusal))
                status = errors.status_of(refusal)
    context = {"game": describe_game(key), "form": form, "options": rules, "running": asking.running(player)}
    context |= {"usual_players": usual.players, "unchanged": shown(UNCHANGED), "change": describe_options(key, change)}
    return render(request, "games/study_new.html", context, status=status)


@never_cache
def study(request: HttpRequest, key: str) -> HttpResponse:
    """Show a study beside the usual rules, as far as they are played; stop it, or let it go on with more boards."""
    rows = Study.objects.select_related("parent", "player").filter(game__in=engine.games())
    row = get_object_or_404(rows, key=key)
    if request.method == "POST":
        return _act(request, row)
    topics.follow(request, changes.STUDIES)
    shown_rows = [row.parent, row] if row.parent is not None else [row]
    reports = [each.report for each in shown_rows if each.report]
    viewer = viewer_of(request)
    final = asking.why_ended(row, viewer, asking.MOST)
    context = {
        "study": row,
        "final": shown(final) if final is not None else "",
        "game": describe_game(row.game),
        "rules": describe_options(row.game, row.options),
        "rows": shown_rows,
        "lab": lab.lab_from(reports) if reports else None,
        "may_stop": asking.may_stop(row, viewer),
        "resumed": min(row.boards, asking.MOST),
        "more": [boards for boards in (1_000, 3_000, asking.MOST) if boards > row.boards],
        "variant": _variant(row),
    }
    return render(request, "games/study.html", context)


def _variant(row: Study) -> str:
    """Return the file of options for `tute lab`; "" if a value has no place in such a file."""
    if None in row.options.values():
        return ""
    lines = [f'game = "{row.game}"', f"players = {row.players}"]
    lines += ["", "[options]", *(f"{name} = {json.dumps(value)}" for name, value in row.options.items())]
    return "\n".join(lines[: None if row.options else 2])


@login_required
def _act(request: HttpRequest, row: Study) -> HttpResponse:
    """Stop a study, or let it go on."""
    player, action = player_of(request), request.POST.get("action", "")
    try:
        if action == "stop":
            asking.stop(row, player)
        elif action == "more":
            rules = parts.rules_of(row)
            boards = inputs.whole_number(request.POST.get("boards")) or 0
            row = asking.begin(rules, player, boards=boards, better=row.inputs["bots"][0]["name"])
        else:
            raise PermissionDenied
    except Forbidden as refusal:
        raise PermissionDenied(shown(refusal)) from None
    except Refused as refusal:
        messages.error(request, shown(refusal))
    except engine.OptionError:
        messages.error(request, _("These rules no longer exist. Study others."))
    return redirect("study", key=row.key)
