"""The guard of a web process: which connections may stay, so that no client can occupy the site by being slow.

A connection is *busy* while the application computes its answer. At all other times it is the client's turn: to send a head, to send a body, or to
read the answer. A turn has GRACE_S seconds, and one more for each SLOWEST bytes of a body or an answer that have passed. A head has no more, so
trickling does not help. A client whose answer waits in a thread until it has read more must read faster, FASTER bytes a second.

A client has at most PER_CLIENT connections, and all clients have CONNECTIONS. To a new one that does not fit, the connection whose turn began first
gives way: of the same client, or of the client that has most. So a new connection is always accepted, and whoever sends requests promptly is
answered. The proxies of `TRUST_PROXY` are no clients: they have no limit of their own, because they limit clients themselves.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from league.service.limits import network_of

CONNECTIONS = 500  # The most open connections of a process.
PER_CLIENT = 100  # The most of one address, or of one IPv6 network; a school is one address.
GRACE_S = 30.0
SLOWEST = 4096  # Bytes a second.
FASTER = 1 << 16
SWEEP_S = 1.0  # Time between two looks at all connections.
HEAD, BODY, ANSWER, BUSY = "head", "body", "answer", "busy"
Networks = Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]


class GuardedConnection(Protocol):
    """A connection as the guard sees it."""

    client: str
    turn: str  # What the last look has seen.
    began: float
    moved: int  # Bytes of the body or the answer in this turn.
    holds_thread: bool

    def begin_turn(self) -> None:
        """Let the turn begin now."""

    def turn_now(self) -> str:
        """Return HEAD, BODY, ANSWER or BUSY."""

    def handle_close(self) -> None:
        """Close the connection."""


def is_in(address: str, networks: Networks) -> bool:
    """Return True if one of the networks has this address."""
    try:
        peer = ipaddress.ip_address(address)
    except ValueError:
        return False
    peer = getattr(peer, "ipv4_mapped", None) or peer
    return any(peer in network for network in networks)


class ConnectionGuard:
    """The guard of all connections of a process. Only the thread of its loop uses it."""

    def __init__(self, connections: Callable[[], Collection[Any]], proxies: Networks) -> None:
        self._connections, self._proxies = connections, proxies
        self._leaving: set[Any] = set()
        self._swept = 0.0

    def client_of(self, address: str) -> str:
        """Return whose connection this is: "" for a proxy of ours."""
        return "" if is_in(address, self._proxies) else network_of(address)

    def make_room(self, client: str) -> bool:
        """Let a connection give way if a new one of this client does not fit. Return False if none can."""
        staying = [connection for connection in self._connections() if connection not in self._leaving]
        own = [connection for connection in staying if connection.client == client] if client else []
        if len(own) >= PER_CLIENT:
            return self._give_way(own)
        if len(staying) < CONNECTIONS:
            return True
        idle = [connection for connection in staying if connection.turn_now() != BUSY]
        most = Counter(connection.client for connection in idle).most_common(1)
        return bool(most) and self._give_way([connection for connection in idle if connection.client == most[0][0]])

    def _give_way(self, connections: Sequence[GuardedConnection]) -> bool:
        idle = [connection for connection in connections if connection.turn_now() != BUSY]
        if not idle:
            return False
        self._leaving.add(min(idle, key=lambda connection: connection.began))
        return True

    def sweep(self, now: float) -> None:
        """Close what has given way, and each SWEEP_S whatever has used up its turn. Call it while no other code handles connections."""
        if now - self._swept >= SWEEP_S:
            self._swept = now
            self._leaving.update(connection for connection in self._connections() if self._is_overdue(connection, now))
        leaving, self._leaving = self._leaving, set()
        for connection in leaving:
            connection.handle_close()

    @staticmethod
    def _is_overdue(connection: GuardedConnection, now: float) -> bool:
        turn = connection.turn_now()
        if turn == BUSY or turn != connection.turn:
            connection.turn = turn
            connection.begin_turn()
            return False
        credit = 0.0 if turn == HEAD else connection.moved / (FASTER if connection.holds_thread else SLOWEST)
        return now - connection.began > GRACE_S + credit
