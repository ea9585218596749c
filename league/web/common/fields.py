"""What the forms of several subjects share."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.utils.functional import Promise

Choices = Sequence[tuple[str, str | Promise]]


def set_choices(form: forms.BaseForm, **choices: Choices) -> None:
    """Give the fields of these names their choices, which are known only when the form is made."""
    for name, found in choices.items():
        field = form.fields[name]
        if not isinstance(field, forms.ChoiceField):
            raise TypeError(f"{name} of {type(form).__name__} takes no choices")
        field.choices = found
