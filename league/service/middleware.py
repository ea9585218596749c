"""Middleware: headers that Django 5.2 does not write by itself, the number of each request, and requests that could not be read."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from league.service import logs

# Pages of an account, and pages with current numbers
NOT_KEPT = ("/accounts/", "/admin/", "/metrics", "/healthz", "/readyz", "/version")
PROBES = ("/healthz", "/readyz", "/metrics", "/version")
BAD_REQUEST = 400
# Key in the environment of a request that the web server could not read. The value is the status and the reason.
UNREAD = "league.unread"
REQUEST_ID = re.compile(r"[0-9A-Za-z-]{8,64}")


def number_of(environ: Mapping[str, Any]) -> str:
    """Return the id of a request: the proxy's if our proxy sent one, otherwise a new one."""
    number = environ.get("HTTP_X_REQUEST_ID", "") if settings.TRUST_PROXY else ""
    return number if REQUEST_ID.fullmatch(number) else secrets.token_hex(8)


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Give each request an id, which its response and all its log lines carry."""

    def respond(request: HttpRequest) -> HttpResponse:
        number = number_of(request.META)
        with logs.about(request=number):
            response = get_response(request)
        response.headers["X-Request-ID"] = number
        return response

    return respond


class Unread(BadRequest):
    """The error of a request that the server could not read, with its status: 413, 431, or 400 for all others."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status} {why}")
        self.status, self.why = status if status in (413, 431) else BAD_REQUEST, why


def probes(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer probes of a balancer or of Prometheus, which ask by an address, as if they had asked by the site's name."""
    name = next((host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"), "localhost")

    def respond(request: HttpRequest) -> HttpResponse:
        if request.path_info in PROBES:
            request.META["HTTP_HOST"] = name
        return get_response(request)

    return respond


def unread(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse a request that the web server could not read, in the same form as other refusals."""

    def respond(request: HttpRequest) -> HttpResponse:
        if UNREAD in request.META:
            raise Unread(*request.META[UNREAD])
        return get_response(request)

    return respond


def response_headers(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Set the security headers (our own files only, no devices of the browser) and Cache-Control, unless a view has set them."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        response.headers.setdefault("Cache-Control", _may_be_kept(request, response))
        return response

    return respond


def _may_be_kept(request: HttpRequest, response: HttpResponse) -> str:
    """Return Cache-Control for the kind of page. Files under static/ and the API set their own."""
    if response.status_code >= BAD_REQUEST or request.path_info.startswith(NOT_KEPT):
        return "no-store"
    # Every page shows who is logged in, in the language of a cookie: a browser may store it, but asks each time whether it has changed.
    return "private, no-cache"
