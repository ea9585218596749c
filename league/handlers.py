"""What is answered where no view answers: problems below /api/, pages everywhere else. `league.urls` names these handlers."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from league.api.http.problems import respond
from league.web.common import errors

RETRY_S = "10"  # seconds after which a database that was away is likely to be back


def is_api(request: HttpRequest) -> bool:
    """Whether a program asks."""
    return request.path_info.startswith("/api/")


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400."""
    if is_api(request):
        return respond(request, "bad-request", "The request is malformed.")
    return errors.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403."""
    return respond(request, "forbidden", "You may not do this.") if is_api(request) else errors.forbidden(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its token."""
    if is_api(request):
        return respond(request, "forbidden", "The request lacks the CSRF token of the session.")
    return errors.csrf_failure(request, reason)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    if is_api(request):
        path = request.path_info[:100]
        return respond(
            request,
            "not-found",
            "The API has no address {path} (none ends with a slash); GET /api/v1/ lists all addresses.",
            path=path,
        )
    return errors.not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """500; 503 in the API while the database is away."""
    if not is_api(request):
        return errors.server_error(request)
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        found = respond(request, "unavailable", "The database of the league does not answer.")
        found["Retry-After"] = RETRY_S
        return found
    return respond(request, "broken", "The error has been logged.")
