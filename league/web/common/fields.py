"""Helpers shared by forms."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.utils.functional import Promise

Choices = Sequence[tuple[str, str | Promise | Sequence[tuple[str, str]]]]  # A group has its own choices.


def set_choices(form: forms.BaseForm, **choices: Choices) -> None:
    """Set the choices of fields that are not known before the form is built."""
    for name, field_choices in choices.items():
        field = form.fields[name]
        if not isinstance(field, forms.ChoiceField):
            raise TypeError(f"{name} of {type(form).__name__} takes no choices")
        field.choices = field_choices
