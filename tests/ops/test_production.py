"""Production's processes in an environment of production's lock alone: every import, every process, every command, and a match to its end."""

from __future__ import annotations

import json
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.support import production
from tests.support.bots import HONEST
from tests.support.compose import TOP
from tests.support.processes import Process, wait_for
from tests.support.redis import RedisServer
from tests.support.stack import Stack

pytestmark = pytest.mark.timeout(900)

LONG = 400  # seconds for work that takes some ten on an idle machine
# Modules that only an extra or another lock brings, with those of ours that need them. Nothing else of ours may need more than the lock.
BROUGHT = {
    "gymnasium": "engine.adapters.vector: extra `learn`",
    "pettingzoo": "engine.adapters.pettingzoo: extra `learn`",
    "pyspiel": "engine.adapters.openspiel: extra `learn`",
    "librt": "compiled rules: requirements-fast.lock, in the image's build stage",
    "mypy_extensions": "compiled rules, which fall back to words of their own",
    "pyarrow": "engine.data.table: extra `data`",
    "pybind11": "builds of bots in Python: extra `compiled`",
    "mypyc": "builds of bots in Python: extra `compiled`",
    "babel": "manage.py texts: extra `test`, for who works on the project",
}
PROCESSES = {"serve", "demo", "worker", "scheduler"}
FOR_AUTHORS_OF_THE_PROJECT = {"texts"}


def test_the_environment_has_the_packages_of_the_lock_and_no_others() -> None:
    folder = production.site_packages(production.python().parents[1])
    present = {canonicalize_name(package.name): f"=={package.version}" for package in distributions(path=[str(folder)])}
    assert present == {name: version for name, (version, _) in production.locked(production.LOCK).items()}


def documented() -> set[str]:
    """Return the commands that docs/operations/ names, in its table or after `manage.py`."""
    folder = TOP / "docs" / "operations"
    table = (folder / "reference.md").read_text(encoding="utf-8").partition("\n## Commands\n")[2]
    text = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    in_table = {words.split()[0] for cell in cells for words in re.findall(r"`([^`]+)`", cell)}
    return in_table | set(re.findall(r"manage\.py ([a-z_]+)", text)) - {"help"}


def a_worker_that_does_not_come_up_is_no_worker(stack: Stack, folder: Path) -> None:
    """One that cannot import what its broker needs ends. The site does not count it."""
    (folder / "packaging").mkdir()
    (folder / "packaging" / "__init__.py").write_text("raise ImportError('not in the lock')\n")
    crashed = stack.start("worker", PYTHONPATH=str(folder))
    assert crashed.popen.wait(LONG) == 1
    assert "not in the lock" in crashed.tail()
    assert stack.check("worker", live=True) == (False, "unhealthy: no worker lives here")
    wait_for(lambda: stack.check("web")[0], f"the web\n{stack.logs()}", LONG, every=0.5)
    queue = stack.request("GET", "/api/v1/queue")[1]
    assert (queue["workers"], queue["refusing"]) == (0, 0)


def only_a_process_that_lives_is_well(stack: Stack, worker: Process) -> None:
    """Whatever its row in the database says."""
    worker.popen.send_signal(signal.SIGSTOP)
    assert stack.check("worker", live=True) == (False, f"unhealthy: the worker {worker.pid} is stopped")
    worker.popen.send_signal(signal.SIGCONT)
    wait_for(lambda: stack.check("worker", live=True)[0], "a worker that is well again", LONG, every=0.2)


def test_production_plays_a_match_from_its_lock(league_stack: Stack, redis_server: RedisServer, tmp_path: Path) -> None:
    """Web, scheduler and worker as docker-compose.yml starts them, with Redis between them, and every command by hand."""
    stack = league_stack
    (stack.folder / "secrets" / "mail_url").write_text("smtp://127.0.0.1:1")  # no digest is due, so nobody asks it
    redis_server.denied()
    bot = tmp_path / "bot.py"
    bot.write_text(HONEST, encoding="utf-8")
    stack.start("web")
    stack.start("scheduler")
    a_worker_that_does_not_come_up_is_no_worker(stack, tmp_path)
    worker = stack.start("worker")
    with ThreadPoolExecutor(1) as pool:
        words = ("tests/ops/every_command.py", str(bot), str(tmp_path))
        commands = pool.submit(stack.program, *words, timeout=2 * LONG)

        def played() -> bool:
            if commands.done():
                raise AssertionError(commands.result())
            return stack.rows("SELECT status FROM league_match WHERE kind = 'tournament'") == [("finished",)]

        wait_for(played, f"a match to its end\n{stack.logs()}", LONG, every=0.2)
        for name in ("web", "scheduler", "worker"):
            wait_for(lambda name=name: stack.check(name)[0], f"{name} to be healthy\n{stack.logs()}", LONG, every=0.5)
        only_a_process_that_lives_is_well(stack, worker)
        assert stack.request("GET", "/api/v1/queue")[1]["workers"] == 1

        def rated_boards() -> str:
            status, text = stack.request("GET", "/g/partnership/boards.jsonl")
            return text if status == 200 and "\n" in text else ""

        download = tmp_path / "download"
        download.write_text(wait_for(rated_boards, f"rated boards\n{stack.logs()}", LONG, every=0.5))
        download.rename(tmp_path / "boards.jsonl")

    commands_of_ours = {path.stem for path in (TOP / "league" / "management" / "commands").glob("[a-z]*.py")}
    assert commands_of_ours - documented() == FOR_AUTHORS_OF_THE_PROJECT
    *names, failed = commands.result().splitlines()
    assert documented() - set(names) == PROCESSES
    # `hypothesis` is in the lock of the tests alone: the check finds such a module.
    missing = {name: module for name, module in json.loads(failed).items() if module.partition(".")[0] not in BROUGHT}
    assert missing == {"hypothesis": "hypothesis"}
    assert redis_server.denied() == []
    assert "permission denied" not in stack.logs()
