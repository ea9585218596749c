"""Pages for what went wrong: what happened, and where to go from here."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    return render(request, "error.html", {"status": status, "title": title, "text": text}, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """What the league cannot read: 400."""
    return _page(request, 400, _("The league cannot read this request"), _("Go back, reload the page and try again."))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """What this viewer may not see: 403."""
    return _page(
        request, 403, _("You may not see this page"), _("Log in as the owner, or ask the owner to publish it.")
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """What is not there: 404."""
    return _page(
        request, 404, _("There is no such page"), _("The address may be misspelt, or the page has never existed.")
    )


def too_many(request: HttpRequest, seconds: int) -> HttpResponse:
    """Who asks too often: 429, and when to come back."""
    text = ngettext(
        "You have asked for this too often. Wait %(count)s second, then try again.",
        "You have asked for this too often. Wait %(count)s seconds, then try again.",
        seconds,
    ) % {"count": seconds}
    response = _page(request, 429, _("Too many requests"), text)
    response["Retry-After"] = str(seconds)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without its token, or with an old one: 403."""
    return _page(
        request,
        403,
        _("The form has expired"),
        _("Go back, reload the page and send the form again. Cookies must be allowed."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the database: it may be what failed."""
    return _page(
        request,
        500,
        _("Something broke on our side"),
        _("The error has been logged. Reload the page in a minute. Nothing that you sent was done by half."),
    )
