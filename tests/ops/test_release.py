"""`make release` refuses what is not ready, says what it would do, and sets no tag before everything is green."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from engine.version import VERSION
from tests.support.compose import TOP

READY = {
    "engine/version.py": 'VERSION = "2.1.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## [2.1.0] - 2026-11-27\n\nNew.\n\n## [2.0.0] - 2026-01-01\n",
}
# In place of Python: its environments hold tools that say the version and pass, but for the one that checks the wheel
PYTHON = """#!/bin/sh
mkdir -p "$3/bin"
for tool in pip python twine check-wheel-contents tute; do
    printf '#!/bin/sh\\necho tute 2.1.0, rules\\ntest %s != twine\\n' $tool > "$3/bin/$tool"
    chmod +x "$3/bin/$tool"
done
"""
MAKEFILE = "test slow anywhere:\n\t@echo runs $@; test ! -e $@-fails\n"


class Project:
    """A small repository with what a release reads, and suites that end at once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name, text in {**READY, "Makefile": MAKEFILE, ".gitignore": "/var/\n/.venv/\n/*-fails\n"}.items():
            self.write(name, text)
        (place / ".ci").mkdir()
        shutil.copy(TOP / ".ci" / "release", place / ".ci" / "release")
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "a")
        self.git("config", "user.email", "a@example.org")
        self.commit()

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.place / name).parent.mkdir(parents=True, exist_ok=True)
        (self.place / name).write_text(text, encoding="utf-8")

    def git(self, *words: str) -> str:
        """Run git; return what it prints."""
        return subprocess.run(["git", *words], cwd=self.place, check=True, capture_output=True, text=True).stdout

    def commit(self) -> None:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=all")

    def release(self, version: str = "2.1.0", dry: str = "1") -> tuple[int, str]:
        """Return the exit code and the output of a release."""
        process = subprocess.run(
            [str(self.place / ".ci" / "release"), version],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "DRY_RUN": dry},
            capture_output=True,
            text=True,
        )
        return process.returncode, process.stdout + process.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def edit(name: str, text: str) -> Callable[[Project], object]:
    """Return what commits another text of a file."""

    def act(project: Project) -> None:
        project.write(name, text)
        project.commit()

    return act


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda project: project.write("notes.txt", "x"), "the working tree is not clean"),
        (lambda project: project.git("switch", "--quiet", "--create", "other"), "the current branch is other"),
        (lambda project: project.git("switch", "--quiet", "--detach"), "the current branch is a detached HEAD"),
        (lambda project: project.git("tag", "v2.1.0"), "the tag v2.1.0 exists already"),
        (lambda project: project.git("config", "user.name", ""), "git does not know who sets the tag"),
        (edit("engine/version.py", 'VERSION = "2.0.0"\n'), "engine/version.py has 2.0.0"),
        (edit("CHANGELOG.md", "## [Unreleased]\n\n## [2.1.0] - 2026-11-27\n"), 'CHANGELOG.md is "[Unreleased]"'),
        (edit("CHANGELOG.md", "## [2.1.0]\n"), 'CHANGELOG.md is "[2.1.0]"'),
        (edit("CHANGELOG.md", "## [2.1.0] - 2026-02-30\n"), "2026-02-30, which is not a date"),
    ],
)
def test_what_is_not_ready_is_refused(project: Project, spoil: Callable[[Project], object], why: str) -> None:
    spoil(project)
    before = project.git("tag")

    code, output = project.release(dry="0")

    assert code == 1
    assert "not released: " in output
    assert why in output
    assert "runs test" not in output
    assert project.git("tag") == before


@pytest.mark.parametrize("version", ["", "v2.1.0", "2.1", "2.1.0; true"])
def test_a_version_has_three_numbers(project: Project, version: str) -> None:
    code, output = project.release(version)

    assert (code, "is not a version" in output) == (1, True)


def test_a_dry_run_says_what_it_would_do_and_does_nothing(project: Project) -> None:
    head = project.git("rev-parse", "HEAD").strip()
    noted = project.place / "var" / "release" / head
    noted.mkdir(parents=True)
    (noted / "slow").write_text("2026-11-27 07:00\n")

    code, output = project.release()

    assert code == 0, output
    for line in (
        "test: would run the quick tests",
        "slow: passed for this commit on 2026-11-27 07:00",
        "wheel: would build",
        "image: ",
    ):
        assert f"== {line}" in output
    assert "would set the tag v2.1.0; nothing was changed" in output
    assert project.git("tag") == ""
    assert [path.name for path in noted.iterdir()] == ["slow"]


def test_a_part_that_fails_ends_it_and_what_was_green_is_not_run_again(project: Project) -> None:
    project.write("slow-fails", "")
    code, output = project.release(dry="0")
    assert (code, "not released: slow failed." in output, "runs test" in output) == (1, True, True)

    code, output = project.release(dry="0")
    assert (code, "test: passed for this commit" in output, "runs test" in output) == (1, True, False)
    assert project.git("tag") == ""

    (project.place / "slow-fails").unlink()
    project.write("anywhere-fails", "")
    assert "not released: anywhere failed." in project.release(dry="0")[1]


def test_a_tool_that_refuses_the_wheel_ends_it(project: Project) -> None:
    project.write(".venv/bin/python", PYTHON)
    (project.place / ".venv/bin/python").chmod(0o755)

    code, output = project.release(dry="0")

    assert (code, "not released: wheel failed." in output) == (1, True), output
    assert project.git("tag") == ""


def test_the_changelog_begins_with_the_version_of_the_project_and_a_day() -> None:
    newest = re.search(r"^## \[(.*)\] - (.*)$", (TOP / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)

    assert newest
    assert newest[1] == VERSION
    assert date.fromisoformat(newest[2]).isoformat() == newest[2]
