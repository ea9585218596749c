"""The choice of bots on the form of a tournament or event. It shows some bots; a search by name finds the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

import engine
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.models import BotVersion, Player
from league.web.common import inputs
from league.web.common.fields import set_choices
from league.web.common.viewers import player_of
from league.web.tournaments.entrants import MOST_OFFERED, choices, entrants, offer

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class BotChoice:
    """The bots on a form, and the ones that a fresh form has ticked."""

    versions: dict[str, BotVersion]
    labels: list[tuple[str, str]]
    start: list[str]
    part: str  # The search text.
    more: bool  # True if the league has more bots.
    most: int = MOST_OFFERED

    @property
    def searched(self) -> bool:
        """Return True if the form has a search field."""
        return self.more or bool(self.part)


def sent_names(data: QueryDict, name: str = "bots") -> list[str]:
    """Return the names of bots in a form or a link."""
    return [inputs.short_text(value, 40) for value in data.getlist(name)]


def bot_choice(game: str, player: Player, sent: QueryDict, link: QueryDict) -> BotChoice:
    """Build the choice for a `sent` form, or for a fresh one after a `link` such as `?with=rufo&with=greedy` or `?find=ru`. At most six queries.

    On a fresh form only the player's own bots are ticked, so nobody has to remove house bots or strangers from a tournament with friends.
    """
    part = inputs.short_text((sent or link).get("find", ""), 40).lower()
    linked = sent_names(link, "with")
    chosen = sent_names(sent) if sent else linked
    offered = offer(game, player, chosen=chosen, part=part)
    labels, willing = choices(offered.versions, player)
    own = ownership.allowed_bots(player, (version.bot for _slug, version in offered.versions), BotAct.ENTER)
    willing = {slug for slug, version in offered.versions if version.bot_id in own} & willing
    start = [slug for slug, _text in labels if (slug in linked if linked else slug in willing)]
    if offered.more or part:
        labels.sort(key=lambda label: label[0] not in {*chosen, *start})
    return BotChoice(dict(offered.versions), labels, start, part, offered.more)


def labels_of_sent(game: str, sent: QueryDict) -> list[tuple[str, str]]:
    """Return the choices of a form that is only used for a forecast: the sent bots. One query."""
    return [(slug, str(version)) for slug, version in entrants(game, Q(slug__in=sent_names(sent)))]


def unsent(forms_: Iterable[forms.BaseForm], sent: QueryDict) -> None:
    """Fill fresh forms with the values that somebody has entered so far, without checks."""
    for form in forms_:
        for name, field in form.fields.items():
            form.initial[name] = field.widget.value_from_datadict(sent, {}, form.add_prefix(name))


class BotsForm(forms.Form):
    """The checkboxes of the bots, without the rest of the form."""

    bots = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)


@login_required
def found_bots(request: HttpRequest) -> HttpResponse:
    """Return the checkboxes while somebody types a name: the ticked bots and those that match. At most seven queries."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        raise Http404
    choice = bot_choice(key, player_of(request), request.GET, QueryDict())
    form = BotsForm(initial={"bots": sent_names(request.GET)})
    set_choices(form, bots=choice.labels)
    return render(request, "tournaments/parts/bot_boxes.html", {"field": form["bots"], "choice": choice})
