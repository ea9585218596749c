"""The watchdog, in processes of its own: it ends the one whose loop stands still, and no other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.compose import TOP
from tests.support.processes import Process, free_port, wait_for

LOOP = """
import sys, threading, time
from league.service import watchdog
watchdog.ROUND_S = .02
dog, until = watchdog.Watchdog(), time.monotonic() + float(sys.argv[2])
def stand_still(): threading.Event().wait(60)
dog.note("look", float(sys.argv[1]))
dog.note("ended", .1)
dog.forget("ended")
dog.start()
print("ready", flush=True)
while time.monotonic() < until:
    time.sleep(.01)
    dog.note("look", float(sys.argv[1]))
if sys.argv[3:]: stand_still()
print("done", flush=True)
"""


def start(*words: str, err: int = subprocess.PIPE) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", LOOP, *words], stdout=pipe, stderr=err, text=True, cwd=TOP)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_loop_that_stands_still_ends_the_process_and_the_log_says_where() -> None:
    _, errors = (process := start("1", "0", "stand still")).communicate(timeout=60)

    assert process.returncode == 1
    assert "the loop 'look' has stood still" in errors
    assert "in stand_still" in errors


def test_long_work_that_shows_signs_of_life_goes_on() -> None:
    output, _ = (process := start("1", "3")).communicate(timeout=60)

    assert (process.returncode, output) == (0, "done\n")


def test_a_process_that_was_stopped_for_longer_goes_on() -> None:
    process = start("1", "3")
    process.send_signal(signal.SIGSTOP)
    time.sleep(4)  # Its own patience is a second.
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=60)

    assert (process.returncode, output) == (0, "done\n")


def test_it_ends_although_nobody_reads_the_log() -> None:
    reader, full = os.pipe()
    os.set_blocking(full, False)
    while True:
        try:
            os.write(full, b"x" * 4096)
        except BlockingIOError:
            break
    os.set_blocking(full, True)
    process = start("1", "0", "stand still", err=full)

    assert process.wait(60) == -signal.SIGALRM
    os.close(reader)
    os.close(full)
    process.communicate()


@pytest.mark.slow
def test_a_web_process_in_which_no_thread_takes_requests_is_replaced(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    code = "import sys; from league.service import web_worker; web_worker.STUCK_S = 3; from gunicorn.app.wsgiapp import run; run()"
    words = ["tests.support.waiting_app", f"--bind=127.0.0.1:{port}", "--threads=1", "--no-control-socket"]
    words.append("--worker-class=league.service.web_worker.BufferingWorker")
    environment = {**os.environ, "WAIT_FOR": str(tmp_path / "go")}
    process = Process("gunicorn", [sys.executable, "-c", code, *words], log, env=environment, cwd=TOP)
    try:

        def ask(path: str) -> subprocess.CompletedProcess[bytes]:
            command = ["curl", "--silent", "--fail", "--max-time", "20", f"http://127.0.0.1:{port}{path}"]
            return subprocess.run(command, capture_output=True)

        process.wait_until(lambda: ask("/").returncode == 0, "the first answer", 120)
        stuck = subprocess.Popen(["curl", "--silent", f"http://127.0.0.1:{port}/wait"])
        wait_for((tmp_path / "go.begun").exists, "the request that holds the only thread", 60)
        process.wait_until(lambda: ask("/").returncode == 0, "an answer of the next process", 120)
        stuck.wait(60)
        assert "the loop 'requests' has stood still" in log.read_text()
    finally:
        process.stop()
