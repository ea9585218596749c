"""Each report that docs/reports.md lists names a test that exists."""

from __future__ import annotations

import re

from tests.support.compose import TOP

ROW = re.compile(r"^\| \[[^\]]+\]\((https://\S+)\) \|[^|]+\|[^|]+\| `(test_\w+)` \|$")


def test_each_report_has_a_line_an_address_and_a_test() -> None:
    lines = [
        line for line in (TOP / "docs" / "reports.md").read_text(encoding="utf-8").splitlines() if "https://" in line
    ]
    rows = [ROW.match(line) for line in lines]
    assert all(rows), [line for line, row in zip(lines, rows, strict=True) if row is None]
    addresses = [row.group(1) for row in rows if row]
    assert len(set(addresses)) == len(addresses) >= 30
    present = {
        name
        for path in (TOP / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    assert sorted({row.group(2) for row in rows if row} - present) == []
