"""The bots on the form of a tournament or an event. Of thousands it shows some; whoever wants another looks for it by a part of its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

import engine
from league.models import BotVersion, Player
from league.web.common import inputs
from league.web.common.fields import set_choices
from league.web.common.viewers import player_of
from league.web.tournaments.entrants import MOST_OFFERED, choices, entrants, offer

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class BotChoice:
    """What the form shows, and which of them are chosen when it is fresh."""

    versions: dict[str, BotVersion]
    labels: list[tuple[str, str]]
    start: list[str]
    part: str  # of a name, that was looked for
    more: bool  # the league has others
    most: int = MOST_OFFERED

    @property
    def searched(self) -> bool:
        """Whether the form has the line in which people look for a bot."""
        return self.more or bool(self.part)


def sent_names(data: QueryDict, name: str = "bots") -> list[str]:
    """The names of bots in a form or a link."""
    return [inputs.short_text(one, 40) for one in data.getlist(name)]


def bot_choice(game: str, by: Player, sent: QueryDict, link: QueryDict) -> BotChoice:
    """For what was `sent`, if anything was, or for a fresh form after a `link` such as `?with=rufo&with=greedy` or `?find=ru`. Six queries at most.

    Of a fresh form those are chosen whose owners need not be asked: all of a small league, own ones of one that is too large to be shown.
    """
    part = inputs.short_text((sent or link).get("find", ""), 40).lower()
    wanted = sent_names(link, "with")
    chosen = sent_names(sent) if sent else wanted
    offered = offer(game, by, chosen=chosen, part=part)
    labels, willing = choices(offered.versions, by)
    if offered.more or part:
        willing = {slug for slug, version in offered.versions if version.bot.owner_id == by.pk} & willing
    start = [slug for slug, _text in labels if (slug in wanted if wanted else slug in willing)]
    if offered.more or part:
        labels.sort(key=lambda one: one[0] not in {*chosen, *start})
    return BotChoice(dict(offered.versions), labels, start, part, offered.more)


def labels_of_sent(game: str, sent: QueryDict) -> list[tuple[str, str]]:
    """The choices of a form that says only what its bots would take: those that were sent. One query."""
    return [(slug, str(version)) for slug, version in entrants(game, Q(slug__in=sent_names(sent)))]


def unsent(forms_: Iterable[forms.BaseForm], sent: QueryDict) -> None:
    """Give fresh forms what somebody has filled in so far: nothing is checked yet, and nothing is lost."""
    for form in forms_:
        for name, field in form.fields.items():
            form.initial[name] = field.widget.value_from_datadict(sent, {}, form.add_prefix(name))


class BotsForm(forms.Form):
    """The boxes alone."""

    bots = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)


@login_required
def found_bots(request: HttpRequest) -> HttpResponse:
    """The boxes of a form anew while somebody types a name: those that are chosen, and those found. Seven queries at most."""
    key = request.GET.get("game", "")
    if key not in engine.games():
        raise Http404
    choice = bot_choice(key, player_of(request), request.GET, QueryDict())
    form = BotsForm(initial={"bots": sent_names(request.GET)})
    set_choices(form, bots=choice.labels)
    return render(request, "tournaments/parts/bot_boxes.html", {"field": form["bots"], "choice": choice})
