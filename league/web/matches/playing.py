"""The page Play: open a table at once, with or without an account; choose its settings; list the person's own tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from league.domain.core.errors import Refused, shown
from league.domain.people.guests import Visitor
from league.domain.tables import clocks, ending, levels, people, rooms, seating, standing
from league.domain.tables.levels import Level
from league.domain.tables.people import Sitter
from league.enums import TableWatching
from league.models import BotVersion, Player, Table, TablePerson
from league.models.tables import LIVE
from league.web.common import errors, families
from league.web.common import guests as cookies
from league.web.common.fields import set_choices
from league.web.common.game_lines import describe_game
from league.web.common.inputs import is_own_form
from league.web.common.options import USUAL_GAME, OptionsForm, game_chosen
from league.web.common.viewers import player_of

FIRST: dict[str, Any] = {
    "game": USUAL_GAME,
    "level": str(Level.NORMAL),
    "boards": 1,
}  # The table without any choice.
LATEST = 10  # Number of own tables on the page.
HEAVY = ("events", "table__seen", "table__legal", "table__hand", "table__spectated", "table__records", "table__secret")


class TableForm(forms.Form):
    """The settings of any table, without its rules (OptionsForm). Missing settings are those of FIRST."""

    game = forms.ChoiceField(
        label=gettext_lazy("Game"), required=False, widget=forms.Select(attrs={"data-refresh": ""})
    )
    level = forms.ChoiceField(label=gettext_lazy("Level"), required=False)
    boards = forms.TypedChoiceField(
        label=gettext_lazy("Hands"),
        required=False,
        coerce=int,
        empty_value=FIRST["boards"],
        choices=[(number, str(number)) for number in range(1, seating.MOST_BOARDS + 1)],
    )

    def __init__(self, bots: Sequence[BotVersion], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bots = bots
        playable = levels.offered(bots) or levels.BOTS
        self.level_choices = [(str(level), level.label) for level in levels.BOTS if level in playable]
        set_choices(self, game=families.choices(), level=self.level_choices)

    def rules(self, rules: OptionsForm) -> dict[str, Any]:
        """Return the rules of the table."""
        return {"players": rules.game.players, "options": rules.cleaned_data["options"]}


class SharedForm(TableForm):
    """The settings of a table for friends."""

    clock = forms.ChoiceField(label=gettext_lazy("Clock"), required=False)
    listed = forms.BooleanField(
        label=gettext_lazy("Open to all"),
        required=False,
        help_text=gettext_lazy("The table stands in the lobby, and any player with an account may sit down."),
    )

    watching = forms.ChoiceField(
        label=gettext_lazy("Who may watch"),
        required=False,
        choices=TableWatching.choices,
        help_text=gettext_lazy("A player could watch in a second browser. Show hands only among friends."),
    )
    same_deals = forms.BooleanField(
        label=gettext_lazy("Others may play the same cards"),
        required=False,
        help_text=gettext_lazy(
            "Other tables play them within a day, and all results are compared. Until then nobody watches, and the cards stay hidden."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, clock=[(clock_word(*time), clock_name(*time)) for time in clocks.CLOCKS])

    def settings(self, rules: OptionsForm) -> dict[str, Any]:
        """Return the arguments of `rooms.gather` and `rooms.change`."""
        values = self.cleaned_data
        time = {clock_word(*time): time for time in clocks.CLOCKS}.get(values["clock"], clocks.CLOCK)
        chosen = {"boards": int(values["boards"]), "time": time, "listed": values["listed"]}
        chosen |= {"watching": values["watching"] or TableWatching.HIDDEN, "same_deals": values["same_deals"]}
        return {"game": rules.game.key, "level": values["level"] or FIRST["level"], **chosen, **self.rules(rules)}


def clock_word(seconds: int, increment_s: int) -> str:
    """Return the word of a clock in forms, such as "60" or "120+3"."""
    return f"{seconds}+{increment_s}" if increment_s else str(seconds)


def clock_name(seconds: int, increment_s: int) -> str:
    """Return a clock in words."""
    if not seconds:
        return _("no clock")
    words = {"time": _time_name(seconds), "more": _time_name(increment_s)}
    if increment_s:
        return _("%(time)s a hand + %(more)s an answer") % words
    return _("%(time)s an answer") % words


def _time_name(seconds: int) -> str:
    if seconds < 60:
        return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
    return ngettext("%(n)s minute", "%(n)s minutes", seconds // 60) % {"n": seconds // 60}


class PlayForm(TableForm):
    """The settings of a table for one person."""

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
        super().__init__(bots, *args, **kwargs)
        self.sitter = sitter
        names = [(version.bot.slug, version.bot.slug) for version in bots]
        set_choices(
            self,
            rival=[("", _("by the level")), *names],
            partner=[("", _("the same bot")), *names],
        )
        if not isinstance(sitter, Player):
            del self.fields["advice"]

    def sit(self, sitter: Sitter, rules: OptionsForm) -> Table:
        """Open a table with these settings. Raise Refused."""
        values, game = self.cleaned_data, rules.game
        rival = values["rival"] or levels.bot(values["level"] or FIRST["level"], self.bots, game.key)
        if not rival:
            raise Refused(
                "no house bot plays {game} yet; choose another game, or try again in a few minutes", game=game.title
            )
        return seating.sit(
            sitter,
            game.key,
            rival,
            values["partner"],
            values["boards"],
            **self.rules(rules),
            advice=bool(values.get("advice")),
        )


@dataclass(frozen=True)
class LatestTable:
    """A table of a person that has ended: its result, and the other people who sat there."""

    row: Table
    result: ending.TableScore | None
    company: list[str]


@never_cache
@csrf_exempt  # The front page has this button without a token, because it comes from a cache; see is_own_form.
def play(request: HttpRequest) -> HttpResponse:
    """Open a table (POST), or show the choices."""
    if not seating.is_on():
        raise Http404
    if request.method != "POST":
        return _page(request, cookies.person_of(request))
    return _sit_down(request) if is_own_form(request) else _with_token(request)


def _sit_down(request: HttpRequest) -> HttpResponse:
    """Open a table, or go to the running one. After a refusal the form keeps its values."""
    sitter, key = (player_of(request), "") if request.user.is_authenticated else cookies.new_guest(request)
    if not seating.may_sit(sitter):
        return redirect(f"{reverse('login')}?{urlencode({'next': reverse('play')})}")
    form = PlayForm(sitter, seating.rivals(sitter), request.POST)
    rules = OptionsForm(game_chosen(request.POST), request.POST)
    if request.POST.get("do") == "refresh":
        return _page(request, sitter, *_unchecked(form, rules))
    row = people.present(sitter)
    if row is None:
        if not (form.is_valid() and rules.is_valid()):
            return _page(request, sitter, form, rules, 422)
        try:
            again = request.POST.get("again", "")
            if request.POST.get("do") in ("friends", "open"):
                shared = SharedForm(form.bots, request.POST)
                shared.full_clean()
                row = rooms.gather(sitter, **shared.settings(rules) | {"listed": request.POST["do"] == "open"})
            else:
                row = seating.sit_again(sitter, again) if again else form.sit(sitter, rules)
        except Refused as refusal:
            row = people.present(sitter)  # The other of two clicks was faster.
            if row is None:
                form.add_error(None, shown(refusal))
                return _page(request, sitter, form, rules, errors.status_of(refusal))
    response = redirect("table", public_id=row.public_id)
    if key:
        cookies.remember(response, key)
    return response


def _unchecked(form: PlayForm, rules: OptionsForm) -> tuple[PlayForm, OptionsForm]:
    """Return forms with the sent values as initial values, without checks, because Play has not been pressed yet."""
    sent: dict[str, Any] = {name: form.data.get(name, "") for name in form.fields}
    chosen = {name: rules.data.get(name, "") for name in rules.fields}
    return PlayForm(form.sitter, form.bots, initial=sent), OptionsForm(rules.game, initial=chosen)


_with_token = csrf_protect(_sit_down)


def _page(
    request: HttpRequest,
    sitter: Sitter | None,
    form: PlayForm | None = None,
    rules: OptionsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    if form is None or rules is None:
        rules = OptionsForm(game_chosen(request.GET))
        form = PlayForm(sitter, seating.rivals(sitter or Visitor("")), initial={**FIRST, "game": rules.game.key})
    player = sitter if isinstance(sitter, Player) else None
    context = {
        "form": form,
        "options": rules,
        "chosen": request.method == "POST" or "game" in request.GET,
        "known": [describe_game(key) for key in families.BEST_KNOWN[1:]],
        "other_levels": [(level, label) for level, label in form.level_choices if level != FIRST["level"]],
        "may_sit": seating.may_sit(sitter),
        "guest": player is None,
        "present": people.present(sitter) if sitter else None,
        "latest": _latest(sitter) if sitter else [],
        "standing": standing.game_records(player) if player else [],
        "most_tables": standing.MOST_TABLES,
    }
    return render(request, "matches/play.html", context, status=status)


def _latest(sitter: Sitter) -> list[LatestTable]:
    """Return the latest tables of a person that have ended. Two queries."""
    seats = people.seats(sitter).exclude(table__status__in=LIVE).select_related("table__pool").defer(*HEAVY)
    own_seats = list(seats.order_by("-table")[:LATEST])
    others: dict[int, list[str]] = defaultdict(list)
    company = TablePerson.objects.filter(table__in=[seat.table_id for seat in own_seats if seat.table.shared])
    for other in company.exclude(pk__in=[seat.pk for seat in own_seats]).select_related("player").order_by("number"):
        others[other.table_id].append(other.player.name if other.player else _(people.NAME))
    return [
        LatestTable(seat.table, ending.result(seat.table, seat.number), others[seat.table_id]) for seat in own_seats
    ]
