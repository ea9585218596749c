"""A mail server of a test's own: as much SMTP as a mail needs, over a real connection."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast


class Inbox(socketserver.ThreadingTCPServer):
    """Stores the mails that it receives. refuses: a command that is answered by an error, such as "RCPT"; silent: it answers no text of a mail."""

    daemon_threads = True

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.letters: list[str] = []
        self.refuses = b""
        self.silent = False
        super().__init__((address, 0), Postman)

    @property
    def read(self) -> list[EmailMessage]:
        """Return the parsed mails."""
        return [
            cast("EmailMessage", message_from_bytes(letter.encode(), policy=policy.default)) for letter in self.letters
        ]


class Postman(socketserver.StreamRequestHandler):
    """Handles one connection at a time."""

    server: Inbox

    def handle(self) -> None:
        """Handle one connection."""
        self.wfile.write(b"220 inbox\r\n")
        while line := self.rfile.readline().strip():
            word = line[:4].upper()
            if word == self.server.refuses:
                self.wfile.write(b"550 not here\r\n")
                continue
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                letter = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.server.letters.append(letter.decode())
                if self.server.silent:
                    self.rfile.readline()  # Until the sender hangs up.
                    return
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 well\r\n")


@contextmanager
def opened(settings: Any) -> Iterator[Inbox]:
    """Make an inbox the mail server of the league while the block runs."""
    with Inbox() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.MAIL = True
        yield server
        server.shutdown()
