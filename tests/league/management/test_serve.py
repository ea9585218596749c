"""The one-command league: it serves, plays, stops in good order and leaves nobody behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from league.management.commands.serve import box, listens
from league.management.processes import Supervisor
from tests.support import migrated
from tests.support.processes import Process, free_port, wait_for
from tests.support.runtimes import lend
from tests.support.slow import Flood, ask_from

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def state() -> Iterator[Path]:
    """An empty state folder that the bots' own users may pass."""
    settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="serve-", dir=settings.STATE_DIR))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static files of a league that has been served before."""
    folder = tmp_path_factory.mktemp("collected")
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    subprocess.run(command, cwd=settings.BASE_DIR, env=environment(folder), check=True)
    return folder / "static"


def environment(state: Path) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL", "SECRET_KEY")
    }
    return {**inherited, "STATE_DIR": str(state), "PYTHONUNBUFFERED": "1"}


def mine(state: Path) -> dict[int, str]:
    """Return the processes whose environment names this state folder, with their commands."""
    commands = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if f"STATE_DIR={state}\0".encode() in (folder / "environ").read_bytes():
                    commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return commands


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/admin/login/", timeout=20) as page:
            return page.status == 200 and "default-src 'self'" in page.headers["Content-Security-Policy"]
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def test_the_address_stands_in_a_frame() -> None:
    lines = box(["Tute League on http://127.0.0.1:8000", "Ctrl-C stops it"]).splitlines()

    assert lines[1] == "| Tute League on http://127.0.0.1:8000 |"
    assert len({len(line) for line in lines}) == 1
    assert not listens(f"127.0.0.1:{free_port()}")


@pytest.mark.parametrize("command", [["serve"], ["demo"]])
def test_a_taken_port_is_named_before_anything_is_done(command: list[str], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"

        with pytest.raises(CommandError, match=f"cannot listen on {where}: Address already in use.*--bind 127.0.0.1"):
            call_command(*command, bind=where)


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(CommandError, match=r"cannot listen on 192\.0\.2\.1:8000"):
        call_command("serve", bind="192.0.2.1:8000")


def test_what_is_supervised_runs_in_the_project_and_finds_the_paths_of_its_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "SECRET_KEY_FILE": "key",
        "PUZZLES": "some.jsonl",
        "STATE_DIR_FILE": "state",
        "MAIL_FROM": "a@b",
    }.items():
        monkeypatch.setenv(name, value)
    code = "import os; print(os.getcwd(), *(os.environ.get(n) for n in ('SECRET_KEY_FILE', 'PUZZLES', 'STATE_DIR_FILE', 'STATE_DIR', 'MAIL_FROM')))"
    supervisor = Supervisor({"one": [sys.executable, "-c", code]}, log=tmp_path / "log")
    supervisor.start()
    child = supervisor.children[0].process
    assert child is not None
    assert child.wait(60) == 0
    output = (tmp_path / "log").read_text().split()
    assert output == [
        *(str(path) for path in (settings.BASE_DIR, tmp_path / "key", tmp_path / "some.jsonl")),
        *("None", str(settings.STATE_DIR), "a@b"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_serve_leaves_nobody_behind(state: Path, collected: Path, how: signal.Signals) -> None:
    shutil.copytree(collected, state / "static")
    if how != signal.SIGTERM:  # there the database is made, too, and the runtime
        lend(state / "sandbox")
        shutil.copyfile(migrated.sqlite_file(), state / "league.sqlite3")
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}", "--slots", "1"]
    serving = Process("serve", command, state / "serve.log", env=environment(state), cwd=settings.BASE_DIR)
    serving.wait_until(lambda: answers(port), "the site", 180)
    serving.wait_until(lambda: any("manage.py worker" in command for command in mine(state).values()), "a worker", 180)
    assert len(mine(state)) >= 4  # this command, web and its worker, scheduler, worker
    if how == signal.SIGTERM:
        with Flood(port) as flood:  # One slow client keeps no other waiting.
            wait_for(lambda: flood.closed > 2500, "the site to close what is slow", 120)
            assert {ask_from("127.0.0.2", port, "/version")[0] for _ in range(20)} == {200}, serving.tail()

    serving.popen.send_signal(how)

    assert serving.popen.wait(180) == (-9 if how == signal.SIGKILL else 0), serving.tail()
    wait_for(lambda: not mine(state), f"the processes to end: {mine(state)}\n{serving.tail()}", 120)
    assert (state / "secret_key").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_demo_plays_rates_and_can_be_repeated(state: Path) -> None:
    command = [sys.executable, "manage.py", "demo", "--no-serve", "--game", "partnership", "--boards", "1", "--seed"]

    def demo(seed: str) -> str:
        process = subprocess.run(
            [*command, seed], cwd=settings.BASE_DIR, env=environment(state), capture_output=True, text=True, timeout=400
        )
        assert process.returncode == 0, process.stdout + process.stderr + (state / "demo.log").read_text()[-3000:]
        return process.stdout[process.stdout.index("Tute") : process.stdout.index("Played and rated")]

    lend(state / "sandbox")
    first = demo("7")
    assert re.search(r"greedy v1 +│ +1000 ", first)
    assert demo("7") == first
    wait_for(lambda: not mine(state), "what the bots of its worker were started by to end", 60)
