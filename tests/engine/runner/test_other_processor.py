"""Bots of WebAssembly on another family of processors: the same answers for the same instructions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.packages import archive
from engine.sandbox.files import runtimes
from tests.bots.greedy import KITS, recorded
from tests.engine.runner.test_kits import built
from tests.support import aarch64

GATE = str(runtimes.MONO_GATE.with_name("wasm.py"))
BUDGET = 10_000_000_000
# Chooses by its clock, which is the number of its instructions, and by a sum of fractions, so that each answer shows both.
CLOCK = """#include <math.h>
#include <time.h>
#include "tute.h"
static const char *choose(View *view) {
    struct timespec now;
    double sum = 0;
    unsigned long long bits;
    for (int i = 1; i < 20000; i++) sum += sin(i) / sqrt(i) + (float)i / 3;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memcpy(&bits, &sum, sizeof bits);
    fprintf(stderr, "%llu %a\\n", (unsigned long long)now.tv_nsec, sum);
    return view->legal[(now.tv_nsec ^ bits) % (unsigned long long)view->choices];
}
int main(void) { return run("clock", choose); }
"""


def conversation(python: list[str], program: Path, requests: list[str]) -> tuple[list[str], str]:
    """Return the answers of a module, each after its instructions, and its error output."""
    lines = "".join(f"{BUDGET} {request}\n" for request in requests)
    process = subprocess.run([*python, GATE, program], input=f"\n{lines}", capture_output=True, text=True, check=True)
    start, *answers = process.stdout.splitlines()
    assert start == ""
    return answers, process.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_module_takes_the_same_instructions_on_another_processor(
    tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = aarch64.python()
    for name in ("tute.h", "sense.h"):
        (tmp_path / name).write_bytes((KITS / "c" / name).read_bytes())
    (tmp_path / "bot.toml").write_text('name = "clock"\nbuild = "c-wasm"\nentry = "bot.c"\n')
    for source in ((KITS / "c" / "bot.c").read_text(), CLOCK):
        (tmp_path / "bot.c").write_text(source)
        bot, _ = built(tmp_path, "clang", state_dir, monkeypatch)
        program = bot.path / bot.entry
        assert program.read_bytes()[:8] == archive.WASM_MAGIC
        requests, _ = recorded("partnership", json.dumps({}), 0)
        here = conversation([sys.executable], program, requests)

        assert len(here[0]) == len(requests)
        assert all(int(answer.split()[0]) > 0 for answer in here[0])
        assert conversation(other, program, requests) == here
