"""The form of a new tournament of any kind. It checks the shape of values; `league.domain.tournaments` decides what is allowed.

The choices decide which row is created: a recurring league for `every week`; an event if it is private, has times, hidden results or several
stages; otherwise a plain tournament.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.dates import WEEKDAYS as WEEK
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

import engine
from league.domain.core import names
from league.domain.core.errors import Refused, shown
from league.domain.tournaments import corrections, formats, releases
from league.enums import Audience, Entrance, Seeding
from league.models import Event, Tournament
from league.pure.calendar.calendars import WEEKDAYS
from league.pure.formats import Parameter
from league.web.common.fields import set_choices
from league.web.common.game_lines import describe_game
from league.web.common.zoned import ZonedForm, moment_field

WEEKLY, GROUPS = "weekly", "groups"
LATER_STAGES = (2, 3)  # A document may give an event more stages than this form.
# The formats with a well-known name, with one line for each. The others are under "Other formats".
WELL_KNOWN: dict[str, tuple[str | Promise, str | Promise]] = {
    "round_robin": (_("All meet all"), _("Fair and clear. Best up to 24 bots.")),
    "single_elimination": (_("Knock-out"), _("Short and tense. One lost match and out.")),
    "swiss": (_("By strength"), _("Many bots, few rounds (Swiss system).")),
    "arena": (_("Arena"), _("Short matches again and again, for an hour.")),
    GROUPS: (_("Groups"), _("The best of each group meet in a final stage.")),
    WEEKLY: (_("Every week"), _("A league with divisions, promotion and relegation.")),
}
PARAMETER_WORDS: dict[str, str | Promise] = {
    "cycles": _("Times that each pair meets"),
    "sure": _("Stop when the best is this sure (0 to 0.999)"),
    "rounds": _("Rounds"),
    "late": _("Late entries until round"),
    "minutes": _("Minutes"),
    "most": _("Most matches of each bot"),
    "bronze": _("Match for third place"),
    "extra": _("Extra boards at a time after a tie"),
    "cap": _("Most extra boards"),
    "advance": _("Bots advancing from each table"),
    "challengers": _("Challengers"),
    "budget": _("Boards in all"),
    "open": _("Matches at a time"),
    "head": _("Prefer the leaders"),
    "elo0": _("Weaker hypothesis (Elo per board)"),
    "elo1": _("Stronger hypothesis (Elo per board)"),
    "alpha": _("Risk of a false “stronger”"),
    "beta": _("Risk of a false “not stronger”"),
}


def parameter_words(name: str) -> str:
    """Return the name of a format's parameter for readers."""
    return str(PARAMETER_WORDS.get(name, name))


def usable_formats(game: engine.Game) -> list[formats.DescribedFormat]:
    """Return the formats that suit a game."""
    return [description for description in formats.describe_formats() if len(game.sides) == 2 or description.seats]


class UntilForm(ZonedForm):
    """The time until which the owner hides the replays of a tournament or event."""

    zoned: Sequence[str] = ("until",)
    until = moment_field(_("Hide until"), _("Leave it empty to show the replays."))

    @classmethod
    def of(cls, row: Tournament | Event) -> UntilForm:
        """Return the form with the present time."""
        return cls(initial={"until": row.embargo})


def until_of(request: HttpRequest) -> datetime | None:
    """Return the time that an owner has sent, or None if it is empty. Refuse other text."""
    form = UntilForm(request.POST)
    if not form.is_valid():
        raise Refused("this is not a time in a known time zone; write for example 2026-11-27T18:00 and Europe/Madrid")
    until: datetime | None = form.cleaned_data["until"]
    return until


