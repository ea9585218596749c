"""The suite's own lists name files that are there: a path that has moved would be passed over in silence."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import LONG
from tests.mutate.areas import LEFT_OUT

ROOT = Path(__file__).resolve().parents[2]


def test_the_lists_name_files_that_are_there() -> None:
    script = (ROOT / ".ci/test").read_text().replace("$domain", "tests/league/domain")
    named = re.findall(r"\btests/[\w/.]+", script)
    assert len(named) > 5
    assert [name for name in (*named, *LONG, *LEFT_OUT) if not (ROOT / name).exists()] == []
