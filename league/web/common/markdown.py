"""Markdown to HTML for our own documents. markdown-it-py is used with HTML switched off: what is not Markdown is shown as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token


def html(text: str, lead: Callable[[str], str] = str) -> SafeString:
    """Return safe HTML. Raw HTML is escaped, `javascript:` links are refused by the parser.

    `lead` turns the target of a link or picture into an address, or into "" where there is none: the link is then only its text.
    """
    tokens = _parser().parse(text)
    _adapt(tokens, lead)
    made = str(_parser().renderer.render(tokens, _parser().options, {}))
    # a block that scrolls sideways must be reachable by keyboard; what stands in the text is escaped, so the tags are ours
    made = made.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return mark_safe(made.replace("<th></th>", "<td></td>"))  # noqa: S308 - raw HTML of the text is escaped by the parser


def title(text: str, default: str) -> str:
    """The first heading of a document."""
    found = re.search(r"^#\s+(.+?)\s*#*$", text, re.MULTILINE)
    return found.group(1).replace("`", "") if found else default


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])


def _adapt(tokens: Sequence[Token], lead: Callable[[str], str]) -> None:
    """Give headings an id and links their addresses; alignment in tables becomes a class (no style attributes)."""
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(tokens[place + 1].content) or f"h{place}")
        if "style" in token.attrs:
            del token.attrs["style"]
            token.attrSet("class", "num")
        _link(token.children or (), lead)


def _link(tokens: Sequence[Token], lead: Callable[[str], str]) -> None:
    """Lead the links and pictures of a paragraph; links do not nest."""
    dead = False
    for token in tokens:
        if token.type == "link_close":
            token.hidden = dead
        for name in {"link_open": ("href",), "image": ("src",)}.get(token.type, ()):
            address = lead(str(token.attrGet(name)))
            token.attrSet(name, address)
            dead = token.hidden = not address
