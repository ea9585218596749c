"""The first requests of a fresh process come together, and each is answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.league.response_cache.test_addresses import OF_RELEASE
from tests.support import migrated


@pytest.mark.slow
def test_every_cache_may_be_filled_by_several_threads_at_once(tmp_path: Path) -> None:
    """The OpenAPI document was computed by a library that is not safe for threads. Two more processes begin with another address and end there."""
    shutil.copyfile(migrated.sqlite_file(), tmp_path / "league.sqlite3")
    lists = [f"/api/v1/{name}" for name in ("", "bots", "matches", "pools", "overall", "tournaments")]
    addresses = ["/api/v1/schema", "/", *OF_RELEASE, *lists, "/g/partnership/", "/puzzles/", "/play/", "/editor/"]
    environment = {**os.environ, "STATE_DIR": str(tmp_path), "LOG_LEVEL": "ERROR", "DEBUG": "0"}
    for some in (addresses, addresses[1:2], addresses[2:3]):
        command = [sys.executable, "-W", "ignore", "-m", "tests.support.first_requests", *some]
        process = subprocess.run(
            command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=300
        )
        assert (process.returncode, process.stdout) == (0, ""), process.stdout + process.stderr[-3000:]
