"""The contracts of `.importlinter` can fail: each is shown a ring that it must find."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = """
[importlinter]
root_package = house
contract_types =
    no_rings: tests.support.contracts.NoRings

[importlinter:contract:folders]
name = No ring of folders
type = acyclic_siblings
ancestors = house

[importlinter:contract:modules]
name = No ring of modules
type = no_rings
packages = house
"""


def lint(folder: Path, files: dict[str, str]) -> str:
    """Return the output of import-linter for a package `house` with these files."""
    for name, text in {"__init__.py": "", **files}.items():
        path = folder / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "contracts.ini").write_text(CONFIGURATION, encoding="utf-8")
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


def test_modules_in_one_line_are_no_ring(tmp_path: Path) -> None:
    output = lint(tmp_path, {"a.py": "from house import b", "b.py": "from house import c", "c.py": ""})
    assert "Contracts: 2 kept, 0 broken" in output


@pytest.mark.parametrize(
    "back",
    [
        "from house import a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house import a\n",
        "def late():\n    from house import a\n    return a\n",
    ],
    ids=["plain", "for types", "inside a function"],
)
def test_a_ring_of_modules_is_found(tmp_path: Path, back: str) -> None:
    output = lint(tmp_path, {"a.py": "from house import b", "b.py": back})
    assert "No ring of modules BROKEN" in output
    assert "house.a, house.b" in output


def test_a_module_that_imports_the_package_above_it_is_a_ring(tmp_path: Path) -> None:
    output = lint(tmp_path, {"__init__.py": "from house import a", "a.py": "import house"})
    assert "No ring of modules BROKEN" in output


def test_a_ring_of_folders_without_a_ring_of_modules_is_found(tmp_path: Path) -> None:
    files = {
        "left/__init__.py": "",
        "left/a.py": "from house.right import b",
        "left/c.py": "",
        "right/__init__.py": "",
        "right/b.py": "",
        "right/d.py": "from house.left import c",
    }
    output = lint(tmp_path, files)
    assert "No ring of folders BROKEN" in output
    assert "No ring of modules KEPT" in output
