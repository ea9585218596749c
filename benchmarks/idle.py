"""Measure what a league costs that nobody uses: `manage.py serve` without work, beside Django's own development server as the floor.

    .venv/bin/python benchmarks/idle.py [SECONDS] [STATE_DIR]

STATE_DIR: a league that has played (`make demo SERVE=0`); it is copied. Without one the league is empty. The numbers are seconds of CPU per second of
all processes, ended ones included, so other work on the machine hardly matters; and their memory with shared pages divided among them (PSS).
`LADDERS=1` in the environment lets the standing ladders play.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
SETTLE_S = 90.0  # The spares of the sandbox end after a minute.


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def tree(root: psutil.Process) -> list[psutil.Process]:
    """Return a process and all its descendants."""
    return [root, *root.children(recursive=True)]


def cpu_s(root: psutil.Process) -> float:
    """Return the seconds of CPU of all processes, and of those that have ended."""
    return sum(sum(process.cpu_times()[:4]) for process in tree(root))


def measure(words: list[str], port: int, state: Path, settle: float, seconds: float) -> tuple[float, float, int]:
    """Run a command until its site answers, and `settle` seconds longer. Return cores, megabytes and processes over the next `seconds`."""
    settings = {"STATE_DIR": str(state), "LADDERS": os.environ.get("LADDERS", "0"), "LOG_LEVEL": "WARNING"}
    command = [sys.executable, "manage.py", *words]
    server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 180
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10).close()
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.2)
        time.sleep(settle)
        root = psutil.Process(server.pid)
        before, began = cpu_s(root), time.monotonic()
        time.sleep(seconds)
        cores = (cpu_s(root) - before) / (time.monotonic() - began)
        return cores, sum(process.memory_full_info().pss for process in tree(root)) / 1e6, len(tree(root))
    finally:
        server.terminate()
        server.wait()


def main(seconds: float, source: Path | None) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="tute-idle-") as folder:
        state = Path(folder) / "state"
        Path(folder).chmod(0o755)  # Bots run as other users.
        if source is None:
            state.mkdir()
        else:
            shutil.copytree(source, state)
        port = free_port()
        bind = f"127.0.0.1:{port}"
        league = measure(["serve", "--bind", bind], port, state, SETTLE_S, seconds)
        floor = measure(["runserver", "--noreload", "--nostatic", bind], port, state, 10, seconds)
        print(f"over {seconds:.0f} s           cores      MB  processes")
        print(f"Django's own server  {floor[0]:.4f}  {floor[1]:6.0f}  {floor[2]:9}")
        print(f"manage.py serve      {league[0]:.4f}  {league[1]:6.0f}  {league[2]:9}")
        print(
            f"ratio                {league[0] / max(floor[0], 1e-4):6.1f}  {league[1] / floor[1]:6.1f}  {league[2] / floor[2]:9.1f}"
        )


if __name__ == "__main__":
    main(float((sys.argv[1:] or ["120"])[0]), Path(sys.argv[2]) if sys.argv[2:] else None)
