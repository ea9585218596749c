"""Content negotiation: always JSON, in the language of the site that the client prefers, by default English."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

NDJSON = "application/x-ndjson"


def wants_lines(accept: str) -> bool:
    """Return True if an Accept header names NDJSON."""
    return NDJSON in accept and NDJSON in [part.partition(";")[0].strip() for part in accept.split(",")]


class AlwaysFirst(BaseContentNegotiation):
    """A negotiation that takes the parser for the sent content type, and always the first renderer: any response is better than a 406."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return the parser whose media type matches; None leads to 415."""
        sent = (request.content_type or "").split(";")[0].strip().lower()
        for parser in parsers:
            if parser.media_type in (sent, "*/*"):
                return parser
        return None

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer and its media type."""
        first = next(iter(renderers))
        return first, str(first.media_type)


def language(request: HttpRequest) -> str:
    """Return the site's language that Accept-Language prefers. Cookies do not count: they are for pages."""
    languages = dict(settings.LANGUAGES)
    for tag, _quality in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        if (short := tag.partition("-")[0]) in languages:
            return short
    return "en"
