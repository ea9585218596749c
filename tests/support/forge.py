"""A forge for tests: HTTPS in front of Git's own server, and repositories with a tag."""

from __future__ import annotations

import os
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.tls import make_certificate

HOST = "localhost"
WHO = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "protocol.file.allow=always"]
BOT = 'name = "rufo"\nruntime = "python"\nentry = "bot.py"\ngames = ["a_dos"]\n'
Answer = Callable[[BaseHTTPRequestHandler], None]


class Forge:
    """The server. answers: what it does instead at an address that begins so."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.answers = folder, dict[str, Answer]()
        certificates = make_certificate(HOST, folder / "tls")
        self.ca = certificates / "tls_ca"
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificates / "tls_certificate", certificates / "tls_key")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.site = f"{HOST}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def url(self, name: str) -> str:
        """Return the address of a repository."""
        return f"https://{self.site}/{name}.git"

    def push(
        self,
        name: str,
        files: Mapping[str, str],
        tag: str,
        *,
        annotated: bool = False,
        links: Mapping[str, str] | None = None,
    ) -> str:
        """Commit these files, and tag the commit, which a former tag of the name leaves. Return the commit."""
        work = self.folder / name
        if not work.exists():
            self.git("init", "--quiet", str(work))
            self.git("config", "uploadpack.allowAnySHA1InWant", "true", at=work)
            (self.folder / f"{name}.git").symlink_to(work / ".git")
        for path, text in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text)
        for path, target in (links or {}).items():
            (work / path).symlink_to(target)
        self.git("add", "--all", at=work)
        self.git("commit", "--quiet", "--allow-empty", "--message", tag, at=work)
        self.git("tag", "--force", *(["-a", "-m", "a word"] if annotated else []), tag, at=work)
        return self.git("rev-parse", "HEAD", at=work)

    def git(self, *words: str, at: Path | None = None) -> str:
        """Run Git, apart from the configuration of this machine."""
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.folder)}
        result = subprocess.run(
            ["git", *WHO, *words], cwd=at, env=environment, check=True, capture_output=True, text=True
        )
        return result.stdout.strip()

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """Answer as git-http-backend does."""
        path, _, query = request.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": request.command,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        }
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        result = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=True)
        head, _, content = result.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        request.send_response(int(headers.pop("Status", "200 OK").split()[0]))
        for key, value in headers.items():
            request.send_header(key, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)


def _handler(forge: Forge) -> type[BaseHTTPRequestHandler]:
    class ForgeHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer."""
            answer = next((answer for start, answer in forge.answers.items() if self.path.startswith(start)), None)
            (answer or forge.serve)(self)

        def do_POST(self) -> None:
            """Answer."""
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return ForgeHandler


@contextmanager
def forge() -> Iterator[Forge]:
    """Yield a forge whose certificate the processes of this one trust."""
    before = os.environ.get("SSL_CERT_FILE")
    with tempfile.TemporaryDirectory(prefix="tute-forge-") as folder:
        server = Forge(Path(folder))
        os.environ["SSL_CERT_FILE"] = str(server.ca)
        try:
            yield server
        finally:
            os.environ.pop("SSL_CERT_FILE")
            if before is not None:
                os.environ["SSL_CERT_FILE"] = before
            server.close()
