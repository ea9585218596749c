"""The dependency rule, seen from a fresh interpreter: what each public part loads. `.importlinter` holds the same rule statically."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import compiled
from tests.support.compose import TOP

STDLIB = frozenset(sys.stdlib_module_names)


def loaded_by(statement: str) -> set[str]:
    """Return the names of all modules that a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    return set(json.loads(process.stdout.splitlines()[-1]))


def strangers(modules: set[str], *allowed: str) -> set[str]:
    """Top-level names among `modules` that are neither the standard library nor allowed."""
    tops = {name.split(".")[0] for name in modules}
    # The start-up files of site-packages, such as those of editable installs; zoneinfo loads the last one.
    starting = ("__editable__", "_distutils_hack", "sitecustomize", "usercustomize", "_sysconfigdata")
    tops = {name for name in tops if not name.startswith(starting)}
    allowed_when_compiled = set(compiled.LIBRARIES) if compiled.COMPILED else set()
    return tops - STDLIB - set(allowed) - allowed_when_compiled - {"__main__", "__mp_main__"}


def test_the_rules_load_the_standard_library_and_nothing_above_them() -> None:
    modules = loaded_by("import engine; engine.load(engine.games()[0]).new_match(seed=1)")
    assert strangers(modules, "engine") == set()
    above = [name for name in modules if name.startswith(("engine.runner", "engine.sandbox", "engine.cli"))]
    assert above == []


def test_the_runner_and_the_sandbox_load_the_standard_library_only() -> None:
    assert strangers(loaded_by("import engine.runner, engine.sandbox"), "engine") == set()


def test_the_sdk_loads_the_standard_library_only_and_is_one_file() -> None:
    modules = loaded_by("import sys; sys.path.insert(0, 'bots/sdk'); import tute_bot")
    assert strangers(modules, "tute_bot") == set()
    assert "engine" not in modules


def test_pure_parts_of_the_league_load_no_django() -> None:
    paths = (TOP / "league" / "pure").rglob("[a-z]*.py")
    names = [".".join(path.relative_to(TOP).with_suffix("").parts) for path in paths]
    assert names
    modules = loaded_by("\n".join(f"import {name}" for name in names))
    assert strangers(modules, "engine", "league", "numpy", "confusable_homoglyphs") == set()
    assert {name for name in modules if name.startswith("league.")} <= {
        "league.pure",
        *names,
        *(name.rpartition(".")[0] for name in names),
    }


@pytest.mark.parametrize("module", ["league.wsgi", "league.celery", "league.pure.rating.bradley_terry"])
def test_a_process_of_the_league_computes_by_one_thread(module: str) -> None:
    assert threads_of(module, {}) == 1


def test_who_runs_the_league_may_compute_by_more_threads() -> None:
    most = len(os.sched_getaffinity(0))
    assert threads_of("league.pure.rating.bradley_terry", {"OPENBLAS_NUM_THREADS": "2"}) == min(2, most)


def test_nothing_is_imported_from_the_folder_where_a_process_of_the_league_runs(tmp_path: Path) -> None:
    """Celery would look there first, and an author's bot may be called random.py."""
    code = "import os, sys, league.celery; print(os.getcwd() in sys.path)"
    needed = {"PATH": os.environ["PATH"], "SECRET_KEY": "only for this test", "STATE_DIR": str(tmp_path / "state")}
    process = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, env=needed, capture_output=True, text=True, check=True
    )
    assert process.stdout == "False\n"


def threads_of(module: str, environment: dict[str, str]) -> int:
    """Return the number of threads of a fresh interpreter that has loaded the module and numpy."""
    code = f"import os, {module}, numpy.linalg; print(len(os.listdir('/proc/self/task')))"
    needed = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "league.settings",
        "SECRET_KEY": "only for this test",
    }
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=TOP, env=needed | environment, capture_output=True, text=True, check=True
    )
    return int(process.stdout)
