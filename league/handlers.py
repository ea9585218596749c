"""Error responses outside the views: problems below /api/, pages everywhere else. `league.urls` registers these handlers."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from league.api.http.problems import respond
from league.service.middleware import Unread
from league.service.web_worker import MOST_BODY
from league.web.common import errors

TOO_LARGE = 413
RETRY_S = "10"  # Seconds after which a database that was down has probably recovered.


def is_api(request: HttpRequest) -> bool:
    """Return True for a request to the API."""
    return request.path_info.startswith("/api/")


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 400, or 413 if the server refused to read a body because of its size."""
    why = exception if isinstance(exception, Unread) else None
    if not is_api(request):
        if why and why.status == TOO_LARGE:
            return errors.too_large(request, MOST_BODY // 2**20)
        page = errors.bad_request(request, exception)
        page.status_code = why.status if why else page.status_code
        return page
    if why is None:
        return respond(request, "bad-request", "The request is malformed.")
    if why.status == TOO_LARGE:
        most = MOST_BODY // 2**20
        return respond(request, "too-large", "The body is larger than {most} MiB, the maximum.", most=most)
    return respond(request, "bad-request", "The request cannot be read as HTTP: {why}", why=why.why)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 403."""
    return respond(request, "forbidden", "You may not do this.") if is_api(request) else errors.forbidden(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return 403 for a form without its CSRF token."""
    if is_api(request):
        return respond(request, "forbidden", "The CSRF token is missing or wrong.")
    return errors.csrf_failure(request, reason)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 404."""
    if is_api(request):
        path = request.path_info[:100]
        return respond(
            request,
            "not-found",
            "There is no endpoint {path} (no endpoint ends with a slash). GET /api/v1/ lists all endpoints.",
            path=path,
        )
    return errors.not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500, or 503 while the database is down."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        if is_api(request):
            response: HttpResponse = respond(request, "unavailable", "The database does not respond.")
        else:
            response = errors.unavailable(request)
        response["Retry-After"] = RETRY_S
        return response
    return respond(request, "broken", "The error has been logged.") if is_api(request) else errors.server_error(request)
