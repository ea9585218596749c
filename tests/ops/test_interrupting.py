"""Ctrl-C ends each of the long-running commands soon, with one line and the code of shells, and releases what it has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engine.judging import Child
from league.domain.core import clock
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking
from league.domain.people import players, tokens
from league.domain.volunteers import keys, work
from league.enums import TokenScope
from league.models import Job, RemoteLink
from tests.support.league import accepted, play, started
from tests.support.processes import wait_for
from tests.support.tuned import BOT, TOML

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
SOON_S = 10.0  # A busy machine takes longer than the two seconds that a user waits.


@dataclass
class Started:
    """A command: its words, when it is in the middle of its work, and what must be true after Ctrl-C."""

    words: list[str]
    is_working: Callable[[], object]
    is_released: Callable[[], object] = lambda: True


class SlowFile(BaseHTTPRequestHandler):
    """Sends the first bytes of a file, and no more."""

    reads = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(b"x" * 1000)
        self.reads.set()
        time.sleep(60)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def commands(live_server, tmp_path: Path, monkeypatch) -> Iterator[dict[str, Callable[[], Started]]]:
    """The commands by name; each is prepared when it is called."""
    state, errors = tmp_path / "state", tmp_path / "errors"
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowFile)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def tune() -> Started:
        folder = tmp_path / "tuned"
        folder.mkdir()
        (folder / "bot.toml").write_text(TOML)
        (folder / "bot.py").write_text(BOT)
        words = ["tune", str(folder), "-g", "a_dos", "--boards", "10000"]
        return Started(words, lambda: "tuning" in errors.read_text())

    def lab(jobs: int) -> Started:
        words = ["lab", "a_dos", "--bot", "greedy", "--against", "random", "--boards", "100000", "--jobs", str(jobs)]
        return Started(words, lambda: any(file.stat().st_size for file in state.glob("lab/*.jsonl")))

    def data() -> Started:
        folder = tmp_path / "mine"
        folder.mkdir()
        words = ["data", f"http://127.0.0.1:{server.server_port}/x.jsonl", "--save", str(folder)]
        return Started(words, SlowFile.reads.is_set, lambda: list(folder.iterdir()) == [])

    def volunteer() -> Started:
        ana, berto = players.create("ana"), players.create("berto")
        match = play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1).matches.get())
        asking.ask(match, "fair", ana, now=clock.present() - work.FIRST)
        _, key = keys.create(players.create("vera"), "cellar", actor="olga")
        (tmp_path / "key.txt").write_text(key)
        words = ["volunteer", live_server.url, "--key-file", str(tmp_path / "key.txt")]
        return Started(
            words, lambda: "task " in errors.read_text(), lambda: not Job.objects.filter(state="leased").exists()
        )

    def remote() -> Started:
        monkeypatch.setenv("TUTE_TOKEN", tokens.create(players.create("ana"), "home", scope=TokenScope.SUBMIT)[1])
        words = ["remote", "--run", "cat", "--as", "echo", "--games", "brisca", "--league", live_server.url]
        return Started(words, RemoteLink.objects.exists, lambda: RemoteLink.objects.get().matches == 0)

    yield {
        "tune": tune,
        "lab": partial(lab, 2),
        "lab alone": partial(lab, 1),
        "data": data,
        "volunteer": volunteer,
        "remote": remote,
    }
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["tune", "lab", "lab alone", "data", "volunteer", "remote"])
def test_ctrl_c_ends_a_command_soon_and_releases_what_it_has(commands, name: str, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    with errors.open("w") as file:
        begun = commands[name]()
        path = os.environ | {"STATE_DIR": str(tmp_path / "state"), "PYTHONUNBUFFERED": "1"}
        words = [sys.executable, "-m", "engine.cli", *begun.words]
        process = subprocess.Popen(words, env=path, stdout=file, stderr=file, start_new_session=True)
    try:
        wait_for(lambda: process.poll() is not None or begun.is_working(), "the middle of the work", 120)
        before = errors.read_text()
        assert process.poll() is None, before
        os.killpg(process.pid, signal.SIGINT)  # As a terminal: every process of the group gets it.
        at = time.monotonic()
        assert process.wait(SOON_S * 6) == 130
        took = time.monotonic() - at
    finally:
        process.kill()
    last = errors.read_text().removeprefix(before).splitlines()
    assert [line.partition(";")[0] for line in last] == ["tute: interrupted"], last
    assert begun.is_released()
    assert took < SOON_S
    print(f"{name}: {took:.1f} s")
