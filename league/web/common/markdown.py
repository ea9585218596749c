"""Markdown to HTML for our own documents. markdown-it-py is used with HTML switched off: what is not Markdown is shown as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

_PAGE = re.compile(r"(?:\./|docs/)?([\w-]+)\.md(#.*)?")


def html(text: str) -> SafeString:
    """Safe HTML. Raw HTML is escaped, `javascript:` links are refused by the parser, links to x.md lead to our pages."""
    tokens = _parser().parse(text)
    _adapt(tokens)
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


def _adapt(tokens: Sequence[Token]) -> None:
    """Headings get an id; links to other documents lead to their pages; alignment in tables becomes a class (no style attributes)."""
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(tokens[place + 1].content) or f"h{place}")
        if "style" in token.attrs:
            del token.attrs["style"]
            token.attrSet("class", "num")
        for child in token.children or ():
            href: Any = child.attrGet("href") if child.type == "link_open" else None
            found = _PAGE.fullmatch(str(href)) if href else None
            if found:
                page = reverse("docs") if found.group(1) == "README" else reverse("doc", args=[found.group(1)])
                child.attrSet("href", page + (found.group(2) or ""))
