"""Language and theme of the reader, each kept in a cookie. Works by a plain form, without JavaScript."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from league.web.common import errors

THEMES = ("auto", "light", "dark")
YEAR = 365 * 24 * 3600  # seconds


def theme(request: HttpRequest) -> str:
    """Return the viewer's theme; `auto` follows the system."""
    chosen = request.COOKIES.get("theme", "auto")
    return chosen if chosen in THEMES else "auto"


@csrf_exempt  # Cached pages carry this form without a token; a forged request could only change colours or language.
@require_POST
def keep_preferences(request: HttpRequest) -> HttpResponse:
    """Save `lang` or `theme` in a cookie and return to the page. The Sec-Fetch-Site header reveals forms on other sites, which are refused."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return errors.forbidden(request)
    after = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(
        after, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        after = "/"
    response = HttpResponseRedirect(after)
    chosen = (
        (settings.LANGUAGE_COOKIE_NAME, request.POST.get("lang"), dict(settings.LANGUAGES)),
        ("theme", request.POST.get("theme"), THEMES),
    )
    for cookie, value, allowed in chosen:
        if value in allowed:
            response.set_cookie(cookie, value or "", max_age=YEAR, samesite="Lax", secure=request.is_secure())
    return response
