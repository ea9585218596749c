"""The text by which other sites show a replay of this league in a frame, and what only pages for such frames send."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from league.web.common import inputs

WIDTH, HEIGHT = 800, 600  # Of a frame, if the other site asks for no smaller one.
View = Callable[..., HttpResponse]


def frame(address: str, title: str, width: int | str = WIDTH, height: int = HEIGHT) -> SafeString:
    """Return the HTML of a frame. address: the whole address of a page for frames; width: in pixels, or a share such as "100%"."""
    return format_html(
        '<iframe src="{}" title="{}" width="{}" height="{}" frameborder="0" loading="lazy" allow="clipboard-write"></iframe>',
        address,
        title,
        width,
        height,
    )


def described_at(request: HttpRequest, path: str) -> str:
    """Return the address that describes the frame of a page to other sites (oEmbed). path: of the page."""
    query = urlencode({"url": inputs.whole_address(request, path), "format": "json"})
    return inputs.whole_address(request, f"{reverse('oembed')}?{query}")


def for_frames(view: View) -> View:
    """Let every site show the answers of a view in a frame. Such a view looks at no session and changes nothing."""

    @functools.wraps(view)
    def respond(*args: Any, **kwargs: Any) -> HttpResponse:
        response = view(*args, **kwargs)
        response.headers["Content-Security-Policy"] = settings.FRAMED_SECURITY_POLICY
        setattr(response, "xframe_options_exempt", True)  # noqa: B010 - XFrameOptionsMiddleware reads it
        return response

    return respond
