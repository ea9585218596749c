"""Commands on a state folder that cannot be written: one line that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.support import migrated

# In a mount namespace of its own: root may write anywhere else.
READ_ONLY = """
mount -t tmpfs none "$1" && mkdir "$1/state" && mount -o remount,ro "$1" && shift && exec "$@"
"""


@pytest.mark.parametrize("folder", ["state", "missing"])
def test_a_worker_on_a_read_only_folder_says_what_to_do_in_one_line(folder: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    shutil.copyfile(migrated.sqlite_file(), tmp_path / "league.sqlite3")
    environment = {
        **os.environ,
        "STATE_DIR": str(disk / folder),
        "DATABASE_URL": f"sqlite://{tmp_path}/league.sqlite3",
        "SECRET_KEY": "x" * 60,
    }
    command = ["unshare", "-r", "-m", "sh", "-c", READ_ONLY, "sh", str(disk)]
    command += [sys.executable, "-W", "ignore", "manage.py", "worker", "--once"]
    process = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=120
    )

    assert process.returncode == 1
    [line] = process.stderr.splitlines()
    assert f"{disk / folder}" in line
    assert "cannot be created (Read-only file system): mount its disk writable" in line
