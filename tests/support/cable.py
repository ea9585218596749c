"""A network that loses packets without a word, as behind a balancer or a firewall: no FIN, no RST.

Its far end is a network namespace of its own, with a relay to the socket files of servers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.support import debian

HOW_TO_GET_ONE = (
    "Install iproute2, and run the tests as root: a network that can be cut is made of two network namespaces."
)
# As a server that docker-compose.yml starts, the relay gives up clients that acknowledge nothing for half a minute.
RELAY = """
import json, socket, sys, threading
def carry(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
    except OSError:
        pass
    for end in (one, other):
        try: end.shutdown(socket.SHUT_RDWR)
        except OSError: pass
def serve(listener, path):
    while True:
        near = listener.accept()[0]
        near.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("KEEPIDLE", 15), ("KEEPINTVL", 5), ("KEEPCNT", 3), ("USER_TIMEOUT", 30000)):
            near.setsockopt(socket.IPPROTO_TCP, getattr(socket, "TCP_" + option), value)
        far = socket.socket(socket.AF_UNIX)
        far.connect(path)
        for pair in ((near, far), (far, near)):
            threading.Thread(target=carry, args=pair, daemon=True).start()
for port, path in json.loads(sys.argv[1]).items():
    threading.Thread(target=serve, args=(socket.create_server(("0.0.0.0", int(port)), backlog=100), path)).start()
print("ready", flush=True)
"""


class Cable:
    """A network of two ends. The far one leads to servers.

    host: its address; there each port of `servers` leads to that socket file.
    """

    def __init__(self, servers: Mapping[int, Path]) -> None:
        self._ip = debian.find("iproute2", debian.on_path("ip"), HOW_TO_GET_ONE)
        self._near = f"tute{os.getpid() % 100_000}"
        # A network reserved for documentation. Each process has a part of it, because several may run at once.
        first = os.getpid() % 32 * 8
        self._network = f"198.51.100.{first}/29"
        self._ours, self.host, self._next = (f"198.51.100.{first + offset}" for offset in (1, 2, 5))
        paths = json.dumps({port: str(path) for port, path in servers.items()})
        self._relay = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-c", RELAY, paths], stdout=subprocess.PIPE, text=True
        )
        assert self._relay.stdout is not None
        assert self._relay.stdout.readline() == "ready\n"
        try:
            self._say("link", "add", self._near, "type", "veth", "peer", "name", "far", "netns", str(self._relay.pid))
            self._say("address", "add", f"{self._ours}/29", "dev", self._near)
            self._say("link", "set", self._near, "up")
            self._far("address", "add", f"{self.host}/29", "dev", "far")
            self._far("link", "set", "far", "up")
        except BaseException:
            self.close()
            raise

    def address(self, url: str, port: int) -> str:
        """Return the address of a server, by way of this cable."""
        parts = urlsplit(url)
        return parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@{self.host}:{port}").geturl()

    def _say(self, *words: str) -> None:
        subprocess.run([self._ip, *words], check=True)

    def _far(self, *words: str) -> None:
        subprocess.run(["nsenter", "--net", "--target", str(self._relay.pid), self._ip, *words], check=True)

    def cut(self) -> None:
        """Drop whatever is sent from now on."""
        self._far("link", "set", "far", "down")

    def mend(self) -> None:
        """Carry packets again."""
        self._far("link", "set", "far", "up")

    def forget(self) -> None:
        """Answer no packet of the present connections any more. New ones work, from another address."""
        self._say("address", "add", f"{self._next}/29", "dev", self._near)
        self._say("route", "replace", self._network, "dev", self._near, "src", self._next)
        self._far("route", "add", "blackhole", f"{self._ours}/32")

    def close(self) -> None:
        """End the relay and remove the network."""
        self._relay.kill()
        self._relay.wait()
        with suppress(subprocess.CalledProcessError):  # it may have gone with the other end
            self._say("link", "delete", self._near)
