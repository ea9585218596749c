"""Nothing of the suite is passed over in silence: its lists name files that are there, and its two parts are the whole."""

from __future__ import annotations

import re
import subprocess
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


class Collected(pytest.Item):
    """A test as pytest has just found it."""

    def runtest(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("file", "marks"),
    [
        (POSTGRESQL[0] + "/test_x.py", {"rows", "postgresql"}),
        (ROWS[0] + "/test_x.py", {"rows"}),
        (APART[0], set()),
        ("tests/ops/test_suite.py", set()),
    ],
)
def test_what_reads_and_writes_rows_is_marked(file: str, marks: set[str], request: pytest.FixtureRequest) -> None:
    item = Collected.from_parent(request.session, name="test_y", nodeid=f"{file}::test_y")
    request.config.hook.pytest_itemcollected(item=item)
    assert {mark.name for mark in item.iter_markers()} == marks
    assert not request.node.get_closest_marker("rows")


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
