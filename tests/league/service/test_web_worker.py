"""The worker of the web server: it ends in good order, makes room after so many requests, and logs each."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

from tests.support.processes import Process, free_port, wait_for
from tests.support.slow import half_sent

Serve = Callable[..., tuple[Process, str]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start gunicorn with an application that waits for a file; the process and its address."""
    started = []

    def start(*words: str) -> tuple[Process, str]:
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", "tests.support.waiting_app", "--bind", f"127.0.0.1:{port}"]
        command += ["--worker-class", "league.service.web_worker.BufferingWorker", "--no-control-socket", *words]
        environment = {**os.environ, "WAIT_FOR": str(tmp_path / "go")}
        process = Process("gunicorn", command, tmp_path / "log", env=environment, cwd=settings.BASE_DIR)
        started.append(process)
        where = f"http://127.0.0.1:{port}"
        process.wait_until(lambda: bool(get(where)), "the first answer", 120)
        return process, where

    yield start
    for process in started:
        process.stop()


def get(address: str, data: bytes | None = None) -> str:
    """What is answered; "" while nobody listens."""
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


def test_process_is_replaced_after_so_many_requests_and_each_is_logged(serve: Serve) -> None:
    process, where = serve("--threads", "2", "--max-requests", "3", "--access-logfile", "-")
    seen = []

    def two() -> bool:
        seen.append(get(f"{where}/page?a=b"))
        return len(set(seen) - {""}) >= 2

    wait_for(two, "another process", 60)
    logged = process.tail(500).count('"GET /page?a=b HTTP/1.1" 200')
    assert logged == len([one for one in seen if one])
