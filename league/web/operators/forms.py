"""The form of an operator's action, built from its declaration in league.domain.operators.actions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from league.domain.operators.acting import MOST_REASON
from league.domain.operators.actions import Action
from league.domain.operators.fields import ActionField
from league.web.common import words


class ActionForm(forms.Form):
    """The subjects, fields and reason of an action. The form checks the shape of values, the domain everything else."""

    def __init__(self, action: Action, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.action = action
        plain = forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"})
        self.fields["subjects"] = forms.CharField(
            label=_("Subject"), max_length=2000, help_text=_subjects_help(action), widget=plain
        )
        for field in action.fields:
            self.fields[field.name] = _made(field)
        self.fields["why"] = forms.CharField(
            label=_("Why"),
            max_length=MOST_REASON,
            help_text=_("Written to the journal and shown to the people concerned."),
            widget=forms.TextInput(attrs={"autocomplete": "off"}),
        )

    def subjects(self) -> list[str]:
        """Return the subjects."""
        text: str = self.cleaned_data["subjects"]
        return text.replace(",", " ").split() if self.action.many else [text.strip()]

    def field_values(self) -> dict[str, str]:
        """Return the values of the action's own fields."""
        return {field.name: self.cleaned_data[field.name] for field in self.action.fields}


def _subjects_help(action: Action) -> str:
    """Return examples of subjects."""
    examples = {
        "match": "match:8f3k2pq7ab",
        "tournament": "tournament:copa",
        "event": "event:copa",
        "bot": "bot:rufo",
        "player": "player:ana",
        "audit": "audit:7hq2mx9c4k",
        "case": "case:12",
        "comment": "comment:12",
        "job": "job:12",
        "judgement": "judgement:12",
        "consultation": "consultation:12",
    }
    text = ", ".join(examples[kind] for kind in action.kinds)
    return (
        _("For example {examples}. Separate several with spaces.").format(examples=text)
        if action.many
        else _("For example {examples}.").format(examples=text)
    )


def _made(field: ActionField) -> forms.Field:
    arguments: dict[str, Any] = {"label": _(field.label), "help_text": _(field.help), "required": field.required}
    if field.choices:
        return forms.ChoiceField(choices=[(choice, _word(choice)) for choice in field.choices], **arguments)
    return forms.CharField(max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off"}), **arguments)


def _word(choice: str) -> str:
    """Return the API name of a choice; for a limit, with its description."""
    return f"{choice}: {words.limit_name(choice)}" if choice in words.LIMITS else choice
