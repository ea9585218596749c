"""Addresses that players name and the league connects to: only public ones, so that nobody reaches the league's own network through it."""

from __future__ import annotations

import ipaddress


def is_public(address: str) -> bool:
    """Return True if an IP address belongs to the public Internet, and leads to no other address."""
    ip = ipaddress.ip_address(address)
    if ip.is_multicast or not ip.is_global:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return True
    # 2000::/3 without tunnels; outside are addresses that contain an IPv4 address, such as 64:ff9b::/96.
    return ip in ipaddress.ip_network("2000::/3") and ip.sixtofour is None and ip.teredo is None
