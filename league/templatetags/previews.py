"""Tags for the picture of a page in link previews, and for showing the page in a frame."""

from __future__ import annotations

from html import unescape
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from league.web.common import inputs
from league.web.previews import embeds, links
from league.web.previews.drawing import HEIGHT, WIDTH, Picture

register = template.Library()


@register.simple_tag(takes_context=True)
def preview(context: dict[str, Any], title: str) -> SafeString:
    """Render the meta elements of the page's picture: the view's (`picture`), or the page's title above a fan of cards."""
    request = context.get("request")
    picture = context.get("picture") or Picture(" ".join(unescape(title).split()))
    address = inputs.whole_address(request, links.address(picture)) if request is not None else ""
    if not address:
        return SafeString("")
    return format_html(
        '<meta property="og:image" content="{}"><meta property="og:image:width" content="{}">'
        '<meta property="og:image:height" content="{}"><meta property="og:image:alt" content="{}">'
        '<meta name="twitter:card" content="summary_large_image">',
        address,
        WIDTH,
        HEIGHT,
        links.words(picture),
    )


@register.simple_tag(takes_context=True)
def oembed_address(context: dict[str, Any], query: str = "") -> str:
    """Return the address at which other sites find the description of this page's frame. query: of the page, if it selects a part of it."""
    request = context["request"]
    return embeds.described_at(request, f"{request.path}{query}")


@register.simple_tag(takes_context=True)
def embed_text(context: dict[str, Any], path: str, title: str) -> SafeString:
    """Return the HTML with which another site shows this page in a frame."""
    return escape(embeds.frame(inputs.whole_address(context["request"], path), unescape(title), "100%"))


register.filter("picture_words", links.words)
