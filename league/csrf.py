"""The response to a form without its CSRF token. It stands apart from the other handlers because a check loads it at every start."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return 403 for a form without its CSRF token."""
    # Imported late: the handlers load the API's framework, which only the web server needs.
    from league import handlers

    return handlers.csrf_failure(request, reason)
