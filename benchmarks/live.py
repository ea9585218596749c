"""Measure the cost of listeners: 500 connections to one web process that wait for changes, on PostgreSQL.

    .venv/bin/python benchmarks/live.py [LISTENERS]

If uvicorn is installed (pip install uvicorn), an ASGI process beside the web process is measured as well: the rival of docs/adr/0008. The client runs
on the same machine and uses a share of it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.league import on_postgres  # noqa: E402

LISTENERS = int(os.environ.get("LISTENERS", "500"))
IDLE_S = 20.0  # Nothing changes during this time.
EVENTS = 40
TOPICS = ("events", "ratings:3", "tournament:7", "match:nobody")
TICK = os.sysconf("SC_CLK_TCK")


async def rival(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Serve listeners from an ASGI server, as the web process does: one reader, a queue for each listener."""
    from league.service import live, topics

    if scope["type"] != "http":
        return
    if not hasattr(rival, "queues"):
        rival.queues = set()  # type: ignore[attr-defined]
        rival.reader = asyncio.create_task(_read(topics.read, live.PACE_S))  # type: ignore[attr-defined]
    queried = parse_qs(scope["query_string"].decode()).get("topic", [])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    queue: asyncio.Queue[dict[str, int]] = asyncio.Queue(4)
    rival.queues.add(queue)  # type: ignore[attr-defined]
    last_versions: tuple[int | None, ...] = (None,) * len(queried)
    try:
        while True:
            versions = await queue.get()
            if event := live.change_event(versions, queried, last_versions):
                last_versions = tuple(versions[topic] for topic in queried)
                await send({"type": "http.response.body", "body": event, "more_body": True})
    finally:
        rival.queues.discard(queue)  # type: ignore[attr-defined]


async def _read(read: Callable[[tuple[str, ...]], dict[str, int]], pace: float) -> None:
    while True:
        versions = await asyncio.get_running_loop().run_in_executor(None, read, TOPICS)
        for queue in rival.queues:  # type: ignore[attr-defined]
            if not queue.full():
                queue.put_nowait(versions)
        await asyncio.sleep(pace)


def memory(pid: int) -> float:
    """Return the resident memory in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def spent(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Crowd:
    """All listeners in one thread."""

    def __init__(self, port: int, count: int) -> None:
        self.selector = selectors.DefaultSelector()
        self.heard = 0
        query = "&".join(f"topic={topic}" for topic in TOPICS)
        asks = f"GET /live?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=60)
            client.sendall(asks)
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_READ)

    def listen(self, until: Callable[[list[float]], bool], within: float) -> list[float]:
        """Return the times at which events arrived, until `until` is satisfied or `within` seconds have passed."""
        times: list[float] = []
        end = time.monotonic() + within
        while not until(times) and time.monotonic() < end:
            for key, _ in self.selector.select(0.05):
                data = key.fileobj.recv(2**16)  # type: ignore[union-attr]
                if not data:
                    raise SystemExit("error: the server hung up")
                now = time.monotonic()
                times += [now] * data.count(b"data: ")
        return times

    def close(self) -> None:
        """Close all connections."""
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self.selector.close()


def measure(name: str, command: list[str], port: int) -> None:
    """Measure one server and print its row of the table."""
    from django.db import connection

    environment = {**os.environ, "LIVE_PER_ADDRESS": "5000", "LIVE_LISTENERS": "5000", "HTTPS": "0"}
    server = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        for _ in range(600):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
            except OSError:
                time.sleep(0.1)
        if "gunicorn" in name:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60).close()
        children = subprocess.run(["pgrep", "-P", str(server.pid)], capture_output=True, text=True).stdout.split()  # noqa: S607
        pid = int(children[0]) if children else server.pid
        warm = Crowd(port, 1)
        warm.listen(lambda times: len(times) >= 1, 60)
        before = memory(pid)
        crowd = Crowd(port, LISTENERS)
        first = crowd.listen(lambda times: len(times) >= LISTENERS, 60)
        with_crowd = memory(pid)
        cpu = spent(pid)
        crowd.listen(lambda times: False, IDLE_S)
        idle = (spent(pid) - cpu) / IDLE_S
        delays: list[float] = []
        cpu = spent(pid)
        for number in range(EVENTS):
            time.sleep(0.013 * (number % 40))  # Spread the changes over the interval between two looks.
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO league_change (key, number) VALUES ('events', 1)")
            at = time.monotonic()
            times = crowd.listen(lambda times: len(times) >= LISTENERS, 30)
            if len(times) != LISTENERS:
                raise SystemExit(f"error: {len(times)} of {LISTENERS} heard of a change")
            delays += [heard_at - at for heard_at in times]
        each = (spent(pid) - cpu) / EVENTS
        delays.sort()
        p99 = delays[int(0.99 * len(delays))]
        print(
            f"| {name} | {before:.0f} | {with_crowd:.0f} | {1024 * (with_crowd - before) / max(1, len(first)):.1f} | {100 * idle:.1f} |"
            f" {1000 * each:.0f} | {1000 * statistics.median(delays):.0f} | {1000 * p99:.0f} |",
            flush=True,
        )
        crowd.close()
        warm.close()
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def live() -> None:
    """Print all rows."""
    from tests.support.processes import free_port

    print(
        f"{LISTENERS} listeners, 4 topics each, {json.dumps(TOPICS)}\n\n"
        "| server | MB before | MB with them | KB each | CPU idle, % | CPU of an event, ms | delay, ms: median | p99 |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        flush=True,
    )
    port = free_port()
    words = ["--bind", f"127.0.0.1:{port}", "--threads", "4", "--no-control-socket", "--log-level", "error"]
    worker = ["--worker-class", "league.service.web_worker.BufferingWorker"]
    measure("gunicorn, the web itself", [sys.executable, "-m", "gunicorn", "league.wsgi", *words, *worker], port)
    if importlib.util.find_spec("uvicorn"):
        port = free_port()
        begin = f"import django; django.setup(); import uvicorn; uvicorn.run('benchmarks.live:rival', port={port}, log_level='error')"
        measure("uvicorn, a process beside", [sys.executable, "-c", begin], port)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        os.environ["LISTENERS"] = str(int(sys.argv[1]))
    on_postgres("live", "live")
