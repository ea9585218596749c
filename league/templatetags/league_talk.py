"""The text of comments in pages."""

from __future__ import annotations

import re

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from league.templatetags.league_web import mini
from league.web.common import words

register = template.Library()
CODE = re.compile(rf"\[([{''.join(words.RANKS)}])([{''.join(words.SUITS)}])\]", re.IGNORECASE)


@register.filter
def with_cards(text: str) -> SafeString:
    """Draw the cards that a text names by their codes in brackets, such as "[Rb]"; everything else stays as written."""
    parts: list[str] = []
    end = 0
    for code in CODE.finditer(text):
        parts += [text[end : code.start()], mini(code[1].upper() + code[2].lower())]
        end = code.end()
    return format_html_join("", "{}", ((part,) for part in [*parts, text[end:]]))
