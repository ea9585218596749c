"""The lookup of hosts that players name and the league connects to."""

from __future__ import annotations

import socket

from engine.packages.addresses import is_public


class AddressRefused(ValueError):
    """The error for a host that has no address, or one that is not public."""


def public_address(host: str) -> str:
    """Return an address of a host, to which the caller must connect without looking the name up again. Raise AddressRefused.

    All addresses of the host must be public, so that a name cannot hide a private one.
    """
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused(f"{host} has no address") from None
    addresses = [str(row[4][0]).partition("%")[0] for row in rows]
    if not addresses or not all(map(is_public, addresses)):
        raise AddressRefused(f"{host} has an address that is not public")
    return addresses[0]
