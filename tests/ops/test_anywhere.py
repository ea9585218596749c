"""`make anywhere`: it has every setting that is promised, names what it cannot have, and fails with its tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.anywhere import machine
from tests.anywhere.__main__ import count
from tests.anywhere.parts import PARTS
from tests.anywhere.settings import AHEAD, LEAP_DAY, SETTINGS
from tests.support.compose import TOP

PROMISED = [
    "timezone-kiritimati",
    "timezone-st-johns",
    "lang-c",
    "lang-es",
    "lang-tr",
    "date-400-days-ahead",
    "date-leap-day",
    "one-core",
    "odd-path",
    "random-order",
    "ordinary-user",
    "python-3.11-bookworm",
    "python-3.12-bookworm",
    "python-3.13-bookworm",
    "python-3.11-trixie",
    "python-3.12-trixie",
    "python-3.13-trixie",
]


def anywhere(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.anywhere", *words]
    return subprocess.run(command, cwd=TOP, env=os.environ | environment, capture_output=True, text=True)


def test_every_promised_setting_is_there_and_documented() -> None:
    assert [setting.name for setting in SETTINGS] == PROMISED
    documented = (TOP / "docs/testing.md").read_text().split("## Anywhere")[1].split("## ")[0]
    assert [name for name in PROMISED if not name.startswith("python-") and f"`{name}`" not in documented] == []


def test_parts_name_tests_that_are_there_and_say_why() -> None:
    assert {setting.part for setting in SETTINGS} == set(PARTS)
    assert [name for part in PARTS for name in part.tests if not (TOP / name).exists()] == []
    assert all(part.why and len(set(part.tests)) == len(part.tests) for part in PARTS)


def test_dates_and_zones_are_those_that_were_promised() -> None:
    assert AHEAD.days == 400
    assert (LEAP_DAY.year, LEAP_DAY.month, LEAP_DAY.day) == (2028, 2, 29)
    by_name = {setting.name: setting for setting in SETTINGS}
    for name, zone in (("timezone-kiritimati", "Pacific/Kiritimati"), ("timezone-st-johns", "America/St_Johns")):
        with by_name[name].prepare(1) as prepared:
            assert prepared.environment == {"TZ": zone}


def test_what_cannot_be_had_is_named_with_its_reason() -> None:
    """Bookworm has no Python 3.12, and no other one is in reach here."""
    process = anywhere(
        "--only", "python-3.12-bookworm", PATH="/nonexistent", HOME="/nonexistent", PYENV_ROOT="/nonexistent"
    )
    assert re.fullmatch(r"python-3.12-bookworm +cannot be had here: no Python 3.12 on PATH .*\n", process.stdout), (
        process
    )
    assert process.returncode == 0


def test_a_setting_counts_its_tests_and_fails_with_them(tmp_path: Path) -> None:
    tests = tmp_path / "test_both.py"
    tests.write_text(
        "import os\n\n\ndef test_good():\n    assert os.environ['LC_ALL'] == 'C'\n\n\ndef test_bad():\n    assert False\n"
    )
    process = anywhere("--only", "lang-c", "--jobs", "0", "--tests", str(tests))
    assert re.match(r"lang-c +1 passed +1 failed +\d+ s +var/anywhere/lang-c.log\n", process.stdout), process
    assert process.returncode == 1


@pytest.mark.slow
def test_a_setting_runs_tests_of_the_project_and_fails_where_there_are_none() -> None:
    good = "tests/engine/sandbox/test_syscalls.py::test_machines_differ_where_they_must"
    passed = anywhere("--only", "lang-c", "--jobs", "1", "--tests", good)
    assert (passed.returncode, "1 passed    0 failed" in passed.stdout) == (0, True), passed
    failed = anywhere("--only", "lang-c", "--jobs", "1", "--tests", "tests/nowhere.py")
    assert (failed.returncode, "0 passed    1 failed" in failed.stdout) == (1, True), failed


@pytest.mark.parametrize(("code", "expected"), [(0, (3, 2)), (1, (3, 2))])
def test_a_report_is_counted(tmp_path: Path, code: int, expected: tuple[int, int]) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="6" failures="1" errors="1" skipped="1"/></testsuites>')
    outcome = count(report, code)
    assert (outcome.passed, outcome.failed) == expected
    nothing = count(tmp_path / "none.xml", code)
    assert (nothing.passed, nothing.failed) == (0, code)


def test_a_copy_has_the_files_of_the_working_tree_and_no_others(tmp_path: Path) -> None:
    project, copy = tmp_path / "project", tmp_path / "una mañana" / "tute"
    project.mkdir()
    for name in ("Makefile", "gone.py", ".gitignore"):
        (project / name).write_text(".venv\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@league.test"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "a"]):
        subprocess.run([*git, *words], cwd=project, check=True)
    (project / "gone.py").unlink()
    (project / "Makefile").write_text("changed\n")
    (project / "ñ.py").touch()
    (project / ".venv").touch()
    machine.copy_project(copy, project)
    (copy / "old.py").touch()
    machine.copy_project(copy, project)
    assert {path.name for path in copy.iterdir()} == {"Makefile", "ñ.py", ".git", ".gitignore"}
    assert (copy / "Makefile").read_text() == "changed\n"
