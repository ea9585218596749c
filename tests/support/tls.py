"""Real certificates and TLS for tests, made by docker/certificate."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path

from tests.support.compose import TOP


def make_certificate(name: str, folder: Path) -> Path:
    """Create `folder` with tls_ca, tls_certificate and tls_key for the host `name`. Return it."""
    folder.mkdir()
    subprocess.run([TOP / "docker" / "certificate", name, folder], check=True, capture_output=True)
    return folder


class Front:
    """TLS in front of a server that cannot speak it: the wheel's Redis is built without. Decrypted data go to `port` of this machine."""

    def __init__(self, folder: Path, port: int) -> None:
        self._to = port
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(folder / "tls_certificate", folder / "tls_key")
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._socket.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._greet, args=(client,), daemon=True).start()

    def _greet(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            secure = self._context.wrap_socket(client, server_side=True)
            server = socket.create_connection(("127.0.0.1", self._to))
            threading.Thread(target=self._pass_on, args=(server, secure), daemon=True).start()
            self._pass_on(secure, server)

    @staticmethod
    def _pass_on(source: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                other.sendall(data)
        for end in (source, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
