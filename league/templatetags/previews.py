"""The picture of a page for link previews."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from league.web.common import inputs
from league.web.previews import links
from league.web.previews.drawing import HEIGHT, WIDTH

register = template.Library()


@register.simple_tag(takes_context=True)
def preview(context: dict[str, Any], *lines: object, cards: Sequence[str] = ()) -> SafeString:
    """Render the meta elements of a picture with these lines of text, and with cards if the page is about them."""
    request = context.get("request")
    texts = [text for line in lines if (text := " ".join(unescape(str(line)).split()))]
    address = inputs.whole_address(request, links.address(texts, cards)) if request is not None else ""
    if not address:
        return SafeString("")
    return format_html(
        '<meta property="og:image" content="{}"><meta property="og:image:width" content="{}">'
        '<meta property="og:image:height" content="{}"><meta property="og:image:alt" content="{}">'
        '<meta name="twitter:card" content="summary_large_image">',
        address,
        WIDTH,
        HEIGHT,
        ", ".join(texts),
    )
