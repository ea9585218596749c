"""Fits, tournaments and the story as other processors, more threads and other versions of numpy compute them.

OpenBLAS has kernels for each kind of processor, which add up in another order, and takes those that `OPENBLAS_CORETYPE` names. What cannot be
had here is named in the output (`pytest -rP`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.markers import Marker

from tests.support.compose import TOP

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

PURE = "tests/league/pure"
ON_ANY = f"{PURE}/test_portable.py"
FORMATS = [
    f"{PURE}/formats/test_{name}.py"
    for name in ("formats", "elimination", "knockout_tables", "ladder", "round_robin", "swiss")
]
KEPT = [
    f"{PURE}/formats/test_kept.py::test_a_tournament_that_was_begun_goes_on_as_it_began[{key}]"
    for key in ("round_robin", "successive_halving")
]
QUICK = ["-m", "not slow and not soak"]
STORY = "tests/league/test_story.py::test_a_story_leaves_what_it_left"
# Kernels, threads, tests: each kernel has another part, and the tests of equals. The story fits, ranks and pairs all kinds of tournaments.
RUNS: dict[str, tuple[int, list[str]]] = {
    "Haswell": (1, [ON_ANY, *KEPT, STORY]),
    "SkylakeX": (4, [*QUICK, ON_ANY, f"{PURE}/rating"]),
    "Sandybridge": (2, [*QUICK, ON_ANY, *FORMATS, f"{PURE}/pairing"]),
    "Nehalem": (4, [ON_ANY, f"{PURE}/rating/test_leaderboard.py", *KEPT]),
}
NEEDS = {"Haswell": "avx2", "SkylakeX": "avx512vl", "Sandybridge": "avx", "Nehalem": "sse4_2"}
CORE = """
import ctypes, glob, os, league, numpy, numpy.linalg
library = ctypes.CDLL(glob.glob(os.path.dirname(numpy.__file__) + ".libs/*openblas*")[0])
name = library.scipy_openblas_get_corename64_
name.restype = ctypes.c_char_p
print(numpy.__version__, name().decode(), library.scipy_openblas_get_num_threads64_())
"""
LOCKED = re.compile(r"^numpy==([^ ;]+)(?: *; *([^\\]+?))? *\\?$", re.MULTILINE)


def flags() -> set[str]:
    """Return the processor's features, in the words of the kernel."""
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="ascii"), re.MULTILINE)
    return set(match[1].split()) if match else set()


def locked() -> dict[str, bool]:
    """The versions of numpy in the lock, and whether they are for this Python."""
    lock = (TOP / "requirements-dev.lock").read_text(encoding="utf-8")
    return {number: Marker(marker).evaluate() if marker else True for number, marker in LOCKED.findall(lock)}


def run(kernels: str, threads: int, tests: list[str], tmp_path: Path, path: str = "") -> None:
    """Run tests in an interpreter of that kind; `path` is a folder whose packages come first. Fails with what they said."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "OPENBLAS_CORETYPE": kernels,
        "OPENBLAS_NUM_THREADS": str(threads),
        "STATE_DIR": str(tmp_path / "state"),
        "PYTHONPATH": path,
    }
    probe = subprocess.run(
        [sys.executable, "-c", CORE], cwd=TOP, env=environment, capture_output=True, text=True, check=True
    )
    number, core, has = probe.stdout.split()
    print(f"numpy {number}, kernels {core}, {has} of {threads} threads: {' '.join(tests)}")
    assert core == kernels
    assert int(has) == min(threads, len(os.sched_getaffinity(0)))
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not soak", *tests]
    process = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True)
    print(process.stdout[-300:])
    assert process.returncode == 0, process.stdout[-6000:]


@pytest.mark.parametrize("kernels", RUNS)
def test_another_processor_computes_the_same(kernels: str, tmp_path: Path) -> None:
    if NEEDS[kernels] not in flags():
        print(f"kernels {kernels}: this processor has no {NEEDS[kernels]}, so they were not tried")
        return
    run(kernels, *RUNS[kernels], tmp_path)


def test_every_locked_numpy_computes_the_same(tmp_path: Path) -> None:
    """The one that is installed has been tried by all other tests."""
    versions = locked()
    assert version("numpy") in versions
    for number, fits in versions.items():
        if not fits:
            print(
                f"numpy {number}: not for Python {sys.version_info.major}.{sys.version_info.minor}, so it was not tried"
            )
        elif number != version("numpy"):
            folder = tmp_path / number
            pip = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "-q",
                "--no-deps",
                "--target",
                str(folder),
                f"numpy=={number}",
            ]
            subprocess.run(pip, check=True)
            run("Haswell", 1, [ON_ANY, *KEPT, STORY], tmp_path, str(folder))
