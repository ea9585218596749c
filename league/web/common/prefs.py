"""Language, theme and table settings of the reader, each in a cookie, set by a plain form that works without scripts."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from league.web.common import errors, inputs

THEMES = ("auto", "light", "dark")
# How long a finished trick stays: the form's milliseconds, and seconds.
RESTS = {"0": 0.0, "750": 0.75, "1500": 1.5, "3000": 3.0}
REST = "1500"
FORCED = ("no", "yes")  # The page plays a card by itself if no other is allowed.
TALK = ("no", "yes")  # The reader wants to see comments.
YEAR = 365 * 24 * 3600  # Seconds


def theme(request: HttpRequest) -> str:
    """Return the viewer's theme; `auto` follows the system."""
    chosen = request.COOKIES.get("theme", "auto")
    return chosen if chosen in THEMES else "auto"


def trick_rest(request: HttpRequest) -> str:
    """Return how long a finished trick stays on the table, in milliseconds."""
    chosen = request.COOKIES.get("rest", REST)
    return chosen if chosen in RESTS else REST


def plays_forced(request: HttpRequest) -> bool:
    """Return True if the page shall play forced cards for the viewer."""
    return request.COOKIES.get("forced") == "yes"


def shows_talk(request: HttpRequest) -> bool:
    """Return True unless the reader has hidden all comments."""
    return request.COOKIES.get("talk") != "no"


@csrf_exempt  # Cached pages have this form without a token. A forged request could only change these settings.
@require_POST
def keep_preferences(request: HttpRequest) -> HttpResponse:
    """Save `lang`, `theme`, `rest`, `forced` or `talk` in a cookie and return to the page.

    A form on another site is refused; the Sec-Fetch-Site header reveals it.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return errors.forbidden(request)
    response = HttpResponseRedirect(inputs.next_page(request, "/"))
    chosen = (
        (settings.LANGUAGE_COOKIE_NAME, request.POST.get("lang"), dict(settings.LANGUAGES)),
        ("theme", request.POST.get("theme"), THEMES),
        ("rest", request.POST.get("rest"), RESTS),
        ("forced", request.POST.get("forced"), FORCED),
        ("talk", request.POST.get("talk"), TALK),
    )
    for cookie, value, allowed in chosen:
        if value in allowed:
            response.set_cookie(cookie, value or "", max_age=YEAR, samesite="Lax", secure=request.is_secure())
    return response
