"""Rate limits: requests of each account or network address, counted in the cache in fixed windows of time."""

from __future__ import annotations

import ipaddress
import time
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

V6_PREFIX = 64  # Bits. A household or a server has all addresses that share such a prefix.


@dataclass(frozen=True)
class RateCount:
    """The requests counted in one window: `used` of `quota`. The window has `window` seconds, of which `seconds` remain."""

    scope: str
    quota: int
    window: int
    used: int
    seconds: int

    @property
    def over(self) -> bool:
        """Return True if the last request was one too many."""
        return self.used > self.quota

    @property
    def left(self) -> int:
        """Return the number of requests that remain."""
        return max(0, self.quota - self.used)


def spend(scope: str, who: str, rate: tuple[int, int], weight: int = 1) -> RateCount:
    """Count a request of `who` as `weight` ones against a rate (number of requests, seconds of the window)."""
    quota, window = rate
    now = time.time()
    start = int(now // window)
    key = f"rate:{scope}:{who}:{start}"
    cache.add(key, 0, window * 2)
    try:
        used = cache.incr(key, weight)
    except ValueError:  # The cache dropped the key between the two calls.
        used = weight
    return RateCount(scope, quota, window, used, max(1, int((start + 1) * window - now)))


def address(request: HttpRequest) -> str:
    """Return the network address of a client, as our proxy reports it if there is one (TRUST_PROXY); for IPv6 the network of 64 bits."""
    text = str(request.META.get("REMOTE_ADDR") or "")
    if settings.TRUST_PROXY and (chain := request.META.get("HTTP_X_FORWARDED_FOR")):
        text = (
            str(chain).rpartition(",")[2].strip()
        )  # Our proxy appends the last address; the client may have invented the others.
    return network_of(text)


def network_of(text: str) -> str:
    """Return an address as clients are counted: an IPv6 address as its network of 64 bits."""
    try:
        client = ipaddress.ip_address(text)
    except ValueError:
        return text[:60]
    if isinstance(client, ipaddress.IPv6Address):
        if client.ipv4_mapped:
            return str(client.ipv4_mapped)
        return str(ipaddress.ip_network((client, V6_PREFIX), strict=False))
    return str(client)
