"""Nothing of the suite is passed over in silence: its lists name files that are there, and its two parts are the whole."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from pathlib import Path

from _pytest.mark.expression import Expression

from tests.conftest import LONG
from tests.mutate.areas import LEFT_OUT

ROOT = Path(__file__).resolve().parents[2]


def test_the_lists_name_files_that_are_there() -> None:
    script = (ROOT / ".ci/test").read_text().replace("$domain", "tests/league/domain")
    named = re.findall(r"\btests/[\w/.]+", script)
    assert len(named) > 5
    assert [name for name in (*named, *LONG, *LEFT_OUT) if not (ROOT / name).exists()] == []


def test_quick_and_slow_are_the_whole_suite() -> None:
    """Whatever marks a test carries, one part plays it, unless it is of `make soak`; and the whole run plays both parts."""
    script = (ROOT / ".ci/test").read_text()
    parts = {
        part: Expression.compile(marks)
        for part, marks in re.findall(r"^    (\w+)\) part='(.+)' ;;$", script, re.MULTILINE)
    }
    assert set(parts) == {"quick", "slow"}
    for slow, soak in product((False, True), repeat=2):
        carried = {"slow": slow, "soak": soak}
        plays = [part for part, marks in parts.items() if marks.evaluate(lambda mark: carried[mark])]  # noqa: B023  # asked at once
        assert plays == ([] if soak else ["slow"] if slow else ["quick"])
    assert re.findall(r'pytest -m "\$part"|on_postgres -m "\$part"', script) == [
        'on_postgres -m "$part"',
        'pytest -m "$part"',
    ]
    run = subprocess.run(
        [ROOT / ".ci/run"], env={"PATH": "/usr/bin:/bin", "MAKEFLAGS": "n"}, capture_output=True, text=True, check=True
    )
    assert re.findall(r"^\.ci/test (.*)$", run.stdout, re.MULTILINE) == ["quick", "slow"]


def test_without_a_part_the_script_asks_for_one() -> None:
    refused = subprocess.run([ROOT / ".ci/test"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "Which tests?" in refused.stderr
    assert not refused.stdout
