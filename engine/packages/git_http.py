"""Read one tag of a public Git repository over HTTPS: the program `python -m engine.packages.git_http`, which `engine.packages.fetching` starts.

It speaks version 2 of Git's protocol and nothing else: no credentials, no redirects to other hosts, no address that is not public. It resolves
the name once and connects to an address that it has checked, so a name that changes its address gains nothing. Before it connects it gives up
all files (Landlock). It parses no objects: it returns the server's pack as bytes.

The order is a line of JSON on stdin; the answer is a line of JSON on stdout, and the bytes of the pack after it.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - no module can be imported once the files are given up
import json
import re
import resource
import socket
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urljoin

from engine.packages.addresses import is_public
from engine.parent import end_with
from engine.sandbox.kernel import landlock

HTTPS_PORT = 443
_URL = re.compile(
    r"https://(?P<host>(?=[^:/]{1,253}[:/])(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}\.?)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?(?P<path>/[\w.~/+-]{1,200})",
    re.A | re.I,
)
_TAG = re.compile(r"(?!.*(\.\.|//|/\.|\.lock(/|$)|[./]$))[\w][\w./+-]{0,99}", re.A)
_OID = re.compile(r"[0-9a-f]{40}")
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 2
_SERVICE = "git-upload-pack"
_ADVERTISED = f"/info/refs?service={_SERVICE}"
_LEAST = 64  # Bytes for which a packet counts at least: bounds the work on empty ones.
_MOST_REFS = 1 << 20  # Bytes of a list of references.
_ANSWER_S = 20.0  # The longest silence of a server.
_MEMORY = 1 << 30
_CPU_S = 20
_FLUSH, _DELIMITER = b"0000", b"0001"
_DATA, _ERROR = 1, 3  # Side bands.


class GitRefused(Exception):
    """The repository cannot be read, and the author can do something about it."""


@dataclass(frozen=True)
class RepositoryAddress:
    """The checked parts of https://HOST[:PORT]/PATH."""

    host: str
    port: int
    path: str

    @property
    def site(self) -> str:
        """The host, with its port unless it is the usual one."""
        return self.host if self.port == HTTPS_PORT else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"https://{self.site}{self.path}"


def parse(url: str) -> RepositoryAddress:
    """Return the parts of the address of a repository. Raise ValueError unless it is plain https, without user name, query and fragment."""
    match = _URL.fullmatch(url)
    port = int(match["port"] or HTTPS_PORT) if match else 0
    if match is None or port > 65535 or "/../" in f"{match['path']}/":
        raise ValueError("an address of a repository is like https://host/owner/name")
    return RepositoryAddress(match["host"].lower().rstrip("."), port, match["path"].rstrip("/"))


def is_tag(tag: str) -> bool:
    """Return True if this can be the name of a tag here: letters, digits, and . _ / + - inside."""
    return _TAG.fullmatch(tag) is not None


def _resolve(address: RepositoryAddress, *, private: bool) -> list[str]:
    """Return the IP addresses of a host. Raise GitRefused if one is not public, unless the operator allows it (`private`)."""
    try:
        answers = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise GitRefused(f"the name {address.host} cannot be resolved") from error
    found_addresses = [str(answer[4][0]) for answer in answers]
    if not private and not all(map(is_public, found_addresses)):
        raise GitRefused(f"{address.host} is not on the public Internet")
    return found_addresses


class _PinnedConnection(HTTPSConnection):
    """A connection to a checked address, whatever the name means now."""

    def __init__(self, address: RepositoryAddress, addresses: list[str], context: ssl.SSLContext) -> None:
        super().__init__(address.host, address.port, timeout=_ANSWER_S, context=context)
        self._addresses, self._tls = addresses, context

    def connect(self) -> None:
        """Connect to the first address that answers."""
        for place, address in enumerate(self._addresses, 1):
            try:
                plain = socket.create_connection((address, self.port), _ANSWER_S)
                break
            except OSError:
                if place == len(self._addresses):
                    raise
        self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)


