"""Error pages: what happened, and what to do."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from league.domain.core.errors import Refused, TooMany
from league.web.common.inputs import next_page

WAYS_IN = ("login", "signup")


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    return render(request, "error.html", {"status": status, "title": title, "text": text}, status=status)


def status_of(refusal: Refused) -> int:
    """Return the status of a page that shows a refusal: 429 beyond a limit, otherwise 422."""
    return 429 if isinstance(refusal, TooMany) else 422


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the page of a malformed request: 400."""
    return _page(request, 400, _("The request could not be read"), _("Go back, reload the page and try again."))


def too_large(request: HttpRequest, most_mb: int) -> HttpResponse:
    """Return the page of a request with a larger body than the server reads: 413."""
    text = _("The league reads at most %(most)s MB at once. Go back and send less.")
    return _page(request, 413, _("Too much was sent"), text % {"most": most_mb})


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the page for viewers without permission: 403."""
    place = request.resolver_match.url_name or "" if request.resolver_match else ""
    if place.startswith("operator"):
        return _page(request, 403, _("Only operators see this page"), _("Your account has no rights of an operator."))
    if request.user.is_authenticated:
        text = _("Only its owner can see or change this. You are logged in as %(name)s.")
        return _page(request, 403, _("This is not yours"), text % {"name": request.user.get_username()})
    return _page(request, 403, _("You cannot see this page"), _("Log in with an account that may see it."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the page for an address that does not exist: 404."""
    return _page(request, 404, _("Page not found"), _("Check the address, or search for a name."))


def too_many(request: HttpRequest, seconds: int) -> HttpResponse:
    """Return the page for too many requests: 429, with the time to wait."""
    text = ngettext(
        "Too many requests. Wait %(count)s second, then try again.",
        "Too many requests. Wait %(count)s seconds, then try again.",
        seconds,
    ) % {"count": seconds}
    response = _page(request, 429, _("Too many requests"), text)
    response["Retry-After"] = str(seconds)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the page for a form without its CSRF token, or with an old one: 403.

    A log-in in another tab has replaced the token: the log-in form of this one leads on, because there is nothing left to do.
    """
    if request.user.is_authenticated and request.resolver_match and request.resolver_match.url_name in WAYS_IN:
        return redirect(next_page(request, "home"))
    return _page(
        request,
        403,
        _("The form has expired"),
        _("Go back, reload the page and send the form again. Your browser must allow cookies."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page of a server error: 500."""
    return _page_for_anybody(
        request,
        500,
        _("Internal error"),
        _("The error has been logged. Reload the page in a minute. Your request was not carried out."),
    )


def unavailable(request: HttpRequest) -> HttpResponse:
    """Return the page while the database is down: 503."""
    return _page_for_anybody(
        request,
        503,
        _("The league is temporarily unavailable"),
        _("The database does not respond. Reload the page in a minute."),
    )


def _page_for_anybody(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    """Return a page without account and messages, which are in the database; it may have failed."""
    request.user = AnonymousUser()
    if hasattr(request, "_messages"):
        del request._messages
    return _page(request, status, title, text)
