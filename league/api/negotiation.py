"""One representation: JSON, whatever a client says it accepts."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class AlwaysFirst(BaseContentNegotiation):
    """The parser of the content type sent (None if there is none), and the first renderer: an answer beats a refusal."""

    def select_parser(self, request: Request, parsers: list[Any]) -> Any:
        """The parser whose media type matches; None makes it 415."""
        sent = (request.content_type or "").split(";")[0].strip().lower()
        for parser in parsers:
            if parser.media_type in (sent, "*/*"):
                return parser
        return None

    def select_renderer(self, request: Request, renderers: list[Any], format_suffix: str | None = None) -> Any:
        """The first renderer and its media type."""
        return renderers[0], renderers[0].media_type
