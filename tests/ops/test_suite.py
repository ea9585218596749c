"""Nothing of the suite is passed over in silence: its lists name files that are there, and its two parts are the whole."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests.mutate.areas import LEFT_OUT
from tests.support.files import APART, LONG, POSTGRESQL, ROWS, STATEMENTS

ROOT = Path(__file__).resolve().parents[2]


def test_the_lists_name_files_that_are_there() -> None:
    names = (*LONG, *ROWS, *POSTGRESQL, *STATEMENTS, *APART, *LEFT_OUT)
    assert [name for name in names if not (ROOT / name.partition("::")[0]).exists()] == []
    tests = [name.split("::") for name in names if "::" in name]
    assert [test for file, test in tests if f"def {test}(" not in (ROOT / file).read_text()] == []
    assert [name for name in (*POSTGRESQL, *STATEMENTS, *APART) if not name.startswith(ROWS)] == []


def test_what_reads_and_writes_rows_is_marked(request: pytest.FixtureRequest) -> None:
    """This file is not, the domain is."""
    assert not request.node.get_closest_marker("rows")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-qq",
        "-m",
        "rows",
        "tests/league/domain/core",
        "tests/ops/test_suite.py",
    ]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "tests/league/domain/core/" in process.stdout
    assert "test_suite" not in process.stdout


def test_quick_and_slow_are_the_whole_suite() -> None:
    """Each test but those of `make soak` runs once on SQLite, and those of rows once on PostgreSQL; continuous integration runs `quick`."""
    script = (ROOT / ".ci/test").read_text()
    parts = {
        f"{part} on {base}": Expression.compile(marks)
        for part, *both in re.findall(
            r"^    (\w+)\) sqlite='(.+)' postgresql='(.+)' processes=\d ;;$", script, re.MULTILINE
        )
        for base, marks in zip(("SQLite", "PostgreSQL"), both, strict=True)
    }
    assert len(parts) == 4
    for slow, rows, postgresql, soak in product((False, True), repeat=4):
        if postgresql and not rows:
            continue  # tests/support/files.py lists some of the rows
        carried = {"slow": slow, "rows": rows, "postgresql": postgresql, "soak": soak}
        plays = {part for part, marks in parts.items() if marks.evaluate(lambda mark: carried[mark])}  # noqa: B023  # evaluated at once
        expected = {"slow on SQLite" if slow else "quick on SQLite"}
        if rows:
            expected.add("quick on PostgreSQL" if postgresql and not slow else "slow on PostgreSQL")
        assert plays == (set() if soak else expected), carried
    assert re.findall(r'pytest -m "\$\w+"|on_postgres -m "\$\w+"', script) == [
        'on_postgres -m "$postgresql"',
        'pytest -m "$sqlite"',
    ]
    run = subprocess.run(
        [ROOT / ".ci/run"], env={"PATH": "/usr/bin:/bin", "MAKEFLAGS": "n"}, capture_output=True, text=True, check=True
    )
    assert re.findall(r"^\.ci/test (.*)$", run.stdout, re.MULTILINE) == ["quick"]


def test_without_a_part_the_script_asks_for_one() -> None:
    refused = subprocess.run([ROOT / ".ci/test"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "Which tests?" in refused.stderr
    assert not refused.stdout
