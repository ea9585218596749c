"""`.ci/venv`, which every make target starts with: which Python it takes, and what it says where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.compose import TOP


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy what set-up reads, with a folder `bin` that is the whole PATH but for the system's own tools."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(TOP / ".ci" / "venv", tmp_path / ".ci" / "venv")
    (tmp_path / "engine").mkdir()
    for name in ("requirements.lock", "requirements-dev.lock", "pyproject.toml", "setup.py", "engine/version.py"):
        shutil.copy(TOP / name, tmp_path / name)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "cat", "cut", "sha256sum", "rm", "dirname"):
        path = shutil.which(name)
        assert path
        (tools / name).symlink_to(path)
    return tmp_path


def interpreter(project: Path, name: str, version: tuple[int, int], *, has_venv: bool = True) -> None:
    """Write a program that answers the questions of set-up as a Python of that version would, and refuses to make anything."""
    fits = (3, 11) <= version < (3, 14)
    script = f"""#!/bin/sh
case "$2" in
  *"sys.exit(not (3, 11)"*) exit {0 if fits else 1} ;;
  *ensurepip*) exit {0 if has_venv else 1} ;;
  *version_info*) echo {version[0]}.{version[1]} ;;
  *python_version*) echo {version[0]}.{version[1]}.9 ;;
  venv) echo "{name} was asked for an environment"; exit 7 ;;
esac
"""
    path = project / "bin" / name
    path.write_text(script)
    path.chmod(0o755)


def only_on_path(project: Path) -> None:
    """Set-up also looks at /usr/bin/python3, which is this machine's own: not in these tests."""
    script = project / ".ci" / "venv"
    script.write_text(script.read_text().replace(" /usr/bin/python3", ""))


def set_up(project: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(project / ".ci" / "venv"), "demo"]
    return subprocess.run(command, env={"PATH": str(project / "bin"), **environment}, capture_output=True, text=True)


def test_python3_is_taken_where_it_fits(project: Path) -> None:
    interpreter(project, "python3", (3, 11))
    interpreter(project, "python3.13", (3, 13))
    assert "python3 was asked for an environment" in set_up(project).stdout


@pytest.mark.parametrize("version", [(3, 9), (3, 14)])
def test_another_one_is_found_where_python3_is_too_old_or_too_new(project: Path, version: tuple[int, int]) -> None:
    interpreter(project, "python3", version)
    interpreter(project, "python3.12", (3, 12))
    assert "python3.12 was asked for an environment" in set_up(project).stdout


def test_python_names_the_interpreter(project: Path) -> None:
    interpreter(project, "python3", (3, 11))
    interpreter(project, "mine", (3, 13))
    assert "mine was asked for an environment" in set_up(project, PYTHON="mine").stdout
    interpreter(project, "old", (3, 8))
    process = set_up(project, PYTHON="old")
    assert process.returncode == 1
    assert "PYTHON=old is 3.8.9; the league needs Python 3.11, 3.12 or 3.13" in process.stderr


def test_a_missing_venv_module_is_explained(project: Path) -> None:
    """Debian's python3 comes without it."""
    interpreter(project, "python3", (3, 11), has_venv=False)
    only_on_path(project)
    process = set_up(project)
    assert process.returncode == 1
    assert "sudo apt-get install python3.11-venv" in process.stderr
    assert not (project / ".venv").exists()


def test_no_python_at_all_is_explained(project: Path) -> None:
    only_on_path(project)
    process = set_up(project)
    assert process.returncode == 1
    assert "no Python 3.11, 3.12 or 3.13 was found (python3: not installed, or does not run)" in process.stderr


def test_a_second_run_does_nothing_and_a_changed_lock_does(project: Path) -> None:
    """The stamp is a hash of lock, project file and place; no clock is involved."""
    (project / ".venv" / "bin").mkdir(parents=True)
    python = project / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -m ] && echo "pip was called: $4"; exit 0\n')
    python.chmod(0o755)
    (project / ".venv" / ".root").write_text(f"{os.path.realpath(project)}\n")

    first = set_up(project)
    assert first.returncode == 0, first.stderr
    assert "pip was called" in first.stdout
    assert set_up(project).stdout == ""
    (project / "requirements.lock").write_text("changed\n")
    assert "pip was called" in set_up(project).stdout


def test_the_locks_name_hashes_only_and_agree() -> None:
    versions: dict[str, dict[str, str]] = {}
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-fast.lock", "requirements-release.lock"):
        lines = (TOP / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if "://" in line or line.startswith("-")] == []
        pins = [line.split(" ", 1)[0].split("==") for line in lines if "==" in line and not line.startswith(" ")]
        versions[name] = dict(pins)
        assert sum("--hash=sha256:" in line for line in lines) >= len(pins)
    small, large = versions["requirements.lock"], versions["requirements-dev.lock"]
    assert "setuptools" in small  # the project is installed without build isolation
    fast = versions["requirements-fast.lock"]
    assert {"mypy", "setuptools"} <= fast.keys()
    for part in (small, fast):
        assert {package: large.get(package) for package in part} == part
