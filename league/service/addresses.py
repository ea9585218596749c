"""Addresses that players name and the league connects to: only public ones, so that nobody reaches the league's own network through it."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Networks whose addresses lead to IPv4 addresses, private ones among them: NAT64, 6to4, Teredo.
TUNNELS = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))


class AddressRefused(ValueError):
    """The error for a host that has no address, or one that is not public."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return True if everybody on the internet reaches the same computer by this address."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in TUNNELS):
            return False
    return address.is_global and not address.is_multicast


def public_address(host: str) -> str:
    """Return an address of a host, to which the caller must connect without looking the name up again. Raise AddressRefused.

    All addresses of the host must be public, so that a name cannot hide a private one.
    """
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused(f"{host} has no address") from None
    addresses = [ip_address(str(row[4][0]).partition("%")[0]) for row in rows]
    if not addresses or not all(map(is_public, addresses)):
        raise AddressRefused(f"{host} has an address that is not public")
    return str(addresses[0])
