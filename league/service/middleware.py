"""Middleware: headers that Django 5.2 does not write by itself, the number of each request, and requests that could not be read."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.request import split_domain_port

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
    """Answer probes of a balancer or of Prometheus, which ask by an address, as if they had asked by the site's name.

    No other name will do: a page of another site could point its name at this machine and read the answer.
    """
    name = next((host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"), "localhost")

    def respond(request: HttpRequest) -> HttpResponse:
        if request.path_info in PROBES and _is_address(
            str(request.META.get("HTTP_HOST") or request.META["SERVER_NAME"])
        ):
            request.META["HTTP_HOST"] = name
        return get_response(request)

    return respond


def _is_address(host: str) -> bool:
    """Return True for an IP address, with or without a port, and for localhost."""
    domain, _port = split_domain_port(host)
    try:
        ipaddress.ip_address(domain.strip("[]"))
    except ValueError:
        return domain == "localhost"
    return True


def unread(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse a request that the web server could not read, in the same form as other refusals."""

    def respond(request: HttpRequest) -> HttpResponse:
        if UNREAD in request.META:
            raise Unread(*request.META[UNREAD])
        return get_response(request)

    return respond


class NullCharacters:
    """Middleware that refuses a null character in an address or a form: PostgreSQL does not store it, and no browser sends it by itself.

    The API checks its own parameters and bodies.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; `process_view` checks it after the token of its form."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        """Raise BadRequest if there is one."""
        if request.path_info.startswith("/api/"):
            return
        texts = [request.path_info, *_texts(request.GET), *(_texts(request.POST) if request.method == "POST" else ())]
        if any("\0" in text for text in texts):
            raise BadRequest("null character")


def _texts(values: QueryDict) -> list[str]:
    return [text for name, listed in values.lists() for text in (name, *map(str, listed))]


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
