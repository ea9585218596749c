"""Headers that Django 5.2 does not write by itself, and the number of each request."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from league.service import logs

# Pages of an account, and numbers of this moment
NOT_KEPT = ("/accounts/", "/admin/", "/metrics", "/healthz", "/readyz", "/version")
BAD_REQUEST = 400
UNREAD = "league.unread"  # in the environment of a request that the web server could not read: a status, and the reason
REQUEST_ID = re.compile(r"[0-9A-Za-z-]{8,64}")


def number_of(environ: Mapping[str, Any]) -> str:
    """The number of a request: what our proxy says, if there is one, else a new one."""
    told = environ.get("HTTP_X_REQUEST_ID", "") if settings.TRUST_PROXY else ""
    return told if REQUEST_ID.fullmatch(told) else secrets.token_hex(8)


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Give each request a number, which stands in every line of the log that it causes and in its answer. A proxy of ours may have given it one."""

    def respond(request: HttpRequest) -> HttpResponse:
        number = number_of(request.META)
        with logs.about(request=number):
            response = get_response(request)
        response.headers["X-Request-ID"] = number
        return response

    return respond


class Unread(BadRequest):
    """What the server could not read, by its status: 413, 431, or 400 for all else."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status} {why}")
        self.status, self.why = status if status in (413, 431) else BAD_REQUEST, why


def unread(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse what the web server could not read, as every other request is refused."""

    def respond(request: HttpRequest) -> HttpResponse:
        if UNREAD in request.META:
            raise Unread(*request.META[UNREAD])
        return get_response(request)

    return respond


def response_headers(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Allow nothing but our own files and none of the browser's devices, and say what may be kept, unless a view has said so itself."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        response.headers.setdefault("Cache-Control", _may_be_kept(request, response))
        return response

    return respond


def _may_be_kept(request: HttpRequest, response: HttpResponse) -> str:
    """Cache-Control by kind of page. Files under static/ say it themselves, and so does the API."""
    if response.status_code >= BAD_REQUEST or request.path_info.startswith(NOT_KEPT):
        return "no-store"
    # Every page says who is logged in, in the language of a cookie; a browser may keep it and asks each time.
    return "private, no-cache"
