"""The commit of the running code."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from league.service.env import envstr


@lru_cache(maxsize=1)
def commit() -> str | None:
    """Return the commit that an image was built from (BUILD_COMMIT, or the file COMMIT), or git's commit of a working copy; None if unknown."""
    return envstr("BUILD_COMMIT") or _built_from(settings.BASE_DIR) or _ask_git(settings.BASE_DIR)


def _built_from(folder: Path) -> str | None:
    try:
        return (folder / "COMMIT").read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _ask_git(folder: Path) -> str | None:
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return None
    try:
        answer = subprocess.run(
            [git, "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None
