"""One representation, JSON, whatever a client says it accepts; in a language of the site that it asks for, else in English."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AlwaysFirst(BaseContentNegotiation):
    """The parser of the content type sent (None if there is none), and the first renderer: an answer beats a refusal."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """The parser whose media type matches; None makes it 415."""
        sent = (request.content_type or "").split(";")[0].strip().lower()
        for parser in parsers:
            if parser.media_type in (sent, "*/*"):
                return parser
        return None

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first renderer and its media type."""
        first = next(iter(renderers))
        return first, str(first.media_type)


def language(request: HttpRequest) -> str:
    """The language of the site that Accept-Language puts first. Cookies do not count: they are those of a person's pages."""
    there = dict(settings.LANGUAGES)
    for wanted, _quality in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        if (short := wanted.partition("-")[0]) in there:
            return short
    return "en"
