"""Every Python block of docs/research.md runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.compose import TOP

BLOCKS = re.findall(r"```python\n(.*?)```", (TOP / "docs" / "research.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number: int) -> None:
    process = subprocess.run(
        [sys.executable, "-c", BLOCKS[number]], cwd=TOP, capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stderr
    assert "pettingzoo" in BLOCKS[number] or process.stdout.strip()


def test_there_are_blocks() -> None:
    assert len(BLOCKS) == 8
