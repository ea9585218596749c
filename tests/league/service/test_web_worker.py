"""The worker of the web server: it ends in good order, is replaced after a number of requests, and logs each."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from django.conf import settings

from league.service.web_worker import MOST_HEADERS
from tests.support.parts import mostly_slow
from tests.support.processes import Process, free_port, wait_for
from tests.support.slow import BODIES, HEADS, Flood, ask_from, half_sent

Serve = Callable[..., tuple[Process, str]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start gunicorn with an application that waits for a file; the process and its address."""
    started = []

    def start(*words: str, application: str = "tests.support.waiting_app", at: str = "") -> tuple[Process, str]:
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", application, "--bind", f"127.0.0.1:{port}"]
        command += ["--worker-class", "league.service.web_worker.BufferingWorker", "--no-control-socket", *words]
        environment = {**os.environ, "WAIT_FOR": str(tmp_path / "go")}
        process = Process("gunicorn", command, tmp_path / "log", env=environment, cwd=settings.BASE_DIR)
        started.append(process)
        where = f"http://127.0.0.1:{port}"
        process.wait_until(lambda: bool(get(where + at)), "the first answer", 120)
        return process, where

    yield start
    for process in started:
        process.stop()


def get(address: str, data: bytes | None = None) -> str:
    """Return the answer, or "" while nobody listens."""
    try:
        with urllib.request.urlopen(address, data=data, timeout=60) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, ConnectionError):
        return ""


def test_what_has_begun_is_finished(serve: Serve, tmp_path: Path) -> None:
    process, where = serve("--threads", "2")
    with ThreadPoolExecutor(1) as pool, half_sent(int(where.rpartition(":")[2])):
        answer = pool.submit(get, f"{where}/wait", b"x" * 200_000)
        wait_for((tmp_path / "go.begun").exists, "the request", 60)
        process.popen.terminate()
        wait_for(lambda: "Handling signal: term" in process.tail(), "the signal", 60)
        (tmp_path / "go").touch()

        assert answer.result(60) == "x" * 200_000
    assert process.popen.wait(60) == 0
    assert "Traceback" not in process.tail(200)


