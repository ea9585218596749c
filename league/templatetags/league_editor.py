"""Tags of the editor's pages."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from league.web.common import words

register = template.Library()
register.filter("limit_name", words.limit_name)
WITH_CARD = ("play", "exchange", "call")


@register.filter
def absolute(value: float) -> float:
    """Return a number without its sign."""
    return abs(value)


@register.simple_tag
def deed(action: str) -> SafeString:
    """Render an action of the protocol in words, with a drawing of its card: `{% deed "play Se" %}`."""
    verb, _gap, card = action.partition(" ")
    name = words.action_name(action)
    if verb not in WITH_CARD or words.card_name(card) == card:
        return format_html("{}", name)
    return format_html(
        '<span class="deed"><svg class="card" viewBox="0 0 124 190" aria-hidden="true"><use href="{}#card-{}"/></svg> {}</span>',
        static("league/cards.svg"),
        card,
        name,
    )
