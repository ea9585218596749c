"""Markdown to HTML for our own documents. markdown-it-py runs without HTML, so raw HTML appears as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token


def html(
    text: str, lead: Callable[[str], str] = str, show_file: Callable[[str], str] | None = None, *, inline: bool = False
) -> SafeString:
    """Return safe HTML. Raw HTML is escaped, and the parser refuses `javascript:` links.

    `lead` returns the address for the target of a link or picture, or "" if there is none; then only the text of the link remains. `show_file` does
    the same for code that may be the path of a file. inline: render one line, without a paragraph.
    """
    tokens = _parser().parseInline(text) if inline else _parser().parse(text)
    _adapt(tokens, lead)
    if show_file is not None:
        for token in tokens:
            token.children = _with_files(token.children or [], show_file)
    page = str(_parser().renderer.render(tokens, _parser().options, {}))
    # A block that scrolls sideways must be reachable by keyboard. The text is escaped, so these are tags of our own rendering.
    page = page.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return mark_safe(page.replace("<th></th>", "<td></td>"))  # noqa: S308 - raw HTML of the text is escaped by the parser


def split_title(page: SafeString) -> tuple[SafeString, SafeString]:
    """Return the HTML up to the end of the first heading, and the rest."""
    head, end, rest = page.partition("</h1>")
    if not end:
        return SafeString(""), page
    return mark_safe(head + end), mark_safe(rest)  # noqa: S308 - parts of safe HTML, split between elements


def contents(text: str, tag: str = "h2") -> list[tuple[str, str]]:
    """Return the id and the text of each heading of a level, in the order of the document."""
    tokens = _parser().parse(text)
    return [
        (slugify(heading.content) or f"h{place}", _plain(heading))
        for place, (token, heading) in enumerate(pairwise(tokens))
        if token.type == "heading_open" and token.tag == tag
    ]


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or () if child.type in ("text", "code_inline"))


def _with_files(tokens: Sequence[Token], show_file: Callable[[str], str]) -> list[Token]:
    """Link code that names a file which the site shows, except inside links."""
    result: list[Token] = []
    linked = 0
    for token in tokens:
        linked += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        address = show_file(token.content) if token.type == "code_inline" and not linked else ""
        if address:
            result.append(Token("link_open", "a", 1, attrs={"href": address}))
        result.append(token)
        if address:
            result.append(Token("link_close", "a", -1))
    return result


def title(text: str, default: str) -> str:
    """Return the first heading of a document."""
    match = re.search(r"^#\s+(.+?)\s*#*$", text, re.MULTILINE)
    return match.group(1).replace("`", "") if match else default


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])


def _adapt(tokens: Sequence[Token], lead: Callable[[str], str]) -> None:
    """Give headings an id and links their addresses; turn table alignment into a class, because styles are forbidden."""
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(tokens[place + 1].content) or f"h{place}")
        if "style" in token.attrs:
            del token.attrs["style"]
            token.attrSet("class", "num")
        _link(token.children or (), lead)


def _link(tokens: Sequence[Token], lead: Callable[[str], str]) -> None:
    """Set the addresses of the links and pictures in a paragraph; links do not nest."""
    dead = False
    for token in tokens:
        if token.type == "link_close":
            token.hidden = dead
        for name in {"link_open": ("href",), "image": ("src",)}.get(token.type, ()):
            address = lead(str(token.attrGet(name)))
            token.attrSet(name, address)
            dead = token.hidden = not address
