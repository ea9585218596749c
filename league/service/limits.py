"""How often somebody may ask for something. Fixed windows, counted in the cache; who is counted is an account or a network address."""

from __future__ import annotations

import ipaddress
import time
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

V6_PREFIX = 64  # one line of one household or server has so many bits alike, and all addresses below them


@dataclass(frozen=True)
class Spent:
    """What was counted: one of `quota` in a window of `window` seconds, of which `seconds` are left."""

    scope: str
    quota: int
    window: int
    used: int
    seconds: int

    @property
    def over(self) -> bool:
        """Whether it was one too many."""
        return self.used > self.quota

    @property
    def left(self) -> int:
        """How many remain."""
        return max(0, self.quota - self.used)


def spend(scope: str, who: str, rate: tuple[int, int]) -> Spent:
    """Count one of `who` against a rate: how many, in how many seconds."""
    quota, window = rate
    now = time.time()
    start = int(now // window)
    key = f"rate:{scope}:{who}:{start}"
    cache.add(key, 0, window * 2)
    try:
        used = cache.incr(key)
    except ValueError:  # the cache dropped the key between the two calls
        used = 1
    return Spent(scope, quota, window, used, max(1, int((start + 1) * window - now)))


def address(request: HttpRequest) -> str:
    """Where a request comes from: what our proxy says, if there is one (TRUST_PROXY); of IPv6 the network of 64 bits."""
    text = str(request.META.get("REMOTE_ADDR") or "")
    if settings.TRUST_PROXY and (told := request.META.get("HTTP_X_FORWARDED_FOR")):
        text = str(told).rpartition(",")[2].strip()  # the last one is our proxy's own; the others are the client's word
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return text[:60]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, V6_PREFIX), strict=False))
    return str(found)
