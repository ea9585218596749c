"""The pytest plugin of the mutation tester: it records what each test reaches, or runs chosen tests until one fails."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.mutate import patching
from tests.mutate.areas import LEFT_OUT_WITH

hypothesis.settings.register_profile(
    "mutants",
    deadline=None,
    derandomize=True,  # the same examples for every mutant
    database=None,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),  # a failure is enough, it need not be a small one
    suppress_health_check=list(hypothesis.HealthCheck),
)
MODE = os.environ["MUTATE_MODE"]  # "map", "try" or "serve"
WAITING = 4  # Seconds of waiting that count as one of computing; the delay that a busy machine adds does not count
ORDERS = json.loads(Path(os.environ["MUTATE_ORDERS"]).read_text()) if MODE != "serve" else {}


def pytest_configure(config: pytest.Config) -> None:
    """Apply the profile to all examples but those that a test counts itself."""
    hypothesis.settings.load_profile("mutants")
    config.pluginmanager.register({"map": Map, "try": Try, "serve": Serve}[MODE](), "mutate")


class Map:
    """Note for each test what it reaches and how long it takes."""

    def __init__(self) -> None:
        os.environ["REACHED_MAIN"] = str(os.getpid())
        self.reached = importlib.import_module("reached_probes").reached
        self.finished = set(ORDERS["done"])
        self.out = Path(ORDERS["out"]).open("a")  # noqa: SIM115 - open for the whole run
        self.modules = 0
        self.caches: list[Any] = []
        self.passed = True

    def _forget(self) -> None:
        """Clear the caches of the code under test: each test is to reach everything it needs."""
        if self.modules != len(sys.modules):
            self.modules = len(sys.modules)
            self.caches = patching.caches()
        for cached in self.caches:
            cached.cache_clear()
        forget_rows()
        self.reached.clear()

    def _write(self, **line: object) -> None:
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        if not isinstance(collector, pytest.Module):
            return (yield)
        self._forget()
        os.environ["REACHED_TEST"] = f"import {collector.nodeid}"
        report = yield
        self._write(test=f"import {collector.nodeid}", passed=True, seconds=0, reached=sorted(self.reached))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out tests that an earlier run has done and tests that need a browser or a server."""
        items[:] = [
            item
            for item in items
            if item.nodeid not in self.finished and not LEFT_OUT_WITH & set(getattr(item, "fixturenames", ()))
        ]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._forget()
        self.passed = True
        os.environ["REACHED_TEST"] = item.nodeid
        before, began = computed(), time.monotonic()
        result = yield
        seconds = round(max(computed() - before, (time.monotonic() - began) / WAITING), 3)
        digest = ORDERS["files"].get(item.nodeid.partition("::")[0], "")
        self._write(test=item.nodeid, of=digest, passed=self.passed, seconds=seconds, reached=sorted(self.reached))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and report.outcome == "passed"


class Try:
    """Play the chosen tests in the chosen order; write down the first that fails."""

    def __init__(self) -> None:
        self.order = {test: place for place, test in enumerate(ORDERS["tests"])}
        self.ran = 0

    def _end(self, test: str, why: str) -> None:
        Path(ORDERS["out"]).write_text(json.dumps({"test": test, "why": why[-600:], "ran": self.ran}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._end(report.nodeid, f"cannot be collected: {report.longreprtext}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call"
        if report.failed:
            self._end(report.nodeid, report.longreprtext)

    def pytest_sessionfinish(self) -> None:
        if not Path(ORDERS["out"]).exists():
            self._end("", "")


class Serve(Try):
    """All tests are collected and the database is made; then this process forks for each order, and the fork plays its tests."""

    def __init__(self) -> None:
        self.orders = os.fdopen(int(os.environ["MUTATE_ORDERS_FD"]))
        self.answers = os.fdopen(int(os.environ["MUTATE_ANSWERS_FD"]), "w")
        self.out = Path(os.devnull)
        self.ran = 0

    def _end(self, test: str, why: str) -> None:
        self.out.write_text(json.dumps({"test": test, "why": why[-600:], "ran": self.ran}))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Any of them may be asked for."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Ignore modules that cannot be collected: no mutant asks for their tests."""

    def pytest_sessionfinish(self) -> None:
        if os.getpid() != self.parent and not self.out.exists():
            self._end("", "")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        self.parent = os.getpid()
        items = {item.nodeid: item for item in session.items}
        database = self._database(session)
        living, caches = patching.functions(Path.cwd()), patching.caches()
        gc.freeze()  # else every fork copies all pages at its first collection
        self._answer("ready")
        for line in self.orders:
            order = json.loads(line)
            self.out = Path(order["out"])
            child = os.fork()
            if child == 0:
                os.setsid()
                self.ran = 0
                resource.setrlimit(resource.RLIMIT_CPU, (order["limit"], resource.RLIM_INFINITY))
                file = Path.cwd() / order["path"]
                try:
                    if order["changed"] != order["source"]:
                        source, changed = order["source"].encode(), order["changed"].encode()
                        patching.patch(file, source, changed, living.get(str(file), {}))
                except patching.NotToBePatched:
                    self._end("not to be patched", "")
                    os._exit(0)
                for cached in caches:
                    cached.cache_clear()
                forget_rows()
                session.items[:] = self._ordered(items, order["tests"])
                if session.items:
                    session._setupstate.teardown_exact(session.items[0])
                return None  # pytest goes on with these tests
            self._answer(waited(child, order["limit"]))
            database()
        os._exit(0)

    def _answer(self, line: str) -> None:
        self.answers.write(line + "\n")
        self.answers.flush()

    @staticmethod
    def _ordered(items: dict[str, pytest.Item], tests: list[str]) -> list[pytest.Item]:
        """Last those that empty the database at their end, as pytest-django has it."""
        chosen = [items[test] for test in tests if test in items]
        return sorted(chosen, key=lambda item: bool({"transactional_db", "live_server"} & names_used(item)))

    @staticmethod
    def _database(session: pytest.Session) -> Callable[[], None]:
        """Have the database made by a first test. Returns what puts it back as it was then."""
        first = next((item for item in session.items if "db" in names_used(item)), None)
        if first is None:
            return lambda: None
        other = next(item for item in session.items if item is not first)
        first.config.hook.pytest_runtest_protocol(item=first, nextitem=other)
        from django.db import connections

        connections.close_all()
        file = Path(connections["default"].settings_dict["NAME"])
        content = file.read_bytes()

        def put_back() -> None:
            for path in file.parent.glob(f"{file.name}-*"):
                path.unlink()
            file.write_bytes(content)

        return put_back


def forget_rows() -> None:
    """Forget the leagues that tests begin with, so that the present code builds them again."""
    if rows := sys.modules.get("tests.support.rows"):
        rows.forget()


def computed() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    return sum(os.times()[:4])


def names_used(item: pytest.Item) -> set[str]:
    """Return the fixtures of a test, also those that its mark stands for."""
    names = set(getattr(item, "fixturenames", ()))
    if mark := item.get_closest_marker("django_db"):
        names.add("transactional_db" if mark.kwargs.get("transaction") else "db")
    return names - {"db"} if "transactional_db" in names else names


def waited(child: int, limit: float) -> str:
    """Wait for the fork and return its exit code or "time". The limit is CPU time; wall time may be far longer, on a busy machine."""
    began = time.monotonic()
    pid, status = 0, 0
    while not pid and time.monotonic() - began < 6 * limit:
        pid, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and all that it has started
    if not pid:
        os.waitpid(child, 0)
        return "time"
    code = os.waitstatus_to_exitcode(status)
    return "time" if code == -signal.SIGXCPU else str(code)
