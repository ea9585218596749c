"""The table of faults in docs/operations/trouble.md: every row names tests, and these exist."""

from __future__ import annotations

import re

from tests.support.compose import TOP


def test_each_row_of_the_faults_names_tests_that_exist() -> None:
    text = (TOP / "docs" / "operations" / "trouble.md").read_text(encoding="utf-8")
    part = text.partition("\n## What may fail\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| ")][2:]
    sources = [path.read_text(encoding="utf-8") for path in (TOP / "tests").rglob("test_*.py")]
    present = {name for source in sources for name in re.findall(r"def (test_\w+)", source)}
    assert len(rows) >= 15
    for row in rows:
        tests = set(re.findall(r"`(test_\w+)`", row.rsplit("|", 2)[1]))
        assert tests, row
        assert tests <= present, tests - present
