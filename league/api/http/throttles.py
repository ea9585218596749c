"""Rate limits of callers: fixed windows, counted in the cache. Every response shows what remains.

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

WEIGHED = 32 * 1024  # Bytes of JSON that take about as long to read and check as another request takes.
PACKAGES = (
    "multipart/",
    "application/octet-stream",
)  # Types that no other parser takes; uploads have a limit of their own.
SPENT = "_rate_limits"  # Attribute of the Django request with its counts


def count(request: HttpRequest, scope: str, who: str, weight: int = 1) -> limits.RateCount:
    """Count a request of a scope (league.api.http.settings) as `weight` ones. The headers of its response show the count."""
    rates: Any = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
    quota, _ = rate = rates[scope]
    spent = limits.spend(f"api-{scope}", who, rate, min(weight, quota))
    request.__dict__[SPENT] = [*_counts(request), (scope, spent)]
    return spent


def _counts(request: HttpRequest) -> list[tuple[str, limits.RateCount]]:
    """Return the counts of a request, by scope."""
    counts: list[tuple[str, limits.RateCount]] = getattr(request, SPENT, [])
    return counts


def refuse_bad_token(request: HttpRequest) -> None:
    """Count a header without a live token as an anonymous request, before it is refused. Raise Throttled at too many from one address.

    A live token is never refused because of other people's bad ones from the same address.
    """
    _refuse_if_over(count(request, "anon", f"a{limits.address(request)}"))


def count_for(request: HttpRequest, user: int) -> None:
    """Count a request that another program sends for a user. Raise Throttled at too many of the user."""
    _refuse_if_over(count(request, "user", f"u{user}"))


def _refuse_if_over(spent: limits.RateCount) -> None:
    if spent.over:
        raise Throttled(wait=spent.seconds)


class RateWindow(BaseThrottle):
    """A limit on the requests of a scope in a window of seconds (league.api.http.settings)."""

    scope = ""

    def who(self, request: Request) -> str:
        """Return the name under which the requests of this caller are counted."""
        return f"u{request.user.pk}" if request.user.is_authenticated else f"a{limits.address(request._request)}"

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request. Return True if it may pass."""
        spent = count(request._request, self.scope, self.who(request), self.weight(request))
        self.seconds = spent.seconds
        return not spent.over

    def weight(self, request: Request) -> int:
        """Return as how many requests this one counts: one more for each WEIGHED bytes of a body that is no package."""
        length, kind = str(request.META.get("CONTENT_LENGTH") or ""), str(request.content_type).lower()
        is_counted = length.isdecimal() and len(length) < 12 and not kind.startswith(PACKAGES)
        return 1 + (int(length) // WEIGHED if is_counted else 0)

    def wait(self) -> float:
        """Return the seconds until the next window."""
        return self.seconds


class ByCaller(RateWindow):
    """The limit on all requests: "user" for players, "anon" for all others."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request in the scope of the caller. Return True if it may pass."""
        self.scope = "user" if request.user.is_authenticated else "anon"
        return super().allow_request(request, view)


class Uploads(RateWindow):
    """The limit on uploads."""

    scope = "upload"

    def weight(self, request: Request) -> int:
        """Return 1: uploads have a limit of their own."""
        return 1

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count uploads, but not reads of the same address. Return True if the request may pass."""
        return request.method != "POST" or super().allow_request(request, view)


class RemoteRate(RateWindow):
    """The limit on the requests of remote bots: one for each decision."""

    scope = "remote"


def headers(request: Request) -> dict[str, str]:
    """Return the rate-limit headers of the response to `request`; none if nothing was counted."""
    counts = _counts(request._request)
    if not counts:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{scope}";q={spent.quota};w={spent.window}' for scope, spent in counts),
        "RateLimit": ", ".join(f'"{scope}";r={spent.left};t={spent.seconds}' for scope, spent in counts),
    }
