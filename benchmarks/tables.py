"""Measure how long the bots' cards take to reach a person's browser, over HTTP from `make serve`.

    .venv/bin/python benchmarks/tables.py [quiet] [ladders] [many]        the first two without an argument

    DATABASE_URL=postgresql://... ANSWERS=100 .venv/bin/python benchmarks/tables.py ladders        an empty database of yours

    TABLES=200 SECONDS=120 .venv/bin/python benchmarks/tables.py many        many tables at once

A simulated person answers at once, at one table of each of some games, in a quiet league or beside standing ladders; at many tables people think for
4 to 12 seconds. The time is from an answer until the page with the next question has arrived, as for `seat.js`. For many tables the output also has
the processor time of each answer, which hardly depends on what else the machine does.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

GAMES = ("partnership", "brisca", "individual", "corriente", "remate")
ANSWERS = int(os.environ.get("ANSWERS", "60"))  # Answers per run.
AGAIN_S = 0.5  # Seconds between two looks of a page that hears nothing.
MANY = int(os.environ.get("TABLES", "200"))  # Tables of the run "many".
SECONDS = float(os.environ.get("SECONDS", "120"))  # How long its people play.
LIMITS = ("LIVE_PER_ADDRESS", "CHANGES_PER_MINUTE", "HEAVY_PAGES_PER_MINUTE")
BOARDS = int(os.environ.get("BOARDS", "1"))  # Hands of a table of the run "many".
THINKS_S = (4.0, 12.0)  # They think for a time between these.
SPREAD_S = 80.0  # Their first answers are spread over the length of a hand, so that hands end at all times.


class Browser:
    """A signed-in browser: it sends requests and listens."""

    def __init__(self, port: int, session: str) -> None:
        self.port = port
        self.headers = {"Cookie": f"sessionid={session}; csrftoken={'a' * 32}", "X-CSRFToken": "a" * 32}
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.stream: Any = None
        self.since = 0  # The version of the table that the page shows.
        self.steps = ""  # The steps that the page shows.

    def ask(self, path: str, body: dict[str, Any] | None = None, *, part: bool = False) -> tuple[int, str, str]:
        """Send a request. Return the status, the address of a redirect and the text."""
        form = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        sent = urlencode(body) if body is not None else None
        headers = {**self.headers, **form, **({"X-Part": self.steps or "moved"} if part else {})}
        for attempt in range(2):  # The server closes connections that rest for long.
            try:
                self.link.request("POST" if body is not None else "GET", path, sent, headers)
                answer = self.link.getresponse()
                text = answer.read().decode()
                break
            except ConnectionError:
                self.link.close()
                if attempt:
                    raise
        self.steps = (re.search(r'data-steps="([^"]*)"', text) or ("", self.steps))[1]
        self.since = int((re.search(r'data-since="(\d+)"', text) or (0, self.since))[1])
        return answer.status, answer.headers.get("Location", ""), text

    def listen(self, page: str) -> None:
        """Open the event stream that the page names, if it names one."""
        section = re.search(r'<section id="seat"[^>]*>', page)
        attributes = dict(re.findall(r'data-(\w+)="([^"]*)"', section[0] if section else ""))
        if "topic" not in attributes:
            return
        link = socket.create_connection(("127.0.0.1", self.port), timeout=120)
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
        """Wait for an event that the page does not show yet. Return the number of the turn that the table has reached."""
        while line := self.stream.readline().decode():
            moved = next(iter(json.loads(line[6:]).values())) if line.startswith("data: {") else 0
            if moved not in (0, self.since):
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
    status, place, page = browser.ask(f"{where}do/", body, part=True)
    if status == 302:
        _, _, page = browser.ask(place, part=True)
    elif status != 200:  # The bots have not answered at once.
        while True:
            browser.wait_for_turn()
            _, _, page = browser.ask(where, part=True)
            if turn(page) != number:
                break
    while 'id="leave"' in page and not turn(page):
        if browser.stream is not None:
            browser.wait_for_turn()
        else:
            time.sleep(AGAIN_S)
        _, _, page = browser.ask(where, part=True)
    return page


def sit(browser: Browser, game: str, boards: int = 1) -> tuple[str, str, float]:
    """Sit down; return the table, its first page with a question, and how long that took."""
    began = time.monotonic()
    status, where, text = browser.ask("/play/", {"game": game, "rival": "greedy", "partner": "", "boards": boards})
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
    browser.ask(f"{where}replay.json")
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


class Company:
    """People at many tables, each in a thread that plays until the time is over."""

    def __init__(self, port: int, sessions: list[str]) -> None:
        self.browsers = [Browser(port, session) for session in sessions]
        self.times: list[float] = []
        self.failures: Counter[str] = Counter()
        self.begin, self.over = threading.Event(), threading.Event()
        self.seated = threading.Semaphore(0)

    def play(self, number: int) -> None:
        """Sit down and answer, with a time to think before each answer."""
        rng, browser, is_seated = random.Random(number), self.browsers[number], False
        try:
            while not self.over.is_set():
                browser.stream = None
                where, page, _ = sit(browser, GAMES[number % len(GAMES)], BOARDS)
                if not is_seated:
                    is_seated = True
                    self.seated.release()
                    self.begin.wait()
                    self.over.wait(rng.uniform(0, SPREAD_S))
                while 'id="leave"' in page and not self.over.wait(rng.uniform(*THINKS_S)):
                    legal = re.findall(r'name="do" value="((?:play|pass|bid|trump|sing|next)[^"]*)"', page)
                    began = time.monotonic()
                    page = answer(browser, where, turn(page), rng.choice(legal))
                    if not self.over.is_set():
                        self.times.append(time.monotonic() - began)
                browser.ask(f"{where}do/", {"do": "leave"})
        except (OSError, SystemExit, IndexError) as error:
            self.failures[f"{type(error).__name__}: {error}"[:200]] += 1
        finally:
            if not is_seated:
                self.seated.release()


def processor_time(root: int) -> Counter[str]:
    """Return the seconds of processor time that the web, the workers, the bots, and the rest below a process have used."""
    tick, parents, used, names = os.sysconf("SC_CLK_TCK"), {}, {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, _, tail = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            fields, names[int(entry.name)] = tail.split(), head.partition("(")[2]
            parents[int(entry.name)], used[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15])) / tick
    total: Counter[str] = Counter()
    for pid, seconds in used.items():
        path = [pid]
        while path[-1] in parents and path[-1] != root:
            path.append(parents[path[-1]])
        if path[-1] == root:
            total[_kind([names[each] for each in reversed(path)])] += seconds
    return total


def _kind(names: list[str]) -> str:
    """Return the part of the league to which a process belongs: names lead to it from the supervisor."""
    if len(names) == 1 or not names[1].startswith(("tute web", "tute worker")):
        return "rest"
    return "web" if names[1].startswith("tute web") else ("workers" if len(names) == 2 else "bots")


def crowd(port: int, pid: int) -> None:
    """Let people play at many tables at once, and print the row."""
    from django.test import Client

    from league.domain.people import players
    from league.models import Player, Table

    sessions = []
    for number in range(MANY):
        client = Client()
        name = f"sitter-{number}"
        client.force_login((Player.objects.filter(name=name).first() or players.create(name)).user)
        sessions.append(client.cookies["sessionid"].value)
    company = Company(port, sessions)
    threads = [threading.Thread(target=company.play, args=(number,), daemon=True) for number in range(MANY)]
    for thread in threads:
        thread.start()
    for _ in threads:
        company.seated.acquire()
    company.begin.set()
    time.sleep(SPREAD_S + THINKS_S[1])
    company.times.clear()
    before, began = processor_time(pid), time.monotonic()
    time.sleep(SECONDS)
    times, took = list(company.times), time.monotonic() - began
    used = processor_time(pid) - before
    company.over.set()
    for thread in threads:
        thread.join(120)
    parts = ", ".join(f"{part} {1000 * seconds / len(times):.1f}" for part, seconds in sorted(used.items()))
    print(
        f"\n{MANY} tables, {len(times)} answers, {len(times) / took:.1f} a second: median {1000 * median(times):.0f} ms,"
        f" p95 {1000 * quantiles(times, n=20)[-1]:.0f} ms, worst {1000 * max(times):.0f} ms;"
        f" processor ms an answer: {parts}; cores used: {sum(used.values()) / took:.2f}",
        flush=True,
    )
    print("tables by status:", dict(Counter(Table.objects.values_list("status", flat=True))), flush=True)
    if company.failures:
        print("failures:", dict(company.failures), flush=True)


def measure(name: str) -> None:
    """Measure one situation and print its row."""
    from tests.support.processes import Process, free_port, wait_for

    folder = Path(os.environ["STATE_DIR"])
    port = free_port()
    environment = {
        **os.environ,
        "LADDERS": "1" if name == "ladders" else "0",
        "LOG_LEVEL": "WARNING",
        # All of these people have one address, and one client may have a hundred connections; a proxy may have more.
        **(dict.fromkeys(LIMITS, "100000") | {"TRUST_PROXY": "127.0.0.1"} if name == "many" else {}),
    }
    if name == "many":
        accept_house(environment)
    words = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}", "--slots", "2"]
    words += ["--web-processes", "2"] if name == "many" else []  # As in docker-compose.yml.
    league = Process("serve", words, folder / f"{name}.log", env=environment, cwd=ROOT)
    try:
        browser = Browser(port, "")

        def answers() -> bool:
            try:
                return browser.ask("/healthz")[0] == 200
            except OSError:
                return False

        wait_for(answers, "the web", 180, every=0.5)
        if name == "many":
            return crowd(port, league.pid)
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


def accept_house(environment: dict[str, str]) -> None:
    """Enter the house bots without their validation, which would play beside the tables for minutes."""
    import subprocess

    subprocess.run([sys.executable, "manage.py", "migrate"], check=True, cwd=ROOT, env=environment, capture_output=True)
    prepare(environment)
    from league.enums import VersionStatus
    from league.models import BotVersion, Match

    Match.objects.all().delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)


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
            "TABLES": str(max(MANY, 100)),
            "TABLES_PER_WORKER": os.environ.get("TABLES_PER_WORKER", str(-(-MANY // 2)) if "many" in sys.argv else "2"),
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
