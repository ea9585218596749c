"""Posting a body to an address that a player chose: no redirects, no private addresses, nothing stored of the answer but its status."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from threading import Timer
from urllib.parse import urlsplit

from django.conf import settings

from league.service.addresses import AddressRefused, public_address

CONNECT_S = 4.0  # To connect, and again for TLS: both end before ALL_S, while there is nothing to hang up.
ALL_S = 10.0  # However slowly the other side answers.


class PostFailed(Exception):
    """The error for a request without an answer; its text says why."""


def check_url(url: str) -> None:
    """Raise ValueError if nothing may be posted to this address."""
    parts = urlsplit(url)
    schemes = ("https", "http") if settings.WEBHOOKS_PRIVATE else ("https",)
    if (
        parts.scheme not in schemes
        or not parts.hostname
        or "@" in parts.netloc
        or not url.isascii()
        or not url.isprintable()
    ):
        raise ValueError("not an address with https://")
    _ = parts.port  # Raises ValueError.
    if " " in url or len(url) > 500:
        raise ValueError("too long, or with spaces")


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Post a body, and return the status of the answer. Raise PostFailed."""
    parts = urlsplit(url)
    try:
        check_url(url)
        host = parts.hostname or ""
        address = host if settings.WEBHOOKS_PRIVATE else public_address(host)
    except (AddressRefused, ValueError) as error:
        raise PostFailed(str(error)) from None
    kind = (
        partial(http.client.HTTPSConnection, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection
    )
    # Without a port it would look for one behind the last colon of the host, which may be an IPv6 address.
    port = parts.port or (443 if parts.scheme == "https" else 80)
    line: http.client.HTTPConnection = kind(host, port, timeout=CONNECT_S)
    # The checked address, while the certificate must still fit the name.
    line._create_connection = lambda _place, *rest, **more: socket.create_connection(  # type: ignore[attr-defined]
        (address, line.port), *rest, **more
    )
    watch = Timer(ALL_S, _hang_up, [line])
    watch.start()
    try:
        line.connect()
        line.sock.settimeout(ALL_S)
        line.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, dict(headers))
        return line.getresponse().status
    except ssl.SSLError as error:
        raise PostFailed(f"no safe connection: {error.reason or 'TLS failed'}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise PostFailed(f"no answer: {type(error).__name__}") from None
    finally:
        watch.cancel()
        line.close()


def _hang_up(line: http.client.HTTPConnection) -> None:
    if line.sock is not None:
        with suppress(OSError):  # It is closed already.
            line.sock.shutdown(socket.SHUT_RDWR)
