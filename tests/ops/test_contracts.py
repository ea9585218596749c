"""The contracts of `.importlinter` can fail: each is shown a ring that it must find."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Package -> its files -> the contracts that they break.
PACKAGES: dict[str, tuple[dict[str, str], set[str]]] = {
    "line": ({"a.py": "from line import b", "b.py": "from line import c", "c.py": ""}, set()),
    "plain": ({"a.py": "from plain import b", "b.py": "from plain import a"}, {"folders", "modules"}),
    "for_types": (
        {
            "a.py": "from for_types import b",
            "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from for_types import a\n",
        },
        {"folders", "modules"},
    ),
    "in_function": (
        {"a.py": "from in_function import b", "b.py": "def late():\n    from in_function import a\n    return a\n"},
        {"folders", "modules"},
    ),
    "above": ({"__init__.py": "from above import a", "a.py": "import above"}, {"modules"}),
    "folders": (
        {
            "left/__init__.py": "",
            "left/a.py": "from folders.right import b",
            "left/c.py": "",
            "right/__init__.py": "",
            "right/b.py": "",
            "right/d.py": "from folders.left import c",
        },
        {"folders"},
    ),
}
HEAD = """
[importlinter]
root_packages =
    {packages}
contract_types =
    no_rings: tests.support.contracts.NoRings
"""
CONTRACTS = """
[importlinter:contract:{package}-folders]
name = {package} folders
type = acyclic_siblings
ancestors = {package}

[importlinter:contract:{package}-modules]
name = {package} modules
type = no_rings
packages = {package}
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of import-linter for all packages."""
    folder = tmp_path_factory.mktemp("contracts")
    for package, (files, _) in PACKAGES.items():
        for name, text in {"__init__.py": "", **files}.items():
            path = folder / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    parts = [HEAD.format(packages="\n    ".join(PACKAGES)), *(CONTRACTS.format(package=name) for name in PACKAGES)]
    (folder / "contracts.ini").write_text("".join(parts), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--config", "contracts.ini"]
    process = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{folder}:{ROOT}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Contracts:" in process.stdout, process.stdout + process.stderr
    return process.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_each_ring_is_found_and_nothing_else(package: str, output: str) -> None:
    broken = PACKAGES[package][1]
    for contract in ("folders", "modules"):
        assert f"{package} {contract} {'BROKEN' if contract in broken else 'KEPT'}" in output


def test_the_modules_of_a_ring_are_named(output: str) -> None:
    assert "2 modules import one another in a ring: plain.a, plain.b" in output
