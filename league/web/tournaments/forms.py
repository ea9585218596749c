"""The form of a new tournament. It checks the shape of values; `league.domain.tournaments` decides what is allowed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

import engine
from engine.rules.options import Range, word
from engine.rules.resolving import choices
from league.domain.tournaments import formats
from league.enums import Seeding
from league.pure.formats import Parameter
from league.web.common.fields import set_choices


def usable_formats(game: engine.Game) -> list[formats.DescribedFormat]:
    """Return the formats available for a game."""
    return [description for description in formats.describe_formats() if len(game.sides) == 2 or description.seats]


class TournamentForm(forms.Form):
    """A tournament of one game. Further fields: the parameters of every format and the options of the game."""

    name = forms.CharField(label=_("Tournament name"), max_length=80)
    boards = forms.IntegerField(
        label=_("Boards per match"),
        min_value=1,
        help_text=_("More boards, less luck. Each board is played once in every seating, with the same cards."),
    )
    format = forms.ChoiceField(label=_("Format"), initial="round_robin", required=False, widget=forms.RadioSelect)
    mixed = forms.BooleanField(
        label=_("Mixed pairs"),
        required=False,
        help_text=_("Teams of two different bots that change partners. Mixed pairs have their own rating list."),
    )
    sealed = forms.BooleanField(
        label=_("Sealed bots only"),
        required=False,
        help_text=_(
            "Bots run without access to a clock. Bots in Node.js and packages with sealable = false cannot enter."
        ),
    )
    seeding = forms.ChoiceField(label=_("Seeds"), choices=Seeding.choices, initial=Seeding.RATING, required=False)
    bots = forms.MultipleChoiceField(
        label=_("Bots"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The latest accepted version of each bot plays. Others can enter while the tournament is open."),
    )

    def __init__(self, game: engine.Game, bots: list[tuple[str, str]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.game = game
        if sorted(map(len, game.sides)) != [2, 2]:
            del self.fields["mixed"]
        self.formats = usable_formats(game)
        set_choices(self, bots=bots, format=[(description.key, description.title) for description in self.formats])
        for description in self.formats:
            for parameter, text in description.parameters:
                self.fields[f"{description.key}__{parameter.name}"] = _parameter_field(parameter, text)
        self.option_names = []
        for name, choice in choices(game.declared, game.players).items():
            default = word(getattr(game.rules, name))
            field = (
                _range_field(choice, default)
                if isinstance(choice, Range)
                else _choice_field([word(c) for c in choice], default)
            )
            field.label = name
            field.required = False
            self.fields[f"option_{name}"] = field
            self.option_names.append(f"option_{name}")

    def clean(self) -> dict[str, Any]:
        """Add the `parameters` of the chosen format, and the `options` that differ from the defaults of the game."""
        cleaned = super().clean() or {}
        cleaned["format"] = cleaned.get("format") or "round_robin"
        cleaned["seeding"] = cleaned.get("seeding") or Seeding.RATING
        cleaned["parameters"] = self._parameters(cleaned["format"], cleaned)
        options = {}
        for name in self.option_names:
            value = cleaned.get(name)
            if value in (None, ""):
                continue
            choice = choices(self.game.declared, self.game.players)[name.removeprefix("option_")]
            if not isinstance(choice, Range):
                value = next((word(c) for c in choice if _text(word(c)) == value), value)
            if value != word(getattr(self.game.rules, name.removeprefix("option_"))):
                options[name.removeprefix("option_")] = value
        cleaned["options"] = options
        return cleaned

    def _parameters(self, key: str, cleaned: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the chosen format; empty fields keep their defaults."""
        parameters = [
            parameter
            for description in self.formats
            if description.key == key
            for parameter, _text in description.parameters
        ]
        values = {parameter.name: cleaned.get(f"{key}__{parameter.name}") for parameter in parameters}
        for parameter in parameters:
            if isinstance(parameter.default, bool) and self.data.get("format") is None:
                values[parameter.name] = parameter.default  # Without the form, a missing checkbox does not mean False.
        return {name: value for name, value in values.items() if value is not None}

    @property
    def format_choices(self) -> list[tuple[formats.DescribedFormat, Any, list[forms.BoundField]]]:
        """Each format with its radio button and the fields of its parameters, for the template."""
        boxes = {str(box.data["value"]): box for box in self["format"]}
        return [
            (
                description,
                boxes[description.key],
                [self[f"{description.key}__{p.name}"] for p, _text in description.parameters],
            )
            for description in self.formats
        ]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        """The fields of the options, for the template."""
        return [self[name] for name in self.option_names]


def _text(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _choice_field(values: list[object], default: object) -> forms.Field:
    choices = [
        (_text(value), {"true": _("yes"), "false": _("no"), "null": _("none")}.get(_text(value), _text(value)))
        for value in values
    ]
    return forms.ChoiceField(choices=choices, initial=_text(default))


def _parameter_field(parameter: Parameter, text: str) -> forms.Field:
    """Return a number field or a checkbox."""
    texts: dict[str, Any] = {
        "label": parameter.name,
        "help_text": text,
        "initial": parameter.default,
        "required": False,
    }
    if isinstance(parameter.default, bool):
        return forms.BooleanField(**texts)
    kind: Any = forms.IntegerField if isinstance(parameter.default, int) else forms.FloatField
    field: forms.Field = kind(min_value=parameter.low, max_value=parameter.high, **texts)
    return field


def _range_field(choice: Range, default: object) -> forms.Field:
    return forms.IntegerField(min_value=choice.low, max_value=choice.high, initial=default)