class TermsForm(ZonedForm):
    """The start of an event, the audience of its results and their release."""

    zoned: Sequence[str] = ("due", "release")
    due = moment_field(
        _("Entries close"),
        _(
            "The tournament then starts by itself, with the newest version of each bot. Leave it empty to start it yourself."
        ),
    )
    audience = forms.ChoiceField(
        label=_("Who sees the results while it runs"),
        choices=Audience.choices,
        initial=Audience.PUBLIC,
        required=False,
        help_text=_("Matches, boards and standings. Hidden results never count for the ratings."),
    )
    release = moment_field(_("Show hidden results at"), _("Leave it empty to show them yourself."))
    pace_s = forms.IntegerField(
        label=_("Seconds per board of the show"),
        min_value=0,
        max_value=releases.PACE_S[1],
        initial=0,
        required=False,
        help_text=_("The show begins at that time, once all boards are played. 0: all results at once."),
    )

    def terms(self) -> releases.ReleaseTerms:
        """Return the terms of a valid form."""
        cleaned = self.cleaned_data
        return releases.ReleaseTerms(
            cleaned["audience"] or Audience.PUBLIC,
            bool(cleaned.get("private")),
            cleaned["release"],
            cleaned["pace_s"] or 0,
            cleaned.get("due"),
        )


