"""How often a caller may ask. Fixed windows, counted in the cache; every answer tells what is left.

Headers as in draft-ietf-httpapi-ratelimit-headers: RateLimit-Policy "user";q=600;w=60 and RateLimit "user";r=599;t=41.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from league.service import limits

SPENT = "_rate_limits"  # attribute of the Django request: what was counted of it


def count(request: HttpRequest, scope: str, who: str) -> limits.Spent:
    """Count one request of a scope (league.api.http.settings), so that the headers of its answer tell of it."""
    rates: Any = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
    one = limits.spend(f"api-{scope}", who, rates[scope])
    request.__dict__[SPENT] = [*_spent(request), (scope, one)]
    return one


def _spent(request: HttpRequest) -> list[tuple[str, limits.Spent]]:
    """What was counted of a request, by scope."""
    found: list[tuple[str, limits.Spent]] = getattr(request, SPENT, [])
    return found


def refuse_bad_token(request: HttpRequest) -> None:
    """Count a header that names no live token as a request of nobody, before it is refused. Throttled for too many from one address.

    A live token is never refused for the bad ones of others at its address.
    """
    one = count(request, "anon", f"a{limits.address(request)}")
    if one.over:
        raise Throttled(wait=one.seconds)


class Window(BaseThrottle):
    """At most so many requests of a scope in a window of seconds (league.api.http.settings)."""

    scope = ""

    def who(self, request: Request) -> str:
        """The caller whose requests are counted together."""
        return f"u{request.user.pk}" if request.user.is_authenticated else f"a{limits.address(request._request)}"

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request; whether it may pass."""
        one = count(request._request, self.scope, self.who(request))
        self.seconds = one.seconds
        return not one.over

    def wait(self) -> float:
        """Seconds until the next window."""
        return self.seconds


class ByCaller(Window):
    """Every request: "user" for players, "anon" for all others."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """As in Window, with the scope of the caller."""
        self.scope = "user" if request.user.is_authenticated else "anon"
        return super().allow_request(request, view)


class Uploads(Window):
    """Uploads of bots."""

    scope = "upload"

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Only uploads count; reading the same address does not."""
        return request.method != "POST" or super().allow_request(request, view)


def headers(request: Request) -> dict[str, str]:
    """Return the rate-limit headers of the answer to `request`; none if nothing was counted."""
    counts = _spent(request._request)
    if not counts:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{scope}";q={one.quota};w={one.window}' for scope, one in counts),
        "RateLimit": ", ".join(f'"{scope}";r={one.left};t={one.seconds}' for scope, one in counts),
    }
