"""Words about tournaments, for templates."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _

from league.web.tournaments.forms import parameter_words

register = template.Library()
register.filter("parameter_words", parameter_words)


@register.filter
def in_words(value: object) -> str:
    """Return the value of a parameter for readers."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return f"{value:g}" if isinstance(value, float) else str(value)