class ContestForm(TermsForm):
    """A tournament of any kind. There are also fields for the parameters of every format, and for each later stage."""

    zoned = ("entries_from", "due", "release")
    name = forms.CharField(label=_("Name"), max_length=60)
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=corrections.MOST_DESCRIPTION,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_(
            "What the tournament is about, whom it is for, a prize. Everybody who sees the tournament can read this."
        ),
    )
    game = forms.ChoiceField(label=_("Game"), required=False, widget=forms.Select(attrs={"data-refresh": ""}))
    format = forms.ChoiceField(label=_("Format"), initial="round_robin", required=False, widget=forms.RadioSelect)
    boards = forms.IntegerField(
        label=_("Boards per match"),
        min_value=1,
        max_value=settings.MAX_BOARDS,
        help_text=_("More boards, less luck. Each board is played once in every seating, with the same cards."),
    )
    groups = forms.IntegerField(label=_("Number of groups"), min_value=1, max_value=32, required=False)
    advance = forms.IntegerField(
        label=_("Bots advancing from each group"), min_value=1, max_value=settings.MAX_ENTRIES, required=False
    )
    mixed = forms.BooleanField(
        label=_("Mixed pairs"),
        required=False,
        help_text=_("Teams of two different bots that change partners. Mixed pairs have their own rating list."),
    )
    sealed = forms.BooleanField(
        label=_("Sealed bots only"),
        required=False,
        help_text=_(
            "Bots run without access to a clock. Bots in Node.js or Java and packages with sealable = false cannot enter."
        ),
    )
    seeding = forms.ChoiceField(label=_("Seeds"), choices=Seeding.choices, initial=Seeding.RATING, required=False)
    private = forms.BooleanField(
        label=_("Private"),
        required=False,
        help_text=_(
            "Only people with your link see it and enter bots. You get the link on the next page. It does not count for the ratings."
        ),
    )
    invite = forms.BooleanField(label=_("Let the players of the copied tournament in, too"), required=False)
    entrance = forms.ChoiceField(
        label=_("Who may enter"),
        choices=Entrance.choices,
        initial=Entrance.ANYBODY,
        required=False,
        help_text=_("In a private tournament: everybody who has the link."),
    )
    per_player = forms.IntegerField(
        label=_("Bots of each player"),
        min_value=1,
        max_value=settings.MAX_ENTRIES,
        initial=1,
        required=False,
        help_text=_("So that nobody fills the tournament alone. You may enter more."),
    )
    entries_from = moment_field(_("Entries open"), _("Leave it empty to take entries at once."))
    bots = forms.MultipleChoiceField(
        label=_("Bots from the start"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The newest accepted version of each bot plays. Tick house bots if you want them to play, too."),
    )
    expected = forms.IntegerField(
        label=_("Expected number of bots"), min_value=2, max_value=settings.MAX_ENTRIES, required=False
    )
    days = forms.MultipleChoiceField(
        label=_("Days"), widget=forms.CheckboxSelectMultiple, initial=["fri"], required=False
    )
    at = forms.TimeField(
        label=_("Time of day"),
        initial="20:00",
        input_formats=["%H:%M", "%H:%M:%S"],
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}),
    )
    weekly_format = forms.ChoiceField(label=_("Format of each division"), initial="round_robin", required=False)
    size = forms.IntegerField(label=_("Bots per division"), min_value=2, max_value=64, initial=8, required=False)
    moves = forms.IntegerField(
        label=_("Promoted and relegated"),
        min_value=0,
        initial=2,
        required=False,
        help_text=_("How many bots move up and down between neighbouring divisions after each season."),
    )

    def __init__(
        self, game: engine.Game, bots: list[tuple[str, str]], data: Any = None, *, options: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(data, **kwargs)
        self.table = game
        self.options_form = options
        if sorted(map(len, game.sides)) != [2, 2]:
            del self.fields["mixed"]
        self.formats = usable_formats(game)
        titles: dict[str, str | Promise] = {d.key: d.title for d in self.formats}
        titles |= {key: title for key, (title, _line) in WELL_KNOWN.items() if key in titles or key in (GROUPS, WEEKLY)}
        plain = [(key, title) for key, title in titles.items() if key not in (GROUPS, WEEKLY)]
        games = sorted((describe_game(key).title, key) for key in engine.games())
        set_choices(
            self,
            game=[(key, title) for title, key in games],
            bots=bots,
            format=list(titles.items()),
            weekly_format=plain,
            days=[(day, WEEK[number]) for number, day in enumerate(WEEKDAYS)],
        )
        self.titles = titles
        self.fields["game"].initial = game.key
        for number in LATER_STAGES:
            self.fields[f"stage{number}_format"] = forms.ChoiceField(
                label=_("Format"), required=False, choices=[("", _("none")), *plain]
            )
            for name, field in (
                ("boards", self.fields["boards"]),
                ("groups", self.fields["groups"]),
                ("advance", self.fields["advance"]),
            ):
                if name == "boards" or number < LATER_STAGES[-1]:
                    self.fields[f"stage{number}_{name}"] = forms.IntegerField(
                        label=field.label,
                        min_value=1,
                        max_value=vars(field)["max_value"],
                        required=False,
                        initial=1 if name == "groups" else None,
                        help_text=_("Empty: as in the first stage.") if name == "boards" else "",
                    )
        for description in self.formats:
            for parameter, text in description.parameters:
                self.fields[f"{description.key}__{parameter.name}"] = _parameter_field(parameter, text)

    # ---- checks

    def clean_name(self) -> str:
        """Refuse a name with characters that are not allowed."""
        try:
            return names.checked(self.cleaned_data["name"])
        except Refused as refusal:
            raise forms.ValidationError(shown(refusal)) from refusal

    def clean(self) -> dict[str, Any]:
        """Fill in the values of empty fields, and add an error to each field that does not fit the others."""
        cleaned = super().clean()
        cleaned["format"] = cleaned.get("format") or "round_robin"
        cleaned["seeding"] = cleaned.get("seeding") or Seeding.RATING
        cleaned["entrance"] = cleaned.get("entrance") or Entrance.ANYBODY
        cleaned["per_player"] = cleaned.get("per_player") or 1
        if self.kind == "circuit":
            self._check_weekly(cleaned)
        else:
            self._check_stages(cleaned)
            self._check_times(cleaned)
        return cleaned

    def _check_weekly(self, cleaned: dict[str, Any]) -> None:
        if cleaned.get("private"):
            self.add_error("private", _("A weekly league is public. Take another format, or untick this."))
        for name in ("days", "at", "size"):
            if name not in self.errors and not cleaned.get(name):
                self.add_error(name, _("A weekly league needs this."))
        if cleaned.get("moves") is None and "moves" not in self.errors:
            cleaned["moves"] = 0
        cleaned["weekly_format"] = cleaned.get("weekly_format") or "round_robin"

    def _check_stages(self, cleaned: dict[str, Any]) -> None:
        if cleaned["format"] == GROUPS:
            cleaned["groups"] = cleaned.get("groups") or 2
            cleaned["advance"] = cleaned.get("advance") or 2
            cleaned["stage2_format"] = cleaned.get("stage2_format") or self.final
        if cleaned.get("stage3_format") and not cleaned.get("stage2_format"):
            self.add_error("stage2_format", _("Choose the second stage, or leave out the third."))
        stages = 1 + bool(cleaned.get("stage2_format")) + bool(cleaned.get("stage3_format"))
        for number, name in ((1, "advance"), (2, "stage2_advance")):
            if number < stages and not cleaned.get(name) and name not in self.errors:
                self.add_error(name, _("Say how many bots of each group go on to the next stage."))
        if stages == 1 and (cleaned.get("groups") or 1) > 1:
            self.add_error("stage2_format", _("Groups need a second stage, in which their best bots meet."))

    def _check_times(self, cleaned: dict[str, Any]) -> None:
        opening, closing = cleaned.get("entries_from"), cleaned.get("due")
        if opening and closing and closing <= opening:
            self.add_error("due", _("Entries must close after they open."))
        if (cleaned.get("audience") or Audience.PUBLIC) == Audience.PUBLIC:
            for name in ("release", "pace_s"):
                if cleaned.get(name):
                    self.add_error(name, _("Everybody sees the results from the start, so leave this empty."))

    # ---- what it becomes

    @property
    def final(self) -> str:
        """Return the usual format of a second stage."""
        return "single_elimination" if len(self.table.sides) == 2 else "round_robin"

    @property
    def kind(self) -> str:
        """Return the kind of row: "circuit", "event" or "tournament"."""
        cleaned = self.cleaned_data
        if cleaned.get("format") == WEEKLY:
            return "circuit"
        marks = ("private", "due", "entries_from", "release", "stage2_format", "stage3_format")
        special = (cleaned.get("audience") or Audience.PUBLIC) != Audience.PUBLIC
        return "event" if special or cleaned.get("format") == GROUPS or any(map(cleaned.get, marks)) else "tournament"

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the game, from the rules part of the form."""
        chosen: dict[str, Any] = self.options_form.cleaned_data.get("options", {}) if self.options_form else {}
        return chosen

    def parameters(self, key: str) -> dict[str, Any]:
        """Return the parameters of a format; empty fields keep their defaults."""
        parameters = [p for d in self.formats if d.key == key for p, _text in d.parameters]
        values = {p.name: self.cleaned_data.get(f"{key}__{p.name}") for p in parameters}
        for parameter in parameters:
            if isinstance(parameter.default, bool) and self.data.get("format") is None:
                values[parameter.name] = parameter.default  # A missing checkbox means False only if the form had it.
        return {
            p.name: values[p.name] for p in parameters if values[p.name] is not None and values[p.name] != p.default
        }

    def document(self) -> dict[str, Any]:
        """Return the plan of an event."""
        cleaned = self.cleaned_data
        first = "round_robin" if cleaned["format"] == GROUPS else cleaned["format"]
        stages = [self._stage(first, cleaned["boards"], cleaned.get("groups"), cleaned.get("advance"))]
        for number in LATER_STAGES:
            if cleaned.get(f"stage{number}_format"):
                sizes = [cleaned.get(f"stage{number}_{name}") for name in ("boards", "groups", "advance")]
                stages.append(self._stage(cleaned[f"stage{number}_format"], sizes[0] or cleaned["boards"], *sizes[1:]))
        stages[-1].pop("advance", None)
        plan = {"name": cleaned["name"], "game": self.table.key, "stages": stages}
        for name in ("mixed", "sealed"):
            if cleaned.get(name):
                plan[name] = True
        if self.options:
            plan["options"] = self.options
        if self.table.players != engine.load(self.table.key).players:
            plan["players"] = self.table.players
        return plan

    def _stage(self, key: str, boards: int, groups: int | None, advance: int | None) -> dict[str, Any]:
        values = {"format": key, "boards": boards, "groups": groups, "advance": advance}
        values["parameters"] = self.parameters(key)
        return {name: value for name, value in values.items() if value not in (None, "", {})}

    def season(self) -> dict[str, Any]:
        """Return the arguments of `league.domain.tournaments.circuits.create`, except owner, name and game."""
        cleaned = self.cleaned_data
        return {
            "time_zone": cleaned["zone"],
            "format": cleaned["weekly_format"],
            "parameters": self.parameters(cleaned["weekly_format"]),
            "boards": cleaned["boards"],
            "size": cleaned["size"],
            "moves": cleaned["moves"],
            "days": ",".join(cleaned["days"]),
            "at": cleaned["at"].strftime("%H:%M"),
            "options": self.options,
            "per_player": cleaned["per_player"],
            "description": cleaned["description"],
        }

    # ---- for the template

    @property
    def known(self) -> list[tuple[Any, str | Promise, str | Promise]]:
        """Return the radio button, name and line of each well-known format."""
        boxes = self._boxes()
        return [(boxes[key], *texts) for key, texts in WELL_KNOWN.items() if key in boxes]

    @property
    def others(self) -> list[tuple[Any, formats.DescribedFormat]]:
        """Return the radio button and description of each other format."""
        boxes = self._boxes()
        return [(boxes[d.key], d) for d in self.formats if d.key not in WELL_KNOWN]

    @property
    def is_other(self) -> bool:
        """Return True if the chosen format is listed under "Other formats"."""
        return self["format"].value() not in WELL_KNOWN

    @property
    def finer(self) -> list[tuple[str, str | Promise, list[forms.BoundField]]]:
        """Return each format with its parameters."""
        return [
            (d.key, self.titles[d.key], [self[f"{d.key}__{p.name}"] for p, _text in d.parameters])
            for d in self.formats
            if d.parameters
        ]

    @property
    def later(self) -> list[tuple[int, list[forms.BoundField]]]:
        """Return the fields of each later stage, by its number."""
        return [(n, [self[name] for name in self.fields if name.startswith(f"stage{n}_")]) for n in LATER_STAGES]

    def _boxes(self) -> dict[str, Any]:
        return {str(box.data["value"]): box for box in self["format"]}

    @property
    def has_more(self) -> bool:
        """Return True if a field under "more" is filled in or wrong, so that the template opens that part."""
        names_of_more = {"groups", "advance", "mixed", "sealed", "audience", "release", "pace_s"}
        special = {name for name in self.fields if name.startswith("stage") or "__" in name} | names_of_more
        return bool(special & set(self.errors)) or bool(self.is_bound and self.data.get("stage2_format"))


# Beginnings of the domain's refusals, and the field at which each is shown.
_PLACES: Mapping[str, str] = {
    "the name {name!r} looks": "name",
    "a tournament needs a name": "name",
    "a match has": "boards",
    "all stages together": "boards",
    "Choose a start": "due",
    "Choose a release": "release",
    "show each board": "pace_s",
    "{version} cannot be sealed": "bots",
    "the tournament {tournament!r} has {count} entries": "bots",
    "the owners of {bots}": "bots",
    "the format": "format",
    "a season in the format": "weekly_format",
}


def place_of(refusal: Refused, fields: Collection[str]) -> str | None:
    """Return the field at which a refusal is shown; None: above the whole form."""
    name = next((field for start, field in _PLACES.items() if refusal.message.startswith(start)), None)
    return name if name in fields else None


def _parameter_field(parameter: Parameter, text: str) -> forms.Field:
    """Return a number field or a checkbox."""
    texts: dict[str, Any] = {
        "label": PARAMETER_WORDS.get(parameter.name, parameter.name),
        "help_text": text,
        "initial": parameter.default,
        "required": False,
    }
    if isinstance(parameter.default, bool):
        return forms.BooleanField(**texts)
    kind: Any = forms.IntegerField if isinstance(parameter.default, int) else forms.FloatField
    field: forms.Field = kind(min_value=parameter.low, max_value=parameter.high, **texts)
    return field
