"""The one-command league: it serves, plays, stops in good order and leaves nobody behind."""

from __future__ import annotations

import contextlib
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
from league.management.processes import apart
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
    subprocess.run(command, cwd=settings.BASE_DIR, env=environment_of(folder), check=True)
    return folder / "static"


def environment_of(state: Path) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL", "SECRET_KEY")
    }
    return {**inherited, "STATE_DIR": str(state), "PYTHONUNBUFFERED": "1"}


def mine(state: Path) -> dict[int, str]:
    """Return the processes whose environment names this state folder, with their names."""
    commands = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if f"STATE_DIR={state}\0".encode() in (folder / "environ").read_bytes():
                    commands[int(folder.name)] = (folder / "comm").read_text().strip()
            except OSError:
                continue
    return commands


def shares_of(root: int) -> dict[int, int]:
    """Return the memory of a process and its descendants without bots, in bytes; each page is divided among those that share it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            children.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
    shares, rest = {}, [root]
    for pid in rest:
        with contextlib.suppress(OSError):
            if re.match("tute |python", (Path(f"/proc/{pid}") / "comm").read_text()):
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                shares[pid] = int(re.search(r"^Pss: +(\d+) kB$", rollup, re.M)[1]) * 1024  # type: ignore[index]
                rest.extend(children.get(pid, []))
    return shares


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


@pytest.mark.parametrize("where", ["192.0.2.1:8000", "unix:/nowhere/league.sock"])
def test_an_address_of_another_machine_or_kind_is_named(where: str) -> None:
    with pytest.raises(CommandError, match=f"cannot listen on {re.escape(where)}"):
        call_command("serve", bind=where)


def test_a_preparation_that_is_killed_says_so() -> None:
    with pytest.raises(CommandError, match="by signal 9"):
        apart(lambda: os.kill(os.getpid(), signal.SIGKILL))


CHILDREN = """
import os, sys, time, django
os.environ["PUZZLES"] = "some.jsonl"
os.environ["DJANGO_SETTINGS_MODULE"] = "league.settings"
django.setup()
from pathlib import Path
from django.conf import settings
from league.domain.core.loops import Loops
from league.management import processes
from league.service import direct
processes.STILL_S, processes.ROUND_S, processes.ROUNDS = 5, .1, 10
def show():
    print(os.getcwd(), settings.PUZZLES, open("/proc/self/comm").read().strip(), direct._StatementNames.prefix, sep="\t", flush=True)
    os._exit(0)
def hang():
    loops = Loops("worker")
    loops.be("look")
    print("hangs", flush=True)
    while True:
        time.sleep(.1)
        loops.alive()
children = {"one": show} if sys.argv[1] == "show" else {"two": hang}
processes.Supervisor(children, log=Path("log").absolute()).run()
"""


def supervise(what: str, folder: Path) -> Process:
    environment = {**environment_of(folder), "PYTHONPATH": str(settings.BASE_DIR)}
    return Process(
        "supervisor", [sys.executable, "-P", "-c", CHILDREN, what], folder / "own", env=environment, cwd=folder
    )


def test_what_is_supervised_runs_in_the_project_and_finds_the_paths_of_its_settings(tmp_path: Path) -> None:
    process = supervise("show", tmp_path)
    assert process.popen.wait(120) == 1, "it gives up on a child that ends at once"
    words = [str(settings.BASE_DIR), str(tmp_path / "some.jsonl"), "tute one"]
    children = [line.split("\t") for line in (tmp_path / "log").read_text().splitlines()]
    assert [child[:3] for child in children] == [words] * 5
    assert len({child[3] for child in children}) == 5, "the prefix of planned statements is unique"


@pytest.mark.slow
def test_a_process_that_was_stopped_is_killed_and_started_again(tmp_path: Path) -> None:
    process, log = supervise("hang", tmp_path), tmp_path / "log"
    try:
        process.wait_until(lambda: log.exists() and log.read_text() == "hangs\n", "the child", 120)
        (child,) = (
            int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and is_child(path, process.pid)
        )
        os.kill(child, signal.SIGSTOP)
        process.wait_until(lambda: log.read_text() == "hangs\n" * 2, "another child", 120)
        assert "two has stood still" in process.tail()
    finally:
        process.stop()


def is_child(folder: Path, parent: int) -> bool:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_serve_leaves_nobody_behind(state: Path, collected: Path, how: signal.Signals) -> None:
    shutil.copytree(collected, state / "static")
    if how != signal.SIGTERM:  # there the database is made, too, and the runtime
        lend(state / "sandbox")
        shutil.copyfile(migrated.sqlite_file(), state / "league.sqlite3")
    port = free_port()
    slots = "2" if how == signal.SIGTERM else "1"
    command = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}", "--slots", slots]
    serving = Process("serve", command, state / "serve.log", env=environment_of(state), cwd=settings.BASE_DIR)
    serving.wait_until(lambda: answers(port), "the site", 180)
    serving.wait_until(lambda: "tute worker-1" in mine(state).values(), "a worker", 180)
    assert len(mine(state)) >= 4  # this command, web, scheduler, worker
    if how == signal.SIGTERM:
        with Flood(port, trickling=400, idle=100) as flood:  # One slow client keeps no other waiting.
            wait_for(lambda: flood.closed > 500, "the site to close what is slow", 120)
            assert {ask_from("127.0.0.2", port, "/version")[0] for _ in range(20)} == {200}, serving.tail()
        serving.wait_until(lambda: len(shares_of(serving.pid)) >= 7, "two workers that can start bots", 180)
        shares = shares_of(serving.pid)
        assert len(shares) == 7, "supervisor, web, scheduler, and each worker with the process that starts its bots"
        assert sum(shares.values()) < 400e6, shares
        os.kill(next(pid for pid, name in mine(state).items() if name == "tute web-1"), signal.SIGKILL)
        socket.create_connection(("127.0.0.1", port)).close()  # Clients wait until the process is back.
        serving.wait_until(lambda: answers(port), "the web process to come back", 180)

    serving.popen.send_signal(how)

    assert serving.popen.wait(180) == (-9 if how == signal.SIGKILL else 0), serving.tail()
    wait_for(lambda: not mine(state), f"the processes to end: {mine(state)}\n{serving.tail()}", 120)
    assert (state / "secret_key").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_demo_plays_rates_and_can_be_repeated(state: Path) -> None:
    command = [sys.executable, "manage.py", "demo", "--no-serve", "--game", "partnership", "--boards", "1", "--seed"]

    def demo(seed: str) -> str:
        process = subprocess.run(
            [*command, seed],
            cwd=settings.BASE_DIR,
            env=environment_of(state),
            capture_output=True,
            text=True,
            timeout=800,
        )
        assert process.returncode == 0, process.stdout + process.stderr + (state / "demo.log").read_text()[-3000:]
        return process.stdout[process.stdout.index("Tute") : process.stdout.index("Played and rated")]

    lend(state / "sandbox")
    first = demo("7")
    assert re.search(r"greedy v1 +│ +1000 ", first)
    assert demo("7") == first
    wait_for(lambda: not mine(state), "what the bots of its worker were started by to end", 60)
