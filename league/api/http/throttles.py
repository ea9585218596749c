"""How often a caller may ask. Fixed windows, counted in the cache; every answer tells what is left.

Headers as in draft-ietf-httpapi-ratelimit-headers: RateLimit-Policy "user";q=600;w=60 and RateLimit "user";r=599;t=41.
"""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

SPENT = "_rate_limits"  # attribute of the Django request: [(scope, quota, window, remaining, seconds)]


class Window(BaseThrottle):
    """At most so many requests of a scope in a window of seconds (league.api.http.settings)."""

    scope = ""

    def who(self, request: Request) -> str:
        """The caller whose requests are counted together."""
        return f"u{request.user.pk}" if request.user.is_authenticated else f"a{self.get_ident(request)}"

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request; whether it may pass."""
        rates: Any = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
        quota: int
        window: int
        quota, window = rates[self.scope]
        now = time.time()
        start = int(now // window)
        key = f"api-rate:{self.scope}:{self.who(request)}:{start}"
        self.seconds = max(1, int((start + 1) * window - now))
        cache.add(key, 0, window * 2)
        try:
            used = cache.incr(key)
        except ValueError:  # the cache dropped the key between the two calls
            used = 1
        spent = getattr(request._request, SPENT, [])
        request._request.__dict__[SPENT] = [*spent, (self.scope, quota, window, max(0, quota - used), self.seconds)]
        return used <= quota

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
    """The rate-limit headers of the answer to `request`; none if nothing was counted."""
    spent = getattr(request._request, SPENT, None)
    if not spent:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{scope}";q={quota};w={window}' for scope, quota, window, _, _ in spent),
        "RateLimit": ", ".join(f'"{scope}";r={left};t={seconds}' for scope, _, _, left, seconds in spent),
    }
