"""Measure how long the bots' cards take to reach a person's browser, over HTTP from `make serve`: in a quiet league, and beside standing ladders.

    .venv/bin/python benchmarks/tables.py [quiet] [ladders]        both without an argument

    DATABASE_URL=postgresql://... ANSWERS=100 .venv/bin/python benchmarks/tables.py ladders        an empty database of yours

A simulated person answers at once, at one table of each of some games. The time is from an answer until the page with the next question has arrived,
as for `seat.js`.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

GAMES = ("partnership", "brisca", "individual", "corriente", "remate")
ANSWERS = int(os.environ.get("ANSWERS", "60"))  # Answers per run.
AGAIN_S = 0.5  # Seconds between two looks of a page that hears nothing.


class Browser:
    """A signed-in browser: it sends requests and listens."""

    def __init__(self, port: int, session: str) -> None:
        self.port = port
        self.headers = {"Cookie": f"sessionid={session}; csrftoken={'a' * 32}", "X-CSRFToken": "a" * 32}
        self.stream: Any = None

    def ask(self, path: str, body: dict[str, Any] | None = None, part: str = "") -> tuple[int, str, str]:
        """Send a request. Return the status, the address of a redirect and the text."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        form = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        sent = urlencode(body) if body is not None else None
        link.request(
            "POST" if body is not None else "GET",
            path,
            sent,
            {**self.headers, **form, **({"X-Part": part} if part else {})},
        )
        answer = link.getresponse()
        text = answer.read().decode()
        link.close()
        return answer.status, answer.headers.get("Location", ""), text

    def listen(self, page: str) -> None:
        """Open the event stream that the page names, if it names one."""
        section = re.search(r'<section id="seat"[^>]*>', page)
        attributes = dict(re.findall(r'data-(\w+)="([^"]*)"', section[0] if section else ""))
        if "topic" not in attributes:
            return
        link = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        lines = [
            f"GET {attributes['at']}?{urlencode({'topic': attributes['topic'], 'since': attributes['since']})} HTTP/1.1",
            "Host: localhost",
        ]
        lines.append(f"Cookie: {self.headers['Cookie']}")
        link.sendall("\r\n".join([*lines, "", ""]).encode())
        self.stream = link.makefile("rb")
        if b" 200 " not in self.stream.readline():
            raise SystemExit("error: nobody may listen")

    def wait_for_turn(self) -> int:
        """Wait for an event. Return the number of the turn that the table has reached."""
        while line := self.stream.readline().decode():
            if line.startswith("data: ") and (moved := next(iter(json.loads(line[6:]).values()))):
                return int(moved)
        raise SystemExit("error: the stream has ended")


def turn(page: str) -> str:
    """Return the turn that the page asks for; an empty text while it waits."""
    match = re.search(r'data-turn="(\d*)"', page)
    return match[1] if match else ""


def answer(browser: Browser, where: str, number: str, action: str) -> str:
    """Answer the question of a page; return the next page with a question."""
    body: dict[str, Any] = {"turn": number, "do": action}
    if browser.stream is not None:
        body["listens"] = 1
    status, place, _ = browser.ask(f"{where}do/", body)
    if status == 302:
        _, _, page = browser.ask(place, part="moved")
    else:
        while True:
            browser.wait_for_turn()
            _, _, page = browser.ask(where, part="moved")
            if turn(page) != number:
                break
    while 'id="leave"' in page and not turn(page):
        if browser.stream is not None:
            browser.wait_for_turn()
        else:
            time.sleep(AGAIN_S)
        _, _, page = browser.ask(where, part="moved")
    return page


