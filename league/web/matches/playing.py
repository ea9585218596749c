"""The page Play: a hand now, with or without an account; the settings of another one; the person's own tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect

import engine
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.people import quotas
from league.domain.tables import guests, levels, seating, standing
from league.domain.tables.guests import Guest, Sitter
from league.domain.tables.levels import Level
from league.models import BotVersion, Player
from league.models.tables import LIVE
from league.web.common import guests as cookies
from league.web.common.fields import set_choices
from league.web.common.inputs import is_own_form
from league.web.common.viewers import player_of

FIRST = {"game": "partnership", "level": str(Level.NORMAL), "boards": 1}  # What is played without any choice.
LATEST = 10  # Number of tables on the page.
HEAVY = ("seen", "legal", "hand", "records")


class PlayForm(forms.Form):
    """The settings of a table. What is not chosen is as in FIRST."""

    game = forms.ChoiceField(label=gettext_lazy("Game"), required=False)
    level = forms.ChoiceField(label=gettext_lazy("Level"), required=False)
    boards = forms.TypedChoiceField(
        label=gettext_lazy("Hands"),
        required=False,
        coerce=int,
        empty_value=FIRST["boards"],
        choices=[(number, str(number)) for number in range(1, seating.MOST_BOARDS + 1)],
    )
    rival = forms.ChoiceField(label=gettext_lazy("A certain bot"), required=False)
    partner = forms.ChoiceField(
        label=gettext_lazy("Partner"), required=False, help_text=gettext_lazy("Only for games played in pairs.")
    )
    advice = forms.BooleanField(
        label=gettext_lazy("With advice"),
        required=False,
        help_text=gettext_lazy(
            "You can ask the best house bot what it would do. A table with advice does not count for your rating."
        ),
    )

    def __init__(self, sitter: Sitter | None, bots: Sequence[BotVersion], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bots = bots
        games = [(key, engine.load(key).title) for key in engine.games()]
        there = levels.offered(bots) or levels.BOTS
        names = [(version.bot.slug, version.bot.slug) for version in bots]
        set_choices(
            self,
            game=games,
            level=[(level, level.label) for level in levels.BOTS if level in there],
            rival=[("", _("by the level")), *names],
            partner=[("", _("the same bot")), *names],
        )
        if not isinstance(sitter, Player):
            del self.fields["advice"]

    def sit(self, sitter: Sitter) -> str:
        """Sit down with these settings; return the public id of the table. Raise Refused."""
        values = self.cleaned_data
        game = values["game"] or FIRST["game"]
        rival = values["rival"] or levels.bot(values["level"] or FIRST["level"], self.bots, game)
        if not rival:
            raise Refused("no house bot plays {game}; choose another game", game=engine.load(game).title)
        advice = bool(values.get("advice"))
        return seating.sit(sitter, game, rival, values["partner"], values["boards"], advice=advice).public_id


@never_cache
@csrf_exempt  # The front page has a button without a token, because it comes from a cache; see is_own_form.
def play(request: HttpRequest) -> HttpResponse:
    """Sit down at once (POST), or show what can be played."""
    if not seating.is_on():
        raise Http404
    if request.method != "POST":
        return _page(request, cookies.sitter_of(request))
    return _sit_down(request) if is_own_form(request) else _with_token(request)


def _sit_down(request: HttpRequest) -> HttpResponse:
    """Open a table, or the running one. A refusal keeps the form."""
    sitter, key = (player_of(request), "") if request.user.is_authenticated else cookies.seat_guest(request)
    if not seating.may_sit(sitter):
        return redirect(f"{reverse('login')}?{urlencode({'next': reverse('play')})}")
    form = PlayForm(sitter, seating.rivals(sitter), request.POST)
    try:
        running = seating.present(sitter)
        if running is not None:
            public_id = running.public_id
        elif form.is_valid():
            public_id = form.sit(sitter)
        else:
            return _page(request, sitter, form, 422)
    except Refused as refusal:
        # The other of two clicks was faster.
        running = seating.present(sitter)
        if running is None:
            form.add_error(None, shown(refusal))
            return _page(request, sitter, form, 429 if isinstance(refusal, TooMany) else 422)
        public_id = running.public_id
    response = redirect("table", public_id=public_id)
    if key:
        cookies.remember(response, key)
    return response


_with_token = csrf_protect(_sit_down)


def _page(request: HttpRequest, sitter: Sitter | None, form: PlayForm | None = None, status: int = 200) -> HttpResponse:
    if form is None:
        game = request.GET.get("game", "")
        first = {**FIRST, "game": game} if game in engine.games() else FIRST
        form = PlayForm(sitter, seating.rivals(sitter or Guest("")), initial=first)
    player = sitter if isinstance(sitter, Player) else None
    over = guests.own(sitter).exclude(status__in=LIVE).select_related("pool").defer(*HEAVY) if sitter else None
    context = {
        "form": form,
        "may_sit": seating.may_sit(sitter),
        "guest": player is None,
        "present": seating.present(sitter) if sitter else None,
        "latest": list(over.order_by("-created")[:LATEST]) if over is not None else [],
        "standing": standing.game_records(player) if player else [],
        "most_tables": standing.MOST_TABLES,
        "limit": quotas.limit(player, quotas.TABLES) if player else None,
    }
    return render(request, "matches/play.html", context, status=status)
