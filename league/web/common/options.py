"""The rules of a table as form fields in words: the number of players, a named mixture, and every option of the game."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

import engine
from engine import rulebook
from engine.rulebook.words import MEANINGS
from engine.rules.options import Choice, Range, word
from engine.rules.resolving import choices
from league.web.common.inputs import whole_number

USUAL_GAME = "partnership"
# Options that are computed from others on the form: the number of cards in hand and pack gives the stock.
_DERIVED = frozenset({"stock"})


class OptionsForm(forms.Form):
    """The part `parts/options.html` of forms. An empty field follows the chosen mixture, or else the usual rules."""

    def __init__(self, game: engine.Game, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.game = game
        lang = _language()
        seats = sorted(game.declared.players)
        if len(seats) > 1:
            self.fields["players"] = forms.TypedChoiceField(
                label=_("Players"),
                choices=[(n, ngettext("%(count)s player", "%(count)s players", n) % {"count": n}) for n in seats],
                coerce=int,
                initial=game.players,
                required=False,
                widget=forms.Select(attrs={"data-refresh": ""}),
            )
        self.mixtures = [m for m in rulebook.mixtures(game.key) if game.players in m.players]
        if self.mixtures:
            self.fields["mixture"] = forms.ChoiceField(
                label=_("Rules"),
                choices=[("", _("The usual rules")), *((m.key, m.titles[lang]) for m in self.mixtures)],
                required=False,
            )
        self.option_names: list[str] = []
        for name, choice in _choices(game).items():
            self.fields[f"option_{name}"] = _field(name, choice, word(getattr(game.rules, name)), lang)
            self.option_names.append(name)
            if isinstance(choice, Range) and choice.none:
                self.fields[f"no_{name}"] = forms.BooleanField(
                    label=_("%(option)s: none") % {"option": option_label(name)}, required=False
                )

    @property
    def seats_field(self) -> forms.BoundField | None:
        """Return the field for the number of players, if the game has several."""
        return self["players"] if "players" in self.fields else None

    @property
    def mixture_field(self) -> forms.BoundField | None:
        """Return the field for named mixtures, if the game has any for this number of players."""
        return self["mixture"] if "mixture" in self.fields else None

    @property
    def mixture_lines(self) -> list[tuple[str, str]]:
        """Return name and meaning of each mixture, for the template."""
        return [(m.titles[_language()], m.lines[_language()]) for m in self.mixtures]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        """Return the fields of the options, for the template."""
        return [self[name] for name in self.fields if name.startswith(("option_", "no_"))]

    @property
    def is_special(self) -> bool:
        """Return True if the rules differ from the usual ones or a field is wrong: then the template shows the fields."""
        names = [name for name in self.fields if name.startswith(("option_", "no_"))]
        values = self.data if self.is_bound else self.initial
        return any(self.errors.get(name) or values.get(name) for name in names)

    def clean(self) -> dict[str, Any]:
        """Add `options`: those that differ from the usual rules. If the rules do not fit together, add errors to the fields."""
        cleaned = super().clean() or {}
        cleaned["options"] = options = self._chosen(cleaned)
        if not self.errors:
            try:
                engine.load(self.game.key, players=self.game.players, **options)
            except engine.OptionError as error:
                faulty = [name for name in options if re.search(rf"\b{name}\b", str(error))] or list(options)
                text = _("These rules do not go together: %(rules)s.") % {
                    "rules": "; ".join(option_label(name) for name in faulty)
                }
                if len(faulty) == 1:
                    text = _("This does not go with the other rules of this table.")
                for name in faulty:
                    self.add_error(f"option_{name}" if f"option_{name}" in self.fields else None, text)
        return cleaned

    def _chosen(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        mixture = next((m for m in self.mixtures if m.key == cleaned.get("mixture")), None)
        options = dict(mixture.options) if mixture else {}
        for name in self.option_names:
            value = cleaned.get(f"option_{name}")
            if cleaned.get(f"no_{name}"):
                options[name] = None
            elif value is not None:
                options[name] = value
        usual = self.game.rules
        return {name: value for name, value in options.items() if value != word(getattr(usual, name))}


def first_change(game: engine.Game, likely: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that change the rules: `likely`, else the first change of one option that goes with the others; {} if there is none."""
    fields = _choices(game)
    changes: list[Mapping[str, Any]] = [likely] if likely and set(likely) <= set(fields) else []
    changes += [
        {name: word(value)}
        for name, choice in fields.items()
        if not isinstance(choice, Range)
        for value in choice
        if value != getattr(game.rules, name)
    ]
    for options in changes:
        try:
            engine.load(game.key, players=game.players, **options)
        except engine.OptionError:
            continue
        return dict(options)
    return {}


def form_values(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as the form shows and sends them."""
    return {f"option_{name}": _code(value) for name, value in options.items()}


def game_chosen(sent: Mapping[str, str], key: str = "") -> engine.Game:
    """Load the game in a form (`game`, `players`) with its usual rules; if the form has none, the game `key` or the usual one."""
    key = sent.get("game") or key
    usual = engine.load(key if key in engine.games() else USUAL_GAME)
    number = whole_number(sent.get("players"))
    return engine.load(usual.key, players=number) if number in usual.declared.players else usual


def option_label(name: str) -> str:
    """Return the name of an option for readers, with a capital first letter."""
    text = MEANINGS[name][_language() == "en"].partition(";")[0]
    return text[:1].upper() + text[1:]


def option_text(name: str, value: Any) -> str:
    """Return an option's value in words."""
    text = rulebook.text(name, value, _language())
    return _("none") if text == "–" else text


def describe_options(game: str, options: Mapping[str, Any]) -> str:
    """Return options in words: the name of their mixture, or 'Option: value' for each; '' for the usual rules."""
    if not options:
        return ""
    lang = _language()
    for mixture in rulebook.mixtures(game):
        if mixture.options == dict(options):
            return mixture.titles[lang]
    return "; ".join(
        f"{option_label(name) if name in MEANINGS else name}: {option_text(name, value)}"
        for name, value in options.items()
    )


def _language() -> str:
    return "es" if (get_language() or "").startswith("es") else "en"


def _choices(game: engine.Game) -> dict[str, Choice]:
    return {name: choice for name, choice in choices(game.declared, game.players).items() if name not in _DERIVED}


def _field(name: str, choice: Choice, usual: Any, lang: str) -> forms.Field:
    """Return the field of an option: a number, or a list of values in words, the usual one first."""
    label, meaning = option_label(name), option_text(name, usual)
    if isinstance(choice, Range):
        limits = {"low": choice.low, "high": choice.high, "usual": meaning}
        sentence = (
            _("Usual: %(usual)s. From %(low)s on.")
            if choice.high is None
            else _("Usual: %(usual)s. From %(low)s to %(high)s.")
        )
        return forms.IntegerField(
            label=label,
            min_value=choice.low,
            max_value=choice.high,
            step_size=choice.step if choice.step > 1 else None,
            required=False,
            help_text=sentence % limits,
        )
    values = {_code(word(value)): word(value) for value in choice}
    texts = [(code, _capital(option_text(name, value))) for code, value in values.items()]
    return forms.TypedChoiceField(
        label=label,
        choices=[("", _("Usual: %(usual)s") % {"usual": meaning}), *texts],
        coerce=lambda code: values.get(code, code),
        empty_value=None,
        required=False,
    )


def _code(value: Any) -> str:
    """Return a value as the form sends it. An empty text means the usual rule, so the value for "nothing" has a word."""
    if isinstance(value, bool):
        return str(value).lower()
    return "none_at_all" if value in (None, "") else str(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