def sit(browser: Browser, game: str) -> tuple[str, str, float]:
    """Sit down; return the table, its first page with a question, and how long that took."""
    began = time.monotonic()
    status, where, text = browser.ask("/tables/", {"game": game, "rival": "greedy", "partner": "", "boards": 1})
    if status != 302:
        raise SystemExit(f"error: nobody can sit down at {game}: {status} {text[-600:]}")
    _, _, page = browser.ask(where)
    browser.listen(page)
    while not turn(page):
        if browser.stream is not None:
            browser.wait_for_turn()
        else:
            time.sleep(AGAIN_S)
        _, _, page = browser.ask(where)
    return where, page, time.monotonic() - began


def play(browser: Browser, answers: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each answer, and until the first question of each table."""
    from league.models import TablePerson

    times: list[float] = []
    seats: list[float] = []
    for game in GAMES:
        browser.stream = None
        where, page, took = sit(browser, game)
        seats.append(took)
        for _ in range(-(-answers // len(GAMES))):
            if 'id="leave"' not in page:
                break
            legal = TablePerson.objects.get(table__public_id=where.split("/")[2]).legal
            began = time.monotonic()
            page = answer(browser, where, turn(page), legal[0])
            times.append(time.monotonic() - began)
        if 'id="leave"' in page:
            browser.ask(f"{where}do/", {"do": "leave"})
    return times, seats


def measure(name: str) -> None:
    """Measure one situation and print its row."""
    from tests.support.processes import Process, free_port, wait_for

    folder = Path(os.environ["STATE_DIR"])
    port = free_port()
    environment = {**os.environ, "LADDERS": "1" if name == "ladders" else "0", "LOG_LEVEL": "WARNING"}
    words = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}", "--slots", "2"]
    league = Process("serve", words, folder / f"{name}.log", env=environment, cwd=ROOT)
    try:
        browser = Browser(port, "")

        def answers() -> bool:
            try:
                return browser.ask("/healthz")[0] == 200
            except OSError:
                return False

        wait_for(answers, "the web", 180, every=0.5)
        prepare(environment)
        from django.test import Client

        from league.domain.people import players
        from league.enums import VersionStatus
        from league.models import BotVersion, Match, Player

        def is_ready() -> bool:
            wait = BotVersion.objects.filter(status=VersionStatus.VALIDATING).exists()
            return not wait and (
                name != "ladders" or Match.objects.filter(kind="ladder", status="finished").count() > 3
            )

        wait_for(is_ready, "the house bots are there", 900, every=1)
        client = Client()
        client.force_login((Player.objects.filter(name="sitter").first() or players.create("sitter")).user)
        browser = Browser(port, client.cookies["sessionid"].value)
        before = Match.objects.filter(kind="ladder", status="finished").count()
        began = time.monotonic()
        play(browser, 10)
        times, seats = play(browser, ANSWERS)
        played = Match.objects.filter(kind="ladder", status="finished").count() - before
        late = quantiles(times, n=20)[-1]
        print(
            f"| {name} | {len(times)} | {1000 * median(times):.0f} | {1000 * late:.0f} | {1000 * max(times):.0f} |"
            f" {median(seats):.2f} | {60 * played / (time.monotonic() - began):.0f} |",
            flush=True,
        )
    finally:
        league.stop()


def prepare(environment: dict[str, str]) -> None:
    """Create the house bots once."""
    import subprocess

    subprocess.run(
        [sys.executable, "manage.py", "enter_house"], check=True, cwd=ROOT, env=environment, capture_output=True
    )


def main() -> None:
    """Measure both situations and print their rows."""
    folder = tempfile.mkdtemp(prefix="tute-tables-")
    Path(folder).chmod(0o755)
    try:
        os.environ |= {
            "STATE_DIR": folder,
            "EMBEDDED": "1",
            "HTTPS": "0",
            "QUOTA_TABLES": "1000",
            "DJANGO_SETTINGS_MODULE": "league.settings",
        }
        import django

        django.setup()
        print(
            "| beside | answers | median ms | p95 ms | worst ms | sits after s | ladder matches a minute |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            flush=True,
        )
        for name in sys.argv[1:] or ("quiet", "ladders"):
            measure(name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
