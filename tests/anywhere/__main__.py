"""Run each setting and print one line for it: what passed, what failed and how long it took, or why it cannot be had here."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from tests.anywhere.machine import ROOT, WORK, CannotBeHad
from tests.anywhere.settings import SETTINGS, Prepared, Setting

LIMIT_S = 3600  # Time limit of one setting, so that a hang ends


@dataclass
class Outcome:
    """The result of one setting. failed: tests and steps; reason: why the setting is not available here."""

    passed: int = 0
    failed: int = 0
    reason: str = ""
    note: str = ""


def main() -> int:
    """Run the settings that are asked for; 1 if a test or a step failed in one of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.anywhere", description=__doc__)
    names = [setting.name for setting in SETTINGS]
    parser.add_argument(
        "--only", action="append", choices=names, metavar="NAME", help=f"one setting: {', '.join(names)}"
    )
    parser.add_argument("--tests", nargs="+", help="these tests instead of the part that belongs to the setting")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31), help="of the random order and of hashes")
    parser.add_argument("--jobs", type=int, default=2, help="processes of pytest (2)")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    failed = 0
    for setting in SETTINGS:
        if arguments.only and setting.name not in arguments.only:
            continue
        log, begun = WORK / f"{setting.name}.log", time.monotonic()
        outcome = run(setting, arguments.tests or list(setting.part.tests), arguments.seed, arguments.jobs, log)
        print(line(setting.name, outcome, time.monotonic() - begun, log), flush=True)
        failed += outcome.failed
    return 1 if failed else 0


def line(name: str, outcome: Outcome, seconds: float, log: Path) -> str:
    """Return the line of one setting."""
    if outcome.reason:
        return f"{name:22} cannot be had here: {outcome.reason}"
    note = f", {outcome.note}" if outcome.note else ""
    place = log.relative_to(ROOT)
    return f"{name:22} {outcome.passed:5} passed {outcome.failed:4} failed {seconds:6.0f} s   {place}{note}"


def run(setting: Setting, tests: list[str], seed: int, jobs: int, log: Path) -> Outcome:
    """Bring the machine into the setting and run the tests there. The log holds all output."""
    with log.open("w") as output:
        try:
            with setting.prepare(seed) as prepared:
                outcome = _play(prepared, tests, jobs, output.fileno())
        except CannotBeHad as error:
            return Outcome(reason=str(error))
    return outcome


def _play(prepared: Prepared, tests: list[str], jobs: int, output: int) -> Outcome:
    """Install where it is a copy, check the types where they could differ, and run the tests."""
    state = str((prepared.seen_as or prepared.project) / "var" / "test")
    environment = os.environ | {"PYTEST_TIMEOUT": "900", "STATE_DIR": state} | prepared.environment
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def call(*command: str) -> int:
        how = {"cwd": prepared.project, "env": environment, "stdin": subprocess.DEVNULL, "stdout": output}
        try:
            return subprocess.run([*prepared.before, *command], stderr=output, timeout=LIMIT_S, **how).returncode  # type: ignore[call-overload,no-any-return]
        except subprocess.TimeoutExpired:
            return 124

    python = ".venv/bin/python" if prepared.install else sys.executable
    if prepared.install and call(".ci/venv", "dev"):
        return Outcome(failed=1, note="the installation failed")
    steps = [] if not prepared.types else [("env", "DEBUG=1", python, "-m", "mypy")]
    failed = sum(call(*step) != 0 for step in steps)
    call("mkdir", "-p", f"{state}/static")
    report = prepared.project / "var" / "anywhere.xml"
    report.unlink(missing_ok=True)
    call(python, "-m", "tests.support.bubblewrap")
    words = [
        "-m",
        "not slow and not soak",
        "-q",
        "-n",
        str(min(jobs, prepared.cores)),
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
    ]
    code = call(python, "-m", "pytest", *words, "--junitxml", "var/anywhere.xml", *prepared.arguments, *tests)
    outcome = count(report, code)
    return Outcome(outcome.passed, outcome.failed + failed, note=prepared.note + ("mypy failed" if failed else ""))


def count(report: Path, code: int) -> Outcome:
    """Return what pytest's report counts; a run that failed without a failure in it (nothing collected, killed) counts as one."""
    passed = failed = 0
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):  # our own pytest wrote it
            number = {key: int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped")}
            failed += number["failures"] + number["errors"]
            passed += number["tests"] - number["failures"] - number["errors"] - number["skipped"]
    return Outcome(passed, failed or int(code != 0))


if __name__ == "__main__":
    sys.exit(main())
