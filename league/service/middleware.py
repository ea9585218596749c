"""Headers that Django 5.2 does not write by itself, and the number of each request."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from league.service import logs

REQUEST_ID = re.compile(r"[0-9A-Za-z-]{8,64}")


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Give each request a number, which stands in every line of the log that it causes and in its answer. A proxy of ours may have given it one."""

    def respond(request: HttpRequest) -> HttpResponse:
        told = request.headers.get("X-Request-ID", "") if settings.TRUST_PROXY else ""
        number = told if REQUEST_ID.fullmatch(told) else secrets.token_hex(8)
        with logs.about(request=number):
            response = get_response(request)
        response.headers["X-Request-ID"] = number
        return response

    return respond


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Allow nothing but our own files, unless a view has written a policy of its own."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response

    return respond
