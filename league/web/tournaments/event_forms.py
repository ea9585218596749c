"""Forms of events and recurring leagues."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.dates import WEEKDAYS as WEEK
from django.utils.translation import gettext_lazy as _

import engine
from league.domain.tournaments import releases
from league.enums import Audience
from league.pure.calendar.calendars import WEEKDAYS
from league.pure.formats.base import MOST_BOARDS
from league.web.common.fields import Choices, set_choices
from league.web.tournaments.forms import usable_formats

# Stages on the form; an event created from a file may have more.
STAGES = 3
PARAMETERS = _("Parameters")
SUCH_AS = _(
    "For example rounds=3, cap=4. Leave it empty to use the defaults. The list of formats explains the parameters."
)


class ParametersField(forms.CharField):
    """A field that parses 'rounds=3, cap=4' into a dictionary. The format checks names and values."""

    def __init__(self) -> None:
        super().__init__(label=PARAMETERS, required=False, help_text=SUCH_AS, max_length=200)

    def clean(self, value: Any) -> dict[str, Any]:
        """Raise ValidationError for a part without a name or a value."""
        parameters = {}
        for part in filter(None, (part.strip() for part in super().clean(value).split(","))):
            name, _equals, text = (word.strip() for word in part.partition("="))
            if not name or not text:
                raise forms.ValidationError(
                    _("%(part)s is not a parameter; write name=value, for example rounds=3"), params={"part": part}
                )
            try:
                parameters[name] = json.loads(text)
            except ValueError:
                parameters[name] = text
        return parameters


def _boards() -> forms.IntegerField:
    return forms.IntegerField(
        label=_("Boards per match"),
        min_value=1,
        max_value=MOST_BOARDS,
        required=False,
        help_text=_("Leave it empty to use the default of this game."),
    )


class StageForm(forms.Form):
    """One stage. Without a format the stage is left out."""

    format = forms.ChoiceField(label=_("Format"), required=False)
    boards = _boards()
    groups = forms.IntegerField(
        label=_("Groups"),
        min_value=1,
        max_value=32,
        initial=1,
        required=False,
        help_text=_("Entries are distributed by seed in zigzag order."),
    )
    advance = forms.IntegerField(
        label=_("Bots advancing from each group"),
        min_value=1,
        required=False,
        help_text=_("Leave it empty for the last stage."),
    )
    parameters = ParametersField()

    def __init__(self, *args: Any, choices: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, format=choices)

    def stage(self) -> dict[str, Any]:
        """Return the stage as written in the plan of an event."""
        values = {name: self.cleaned_data[name] for name in ("format", "boards", "groups", "advance", "parameters")}
        return {name: value for name, value in values.items() if value not in (None, "", {})}


class TermsForm(forms.Form):
    """The start of an event, the audience of its results and their release."""

    due = forms.DateTimeField(
        label=_("Entries close at (UTC)"),
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
        help_text=_(
            "The event then starts automatically, with the default version of each bot at that time. Leave it empty to start it yourself."
        ),
    )
    audience = forms.ChoiceField(
        label=_("Who sees the results before release"),
        choices=Audience.choices,
        initial=Audience.PUBLIC,
        required=False,
        help_text=_("Matches, boards and standings. Matches with hidden results are unrated."),
    )
    release = forms.DateTimeField(
        label=_("Release results at (UTC)"),
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
        help_text=_("Leave it empty to release them yourself."),
    )
    pace_s = forms.IntegerField(
        label=_("Seconds per board"),
        min_value=0,
        max_value=releases.PACE_S[1],
        initial=0,
        required=False,
        help_text=_("The show starts at the release time, once all boards are played. 0: release everything at once."),
    )

    def terms(self) -> releases.Terms:
        """Return the terms of a valid form."""
        cleaned = self.cleaned_data
        return releases.Terms(
            cleaned["audience"] or Audience.PUBLIC,
            bool(cleaned.get("private")),
            cleaned["release"],
            cleaned["pace_s"] or 0,
            cleaned.get("due"),
        )


class EventForm(TermsForm):
    """The whole event: name, bots, audience and `stages`, one form each."""

    name = forms.CharField(label=_("Event name"), max_length=60)
    bots = forms.MultipleChoiceField(label=_("Bots"), required=False, widget=forms.CheckboxSelectMultiple)
    private = forms.BooleanField(
        label=_("Private"),
        required=False,
        help_text=_("Only people with your link can see the event and enter bots until you start it. It is unrated."),
    )

    def __init__(
        self,
        game: engine.Game,
        bots: list[tuple[str, str]],
        data: Any = None,
        *,
        chosen: Collection[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(data, **kwargs)
        self.game = game
        set_choices(self, bots=bots)
        self.fields["bots"].initial = [slug for slug, _text in bots if slug in chosen]
        titles = [(description.key, description.title) for description in usable_formats(game)]
        final = "single_elimination" if len(game.sides) == 2 else "round_robin"
        start = [{"format": "round_robin", "groups": 2, "advance": 2}, {"format": final}]
        self.stages = [
            StageForm(
                data,
                prefix=f"stage{number}",
                initial=start[number - 1] if number <= len(start) else {},
                choices=titles if number == 1 else [("", _("no more stages")), *titles],
            )
            for number in range(1, STAGES + 1)
        ]

    def clean(self) -> dict[str, Any]:
        """Require bots unless the event is private, which others enter later."""
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("bots") and not cleaned.get("private") and "bots" not in self.errors:
            self.add_error("bots", self.fields["bots"].error_messages["required"])
        return cleaned

    def is_valid(self) -> bool:
        """Return True if the form and all its stages are valid."""
        return all([super().is_valid(), *(stage.is_valid() for stage in self.stages)])

    def document(self) -> dict[str, Any]:
        """Return the plan of a valid form, up to the first stage without a format."""
        stages = []
        for form in self.stages:
            if not form.cleaned_data["format"]:
                break
            stages.append(form.stage())
        plan = {"name": self.cleaned_data["name"], "game": self.game.key, "stages": stages}
        return (
            plan if self.game.players == engine.load(self.game.key).players else plan | {"players": self.game.players}
        )


class CircuitForm(forms.Form):
    """A recurring league: format, calendar and divisions."""

    name = forms.CharField(label=_("League name"), max_length=60)
    days = forms.MultipleChoiceField(label=_("Days"), widget=forms.CheckboxSelectMultiple, initial=["fri"])
    at = forms.TimeField(
        label=_("Time of day"), initial="20:00", input_formats=["%H:%M"], widget=forms.TimeInput(attrs={"type": "time"})
    )
    time_zone = forms.CharField(
        label=_("Time zone"),
        initial="Europe/Madrid",
        max_length=40,
        help_text=_("For example Europe/Madrid. The calendar follows its summer time."),
    )
    format = forms.ChoiceField(label=_("Format"), initial="round_robin")
    parameters = ParametersField()
    boards = _boards()
    size = forms.IntegerField(label=_("Bots per division"), min_value=2, max_value=64, initial=8)
    moves = forms.IntegerField(
        label=_("Promoted and relegated"),
        min_value=0,
        initial=2,
        help_text=_("How many bots move up and down between neighbouring divisions after each season."),
    )
    bots = forms.MultipleChoiceField(
        label=_("Your bots"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Other players can join with their bots on the league page."),
    )

    def __init__(self, game: engine.Game, bots: list[tuple[str, str]], data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        set_choices(
            self,
            days=[(day, WEEK[number]) for number, day in enumerate(WEEKDAYS)],
            format=[(description.key, description.title) for description in usable_formats(game)],
            bots=bots,
        )

    def wanted(self) -> dict[str, Any]:
        """Return the arguments of `league.domain.tournaments.circuits.create` besides owner, name and game."""
        cleaned = self.cleaned_data
        same = {name: cleaned[name] for name in ("time_zone", "format", "parameters", "boards", "size", "moves")}
        return same | {"days": ",".join(cleaned["days"]), "at": cleaned["at"].strftime("%H:%M")}
