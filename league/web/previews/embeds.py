"""Replays of this league in frames on other sites: the HTML for those sites, and the headers of pages in frames."""

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

WIDTH, HEIGHT = 800, 600  # Size of a frame, unless the other site asks for a smaller one.
View = Callable[..., HttpResponse]


def frame(address: str, title: str, width: int | str = WIDTH, height: int = HEIGHT) -> SafeString:
    """Return the HTML of a frame. address: the full address of the page in the frame; width: in pixels, or a share such as "100%"."""
    return format_html(
        '<iframe src="{}" title="{}" width="{}" height="{}" frameborder="0" loading="lazy" allow="clipboard-write"></iframe>',
        address,
        title,
        width,
        height,
    )


def described_at(request: HttpRequest, path: str) -> str:
    """Return the address at which other sites find the description (oEmbed) of the page at `path`."""
    query = urlencode({"url": inputs.whole_address(request, path), "format": "json"})
    return inputs.whole_address(request, f"{reverse('oembed')}?{query}")


def for_frames(view: View) -> View:
    """Allow every site to show the responses of a view in a frame. Such a view reads no session and changes nothing."""

    @functools.wraps(view)
    def respond(*args: Any, **kwargs: Any) -> HttpResponse:
        response = view(*args, **kwargs)
        response.headers["Content-Security-Policy"] = settings.FRAMED_SECURITY_POLICY
        setattr(response, "xframe_options_exempt", True)  # noqa: B010 - XFrameOptionsMiddleware reads it
        return response

    return respond
