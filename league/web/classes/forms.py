"""Forms of classes and assignments. They check the shape of values; `league.domain.classes` decides what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

import engine
from league.domain.bots import tries
from league.domain.classes import assignments, classes
from league.domain.classes.assignments import AssignmentTerms
from league.domain.classes.classes import ClassTerms
from league.enums import PassRule
from league.models import Assignment, SchoolClass
from league.web.common.fields import set_choices
from league.web.common.game_lines import game_title
from league.web.common.zoned import ZonedForm, moment_field

LATE_WORDS = {0: _("is not accepted"), 50: _("gets half of the marks"), 100: _("gets all marks")}


class ClassForm(ZonedForm):
    """A class: only its name is needed."""

    zoned: Sequence[str] = ("closes",)
    name = forms.CharField(label=_("Name of the class"), max_length=60)
    roster = forms.CharField(
        label=_("Names of the students"),
        required=False,
        max_length=30_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_(
            "Optional. One on each line, and after a semicolon the student number: Alonso, Marta; 4711. Then only they can "
            "join, each under this name. Only teachers see these names."
        ),
    )
    places = forms.IntegerField(label=_("Most students"), min_value=1, max_value=classes.MOST_PLACES, initial=40)
    closes = moment_field(_("The join link closes"), _("Leave it empty if students may join at any time."))

    @classmethod
    def of(cls, row: SchoolClass, data: Any = None) -> ClassForm:
        """Return the form with the present values."""
        roster = "\n".join("; ".join(filter(None, entry)) for entry in row.roster)
        initial = {"name": row.name, "roster": roster, "places": row.places, "closes": row.closes}
        return cls(data, initial=initial)

    def terms(self) -> ClassTerms:
        """Return the terms of a valid form. Raise Refused for a roster that cannot be read."""
        chosen = self.cleaned_data
        roster = classes.read_roster(chosen["roster"])
        return ClassTerms(chosen["name"], chosen["places"], chosen["closes"], roster)


class JoinForm(forms.Form):
    """The name of a student, and what they agree to."""

    name = forms.CharField(
        label=_("Your name, as your teacher knows it"),
        max_length=classes.MOST_NAME,
        help_text=_(
            "The teachers of the class and the operators of the league see it. Classmates see the name of your account."
        ),
    )
    helped = forms.BooleanField(
        label=_("My teachers may give me a new password if I forget mine"),
        required=False,
        help_text=_("They could then use your account. You can take this back at any time."),
    )


class AssignmentForm(ZonedForm):
    """An assignment. The fields of the game's rules are a form of their own."""

    zoned: Sequence[str] = ("opens", "due")
    title = forms.CharField(label=_("Title"), max_length=60)
    game = forms.ChoiceField(label=_("Game"), widget=forms.Select(attrs={"data-refresh": ""}))
    due = moment_field(_("Due"), _("The last moment to hand in a bot."), required=True)
    opens = moment_field(_("Opens"), _("Leave it empty to open it at once."))
    rule = forms.ChoiceField(label=_("Pass mark"), widget=forms.RadioSelect, initial=PassRule.BETTER)
    rival = forms.ChoiceField(label=_("House bot"), initial="greedy", help_text=_("It plays all other seats."))
    attempts = forms.IntegerField(
        label=_("Attempts"),
        min_value=1,
        max_value=assignments.MOST_ATTEMPTS,
        initial=3,
        help_text=_("“95 % sure” holds for all attempts together: with more attempts each needs clearer results."),
    )
    late_percent = forms.TypedChoiceField(
        label=_("A late bot"), coerce=int, choices=tuple(LATE_WORDS.items()), initial=0
    )
    marks = forms.IntegerField(label=_("Marks for passing"), min_value=0, max_value=assignments.MOST_MARKS, initial=10)
    clean_marks = forms.IntegerField(
        label=_("Marks for a bot without faults that does not pass"),
        min_value=0,
        max_value=assignments.MOST_MARKS,
        initial=0,
    )
    place_marks = forms.IntegerField(
        label=_("Extra marks for the best bot"),
        min_value=0,
        max_value=assignments.MOST_MARKS,
        initial=0,
        help_text=_("The next ones get fewer, down to a share for the last one that passes."),
    )
    is_extra = forms.BooleanField(
        label=_("All its marks are extra"),
        required=False,
        help_text=_("They come on top of the total, for example for beating a stronger house bot."),
    )

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        set_choices(
            self,
            game=[(key, game_title(key)) for key in engine.games()],
            rule=PassRule.choices,
            rival=[(version.bot.slug, version.bot.slug) for version in tries.rivals()],
        )

    @classmethod
    def of(cls, row: Assignment, data: Any = None) -> AssignmentForm:
        """Return the form with the present values."""
        initial = {name: getattr(row, name) for name in cls.base_fields if hasattr(row, name)}
        return cls(data, initial={**initial, "game": row.pool.game, "rival": row.rival.bot.slug})

    def terms(self, players: int, options: Mapping[str, Any]) -> AssignmentTerms:
        """Return the terms of a valid form."""
        chosen = {name: value for name, value in self.cleaned_data.items() if name != "zone"}
        return AssignmentTerms(players=players, options=options, **chosen)