def test_head_has_no_body(serve: Serve) -> None:
    """Bytes of a body would be read as the answer to the next request, which may be another client's behind a proxy."""
    _, where = serve("--threads", "1")
    with socket.create_connection(("127.0.0.1", int(where.rpartition(":")[2])), timeout=60) as link:
        link.sendall(b"HEAD /large HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = b"".join(iter(lambda: link.recv(1 << 16), b""))
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert answers.split(b"\r\n\r\n")[1].startswith(b"HTTP/1.1")
    assert answers.endswith(b"\r\n\r\n")
    assert b"Content-Length: 67108864" in answers


@pytest.mark.slow
def test_process_is_replaced_after_so_many_requests_and_each_is_logged(serve: Serve) -> None:
    process, where = serve("--threads", "2", "--max-requests", "3", "--access-logfile", "-")
    answers = []

    def two() -> bool:
        answers.append(get(f"{where}/page?a=b"))
        return len(set(answers) - {""}) >= 2

    wait_for(two, "another process", 60)
    logged = process.tail(500).count('"GET /page?a=b HTTP/1.1" 200')
    assert logged == len([answer for answer in answers if answer])


@pytest.mark.parametrize("proxies", mostly_slow(["127.0.0.0/8", "10.0.0.0/8"], "127.0.0.0/8".__eq__))
def test_every_line_is_json_and_a_proxy_of_ours_says_who_asks(serve: Serve, monkeypatch, proxies: str) -> None:
    monkeypatch.setenv("LOG_FORMAT", "json")
    monkeypatch.setenv("TRUST_PROXY", proxies)
    words = ("--logger-class", "league.service.web_log.Logger", "--access-logfile", "-")
    process, where = serve(*words, application="league.wsgi", at="/version")
    sent = {"X-Request-ID": "0123456789abcdef", "X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    with urllib.request.urlopen(urllib.request.Request(f"{where}/version?a=b", headers=sent), timeout=60):
        pass
    lines = [json.loads(line) for line in process.tail(500).splitlines()]
    assert {"gunicorn.error", "gunicorn.access"} <= {line["logger"] for line in lines}
    believed = proxies == "127.0.0.0/8"
    entry = [line for line in lines if line["logger"] == "gunicorn.access"][-1]
    address = "192.0.2.7" if believed else "127.0.0.1"
    assert (entry["request"] == sent["X-Request-ID"]) == believed
    fields = {name: entry[name] for name in ("address", "method", "path", "status")}
    assert fields == {"address": address, "method": "GET", "path": "/version", "status": 200}
    assert entry["message"].startswith(f'{address} "GET /version?a=b HTTP/1.1" 200 ')


def raw(port: int, request: bytes) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of the answer to these bytes, after which the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        got = http.client.HTTPResponse(connection)
        got.begin()
        body = got.read().decode()
        assert got.headers["Connection"] == "close"
        assert connection.recv(1) == b""
        return got.status, dict(got.headers), body


UNREADABLE = {
    b"Content-Length: 17000000\r\n\r\n": (413, "16 MiB"),
    b"no header\r\n\r\n": (400, "Invalid header"),
    b"Content-Length: -1\r\n\r\n": (400, "Content-Length is invalid"),
    b"Transfer-Encoding: gzip\r\n\r\n": (400, "Transfer-Encoding"),
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n": (400, "chunk"),
    b"X-Long: " + b"x" * 2**16: (400, "max_header"),
}


@pytest.mark.slow
def test_what_is_no_http_is_refused_as_everything_else(serve: Serve) -> None:
    _, where = serve("--threads", "2", application="league.wsgi", at="/version")
    port = int(where.rpartition(":")[2])
    for rest, (status, why) in UNREADABLE.items():
        # What is too long is not looked into, so its language is not known
        spoken = "en" if why == "max_header" else "es"
        head = b"Host: localhost\r\nAccept-Language: es\r\n" + rest
        code, headers, body = raw(port, (b"POST /api/v1/bots?a=b HTTP/1.1\r\n" + head)[:MOST_HEADERS])
        problem = json.loads(body)
        assert (code, problem["status"], headers["Content-Type"]) == (status, status, "application/problem+json"), rest
        assert headers["Content-Language"] == spoken, rest
        assert why in problem["detail"], problem
        assert headers["X-Request-Id"]

        code, headers, body = raw(port, (b"POST /accounts/login/ HTTP/1.1\r\n" + head)[:MOST_HEADERS])
        assert (code // 100, headers["Content-Type"]) == (4, "text/html; charset=utf-8"), rest
        assert body.rstrip().endswith("</html>"), rest
        assert status != 413 or "16 MB" in body
    assert raw(port, b"\x16\x03\x01 \r\n\r\n")[0] == 400


@pytest.mark.slow
def test_an_application_that_breaks_is_a_problem_of_the_api_too(serve: Serve) -> None:
    process, where = serve("--threads", "2")
    port = int(where.rpartition(":")[2])
    for path, kind in (("/api/v1/broken", "application/problem+json"), ("/broken", "text/plain; charset=utf-8")):
        status, headers, body = raw(port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert (status, headers["Content-Type"]) == (500, kind)
        assert (json.loads(body)["status"] if path.startswith("/api/") else 500) == 500
    assert "as the test asked" in process.tail(200)


@pytest.mark.slow
def test_pages_and_api_say_that_the_database_is_away(serve: Serve, monkeypatch) -> None:
    """503 with Retry-After, in the language of the reader, logged in or not, for whatever they ask; and the log says why, once."""
    settings_of_it = {"DATABASE_URL": f"postgresql://nobody@127.0.0.1:{free_port()}/none", "SECRET_KEY": "x" * 60}
    for name, value in (settings_of_it | {"HTTPS": "0"}).items():
        monkeypatch.setenv(name, value)
    process, where = serve("--threads", "2", application="league.wsgi", at="/version")
    port = int(where.rpartition(":")[2])
    cookie = f"{settings.SESSION_COOKIE_NAME}=0123456789abcdef0123456789abcdef"
    token = "csrftoken=" + "a" * 32
    requests = (
        ("GET", "/", ""),
        ("GET", "/", cookie),
        ("GET", "/nowhere/", cookie),
        ("GET", "/bots/rufo/", ""),
        ("POST", "/accounts/login/", f"{cookie}; {token}"),
        ("POST", "/editor/", cookie),
        ("GET", "/api/v1/bots", ""),
        ("GET", "/api/v1/me", cookie),
    )
    for method, path, cookies in requests:
        for language, words in (("es", "disponible temporalmente"), ("en", "temporarily unavailable")):
            head = (
                f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Language: {language}\r\nCookie: {cookies}\r\n"
            )
            body = f"csrfmiddlewaretoken={'a' * 32}&username=ana&password=x"
            head += "Content-Type: application/x-www-form-urlencoded\r\n"
            head += f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            status, headers, text = raw(port, head.encode())
            assert (status, headers.get("Retry-After")) == (503, "10"), (method, path, text[-500:])
            assert words in text, (method, path)
            assert headers["Cache-Control"] == "no-store"
    lines = process.tail(500).splitlines()
    assert "Traceback" not in process.tail(500)
    reasons = [line for line in lines if "Connection refused" in line]
    assert 1 <= len(reasons) < len(requests), "the same reason is repeated every 10 s, not for each request"


@pytest.mark.slow
def test_a_slow_client_has_thirty_seconds(serve: Serve) -> None:
    """Neither a head nor a body lasts longer for coming byte by byte, nor an answer for not being read."""
    _, where = serve("--threads", "2", application="league.wsgi", at="/version")
    port = int(where.rpartition(":")[2])
    with ExitStack() as stack:
        links = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=1)) for _ in range(3)]
        for link, begun in zip(links, (HEADS, BODIES, b""), strict=True):
            link.sendall(begun)

        def are_closed() -> bool:
            for link in [link for link in links if link.fileno() >= 0]:
                with suppress(BlockingIOError):
                    link.setblocking(False)
                    try:
                        if begun_of[link]:
                            link.send(b"x")
                        gone = link.recv(1) == b""
                    except ConnectionError:
                        gone = True
                    if gone:
                        link.close()
            return all(link.fileno() < 0 for link in links)

        begun_of = dict(zip(links, (HEADS, BODIES, b""), strict=True))
        wait_for(are_closed, "the slow connections to be closed", 120, every=1)


@pytest.mark.slow
@pytest.mark.parametrize("pace", [0, 1 << 14])
def test_a_client_that_reads_a_large_answer_too_slowly_frees_its_thread(serve: Serve, pace: int) -> None:
    _, where = serve("--threads", "1")
    with socket.create_connection(("127.0.0.1", int(where.rpartition(":")[2])), timeout=60) as link:
        link.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert link.recv(1)
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(get, where)
            while not other.done():
                with suppress(ConnectionError):
                    link.recv(pace)
                time.sleep(1)
        assert other.result().isdecimal()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("trusted", ["0", "1"], ids=["direct", "behind a proxy"])
def test_others_are_answered_while_one_client_keeps_many_connections(serve: Serve, trusted: str, monkeypatch) -> None:
    monkeypatch.setenv("TRUST_PROXY", trusted)
    process, where = serve("--threads", "4", application="league.wsgi", at="/version")
    port = int(where.rpartition(":")[2])
    with Flood(port) as flood:
        wait_for(lambda: flood.closed > 3000, "the site to close what is slow", 300)
        answers = []
        for _ in range(30):
            answers.append(ask_from("127.0.0.2", port, "/version"))
            time.sleep(0.5)
        wait_for(lambda: flood.closed > 5000, "the flood, which goes on", 300)
    assert {status for status, _ in answers} == {200}
    print(f"the slowest of {len(answers)} answers took {max(seconds for _, seconds in answers):.2f} s")
    assert "Traceback" not in process.tail(500)
