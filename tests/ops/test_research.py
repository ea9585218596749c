"""Every Python block of docs/research.md runs as it stands."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.support.compose import TOP

BLOCKS = re.findall(r"```python\n(.*?)```", (TOP / "docs" / "research.md").read_text(encoding="utf-8"), flags=re.DOTALL)


RUN = """
import json, sys
for number, block in enumerate(json.load(sys.stdin)):
    print("=", number)
    exec(compile(block, f"block {number}", "exec"), {"__name__": "__main__"})
"""


def test_each_block_runs_and_prints() -> None:
    process = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(BLOCKS), cwd=TOP, capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stdout + process.stderr
    printed = re.split(r"^= \d+\n", process.stdout, flags=re.MULTILINE)[1:]
    assert len(printed) == len(BLOCKS) == 9
    assert [text for block, text in zip(BLOCKS, printed, strict=True) if "pettingzoo" not in block and not text] == []
