"""A state directory for tests, and the sandbox as another user sees it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.runner.runtimes import modules
from engine.sandbox import Runtime, TierReport, check
from engine.sandbox.cgroups import groups, reservations
from engine.sandbox.files import runtimes
from tests.support.runtimes import lend

REPOSITORY = Path(__file__).resolve().parents[3]
ORDINARY_USER = 60990  # neither a bot's slot nor, on any distribution, somebody's account


class StateDirectory:
    """A directory in /tmp that every user may pass (pytest's own is private), removed at the end.

    TUTE_TEST_STATE names one that exists, with its runtimes: for tests in another kernel, which reads files slowly.
    """

    def __init__(self) -> None:
        self._lent = os.environ.get("TUTE_TEST_STATE")
        self.path = Path(self._lent or tempfile.mkdtemp(prefix="tute-test-"))
        self.path.chmod(0o755)

    def __enter__(self) -> StateDirectory:
        if not self._lent:
            lend(self.path, {})
        return self

    def __exit__(self, *_: object) -> None:
        if not self._lent:
            shutil.rmtree(self.path, ignore_errors=True)

    @cached_property
    def reports(self) -> dict[str, TierReport]:
        """Tier -> what the canary found as the present user."""
        return {report.name: report for report in check(self.path)}

    @cached_property
    def python(self) -> Runtime:
        return runtimes.python(self.path)

    @cached_property
    def python_numpy(self) -> Runtime:
        lend(self.path, runtimes.numpy_modules())
        return runtimes.python_numpy(self.path)

    @cached_property
    def java(self) -> Runtime:
        return runtimes.java(self.path)

    @cached_property
    def _for_others(self) -> Runtime:
        """Create a Python that any user can run, with the sandbox and its tests inside."""
        blank = REPOSITORY / "tests/support/__init__.py"  # no rules
        modules = {"engine/__init__.py": blank, "engine/sandbox": REPOSITORY / "engine/sandbox"}
        modules |= {name: REPOSITORY / name for name in ("tests/hostile", "tests/engine/sandbox")}
        lend(self.path, modules)
        return runtimes.python(self.path, modules)

    @cached_property
    def _runner_for_others(self) -> Runtime:
        """Create a Python that any user can run, with the whole runner and `tests.hostile.acts` inside."""
        inside = modules() | {
            f"engine/{name}": REPOSITORY / "engine" / name for name in ("runner", "packages", "sandbox")
        }
        inside["tests/hostile/acts.py"] = REPOSITORY / "tests/hostile/acts.py"
        lend(self.path, inside)
        return runtimes.python(self.path, inside)

    def for_others(self, *, runner: bool = False) -> tuple[str, list[str], str]:
        """Return (interpreter, environment as NAME=value, state directory) with which an ordinary user runs our modules.

        runner: with the runner beside the sandbox, to play whole matches.
        """
        home = self.path / "ordinary"
        home.mkdir(exist_ok=True)
        if os.getuid() == 0:
            os.chown(home, ORDINARY_USER, ORDINARY_USER)
        tree = (self._runner_for_others if runner else self._for_others).root
        program = next((tree / "python/bin").iterdir())
        names = ("PATH", groups.SWITCH, reservations.SETTING)
        passed = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
        return str(program), [*passed, f"PYTHONPATH={tree / 'python/extra'}"], str(home)

    def as_ordinary_user(
        self, module: str, *arguments: str, lines: Sequence[str] = (), runner: bool = False
    ) -> list[Any]:
        """Run a module as a user without any right, in a state directory of his; its answers, one JSON value a line. runner: as `for_others`."""
        program, environment, home = self.for_others(runner=runner)
        user = os.getuid() or ORDINARY_USER
        process = subprocess.run(
            [program, "-s", "-S", "-B", "-m", module, home, *arguments],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            timeout=850,
            check=False,
            cwd="/",
            env=dict(word.split("=", 1) for word in environment),
            **({"user": user, "group": user, "extra_groups": []} if os.getuid() == 0 else {}),
        )
        if process.returncode:
            raise RuntimeError(f"{module} failed as user {user}: {process.stderr[-2000:]}")
        return [json.loads(line) for line in process.stdout.splitlines()]


class _HeldTiers:
    """Lines for the end of the test report."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, who: str, name: str, holds: bool, reasons: Sequence[str]) -> None:
        self.add(f"{name} as {who}: " + ("holds" if holds else "NOT TESTED, does not hold here: " + "; ".join(reasons)))

    def add(self, line: str) -> None:
        if line not in self.lines:
            self.lines.append(line)


held_tiers = _HeldTiers()


def elsewhere(*namespaces: str) -> list[str]:
    """Return the words that start a program in namespaces of its own, such as --net, as its root."""
    return ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), *namespaces]


def worker(source: str, *arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a program in Python; before: words that come before the interpreter, such as those of `unshare`."""
    return subprocess.Popen(
        [*before, sys.executable, "-c", source, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )


def running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def gone(pids: list[int]) -> None:
    until = time.monotonic() + 60
    while any(map(running, pids)) and time.monotonic() < until:
        time.sleep(0.005)
    assert not [pid for pid in pids if running(pid)]