class _GitServer:
    """The repository on its server. `rest`: the bytes that may still be read."""

    def __init__(self, address: RepositoryAddress, connection: HTTPSConnection, most_bytes: int) -> None:
        self._address, self._connection, self._path = address, connection, address.path
        self.rest = most_bytes

    def open(self) -> None:
        """Check that the server speaks version 2, and follow a redirect on the same host."""
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._send("GET", _ADVERTISED)
            if response.status not in _REDIRECTS:
                break
            target = urljoin(self._address.url + _ADVERTISED, response.headers.get("Location", ""))
            response.close()
            self._connection.close()
            self._path = self._same_host(target)
        else:
            raise GitRefused("the server redirects again and again")
        self._check(response, f"application/x-{_SERVICE}-advertisement")
        if b"version 2" not in (line.strip() for line in self._lines(response)):
            raise GitRefused("the server does not speak version 2 of the protocol of Git")

    def find(self, tag: str) -> str:
        """Return the id of the object that a tag names; of an annotated tag, of the object behind it."""
        name = f"refs/tags/{tag}"
        request = _packet("command=ls-refs") + _DELIMITER + _packet("peel") + _packet(f"ref-prefix {name}") + _FLUSH
        for line in self._lines(self._post(request)):
            words = line.decode("utf-8", "replace").split()
            if len(words) > 1 and words[1] == name:
                peeled = [word.removeprefix("peeled:") for word in words[2:] if word.startswith("peeled:")]
                object_id = (peeled or words)[0]
                if not _OID.fullmatch(object_id):
                    raise GitRefused("the repository does not name its objects by SHA-1, which the league expects")
                return object_id
        raise GitRefused(f"the repository has no tag {tag}")

    def pack(self, object_id: str) -> bytes:
        """Return the pack of one commit without its history."""
        options = b"".join(map(_packet, ("no-progress", "ofs-delta", "deepen 1", f"want {object_id}", "done")))
        response = self._post(_packet("command=fetch") + _DELIMITER + options + _FLUSH)
        pack, inside = bytearray(), False
        for line in self._lines(response, most=self.rest):
            if not inside:
                inside = line.strip() == b"packfile"
            elif line[:1] == bytes([_DATA]):
                pack += line[1:]
            elif line[:1] == bytes([_ERROR]):
                raise GitRefused(f"the server reports: {_plain(line[1:])}")
        if not pack:
            raise GitRefused("the server sent nothing")
        return bytes(pack)

    def _same_host(self, target: str) -> str:
        address, _, query = target.partition("/info/refs?")
        try:
            other = parse(address)
        except ValueError:
            other = None
        if other is None or other.site != self._address.site or query != f"service={_SERVICE}":
            raise GitRefused("the server redirects to another address; give the final one")
        return other.path

    def _send(self, method: str, path: str, body: bytes | None = None) -> HTTPResponse:
        headers = {"Git-Protocol": "version=2", "User-Agent": "git/2.40 (tute-league)"}
        if body is not None:
            headers |= {
                "Content-Type": f"application/x-{_SERVICE}-request",
                "Accept": f"application/x-{_SERVICE}-result",
            }
        self._connection.request(method, self._path + path, body, headers)
        return self._connection.getresponse()

    def _post(self, body: bytes) -> HTTPResponse:
        response = self._send("POST", f"/{_SERVICE}", body)
        self._check(response, f"application/x-{_SERVICE}-result")
        return response

    def _check(self, response: HTTPResponse, kind: str) -> None:
        if response.status in (401, 403, 404, 410):
            raise GitRefused("there is no public repository at this address")
        if response.status != 200:
            raise GitRefused(f"the server answered with status {response.status}")
        if response.headers.get_content_type() != kind:
            raise GitRefused("there is no Git repository at this address")

    def _lines(self, response: HTTPResponse, most: int = _MOST_REFS) -> Iterator[bytes]:
        """Yield the packets of a response. Raise GitRefused if they are too many."""
        most = min(most, self.rest)
        while size := response.read(4):
            try:
                length = int(size, 16) if len(size) == 4 else -1
            except ValueError:
                length = -1
            if length < 0 or length == 3:
                raise GitRefused("the server does not speak the protocol of Git")
            line = response.read(length - 4) if length > 4 else b""
            if len(line) < length - 4:
                raise GitRefused("the server ended in the middle of its answer")
            cost = max(4 + len(line), _LEAST)
            most -= cost
            self.rest -= cost
            if most < 0:
                raise GitRefused("the repository is too large at this tag")
            if line.startswith(b"ERR "):
                raise GitRefused(f"the server reports: {_plain(line[4:])}")
            if line:
                yield line


def _packet(text: str) -> bytes:
    data = f"{text}\n".encode()
    return b"%04x" % (len(data) + 4) + data


def _plain(text: bytes) -> str:
    """Return what a server says, in printable ASCII and short."""
    return re.sub(r"[^ -~]+", " ", text.decode("ascii", "replace")).strip()[:200]


def _read(order: dict[str, Any]) -> tuple[str, bytes]:
    """Return the id of what the tag names, and its pack. Raise GitRefused."""
    address = parse(order["url"])
    context = ssl.create_default_context()
    addresses = _resolve(address, private=order["private"])
    landlock.forbid_files()
    try:
        connection = _PinnedConnection(address, addresses, context)
        server = _GitServer(address, connection, order["most_bytes"])
        server.open()
        object_id = server.find(order["tag"])
        return object_id, server.pack(object_id)
    except ssl.SSLCertVerificationError as error:
        raise GitRefused(f"the certificate of {address.host} is not valid: {error.verify_message}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise GitRefused(
            f"{address.site} cannot be read: {_plain(str(error).encode()) or type(error).__name__}"
        ) from error


def main() -> None:
    """Obey the order on stdin."""
    order = json.loads(sys.stdin.buffer.readline())
    end_with(order["parent"])
    for kind, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, _CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    try:
        object_id, pack = _read(order)
        answer = {"id": object_id}
    except GitRefused as refused:
        answer, pack = {"why": str(refused)}, b""
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + pack)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
