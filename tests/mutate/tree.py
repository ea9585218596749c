"""A copy of the tree, and the processes that play tests in it. The working tree is never touched."""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.mutate import probes

HERE = Path(__file__).parent
TOOL = "tests/mutate"


class Tree:
    """The copied files below `folder`, all that is tracked or about to be."""

    def __init__(self, origin: Path, folder: Path) -> None:
        self.origin, self.folder = origin, folder
        self.top = folder / "tree"
        self.temporary = folder / "tmp"
        shutil.rmtree(self.top, ignore_errors=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=origin,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (origin / name).is_file():
                (self.top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(origin / name, self.top / name)
        shutil.copytree(HERE, self.top / TOOL, dirs_exist_ok=True)  # `origin` may be older than this tool
        (self.top / f"{probes.MODULE}.py").write_text(probes.SOURCE)
        (self.top / "var/test/static").mkdir(parents=True)
        for path in (self.top, *self.top.parents):
            if path.stat().st_uid == os.geteuid() and path.is_relative_to(folder):
                path.chmod(0o755)  # bots are other users

    def environment(self, mode: str) -> dict[str, str]:
        """Return the environment of pytest in this tree. No bytecode is written: a mutant must never be read from an old .pyc."""
        return {
            **{name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
            "PYTHONPATH": str(self.top),
            "STATE_DIR": str(self.top / "var/test"),
            "TMPDIR": str(self.temporary),
            "MUTATE_MODE": mode,
            "PYTEST_TIMEOUT": "600",
            "OPENBLAS_NUM_THREADS": "1",  # a process with threads must not fork
            **({} if mode == "map" else {"PYTHONDONTWRITEBYTECODE": "1"}),
        }

    def empty_temporary(self) -> None:
        """Remove what killed tests have left."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(parents=True)
        self.temporary.chmod(0o1777)

    def put(self, path: str, content: bytes) -> None:
        """Write a file of the tree, under a time that no .pyc knows."""
        file = self.top / path
        stamp = file.stat().st_mtime + 2
        file.write_bytes(content)
        os.utime(file, (stamp, stamp))

    def compile(self) -> None:
        """Compile all that stays as it is, once."""
        for name in ("engine", "league", "bots"):
            compileall.compile_dir(self.top / name, quiet=2)


WORDS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "tests.mutate.plugin", "--tb=short", "--show-capture=no")


class Tests:
    """Plays tests in a tree with a fault: in a fork of a process that has all loaded, or, slower but always right, in a new one.

    Both answer {"state": "passed", "failed", "crash", "time" (over the limit) or "unpatched", "test", "why", "ran"}.
    """

    def __init__(self, tree: Tree, parts: list[str], left_out: list[str]) -> None:
        self.tree = tree
        self.out, self.log = tree.folder / "outcome.json", tree.folder / "pytest.log"
        self.words = [*parts, *(f"--ignore={name}" for name in left_out)]
        self.server: subprocess.Popen[bytes] | None = None

    def _serve(self) -> None:
        """Start the process that forks."""
        if self.server is not None:
            return
        orders, answers = os.pipe(), os.pipe()
        environment = self.tree.environment("serve") | {
            "MUTATE_ORDERS_FD": str(orders[0]),
            "MUTATE_ANSWERS_FD": str(answers[1]),
        }
        self.tree.empty_temporary()
        with (self.tree.folder / "server.log").open("w") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "pytest", *WORDS, "--continue-on-collection-errors", *self.words],
                cwd=self.tree.top,
                env=environment,
                stdout=log,
                stderr=log,
                pass_fds=(orders[0], answers[1]),
            )
        os.close(orders[0])
        os.close(answers[1])
        self.orders, self.answers = os.fdopen(orders[1], "w"), os.fdopen(answers[0])
        if self.answers.readline() != "ready\n":
            raise SystemExit(f"the tests could not be loaded: see {self.tree.folder / 'server.log'}")

    def in_fork(self, path: str, source: bytes, changed: bytes, tests: list[str], limit: float) -> dict[str, Any]:
        """Run tests in a fork with the functions of a file changed."""
        self._serve()
        self.out.unlink(missing_ok=True)
        order = {"path": path, "source": source.decode(), "changed": changed.decode()}
        self.orders.write(json.dumps({**order, "tests": tests, "limit": int(limit), "out": str(self.out)}) + "\n")
        self.orders.flush()
        return self._outcome(self.answers.readline().strip())

    def in_new_process(self, tests: list[str], limit: float) -> dict[str, Any]:
        """Run tests in a new process on the tree as it stands."""
        self.out.unlink(missing_ok=True)
        orders = self.tree.folder / "orders.json"
        orders.write_text(json.dumps({"tests": tests, "out": str(self.out)}))
        with self.log.open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *WORDS, *tests],
                cwd=self.tree.top,
                env=self.tree.environment("try") | {"MUTATE_ORDERS": str(orders)},
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), resource.RLIM_INFINITY)),
            )
            try:
                code = process.wait(6 * limit)
            except subprocess.TimeoutExpired:
                code = -signal.SIGXCPU
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return self._outcome("time" if code == -signal.SIGXCPU else str(code))

    def _outcome(self, code: str) -> dict[str, Any]:
        outcome = json.loads(self.out.read_text()) if self.out.exists() else {"test": "", "why": "", "ran": 0}
        if outcome["test"]:
            return {**outcome, "state": "unpatched" if outcome["test"] == "not to be patched" else "failed"}
        if code in ("0", "time"):
            return {**outcome, "state": "passed" if code == "0" else "time"}
        return {**outcome, "state": "crash", "why": f"exit code {code}, see {self.tree.folder}/*.log"}

    def close(self) -> None:
        """End the process."""
        if self.server is not None:
            self.orders.close()
            self.server.wait()
