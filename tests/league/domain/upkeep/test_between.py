"""A match that finishes between any two statements of what the league does changes no table: nothing is lost, nothing counted twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings


@pytest.mark.timeout(1800)  # some minutes where nothing else runs
def test_a_match_finishes_between_any_two_statements(migrated_postgres_url: str, tmp_path: Path) -> None:
    environment = os.environ | {
        "DATABASE_URL": migrated_postgres_url,
        "STATE_DIR": str(tmp_path),
        "BROKER_URL": "filesystem://",
        "SECRET_KEY": "only for this test",
        "UPLOADS_PER_HOUR": "1000",
        "AUDIT_PERCENT": "0",
    }
    words = [sys.executable, "-m", "tests.support.between"]
    done = subprocess.run(words, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=1750)

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout, done.stdout
    moments = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert list(moments) == [
        "put_right",
        "count_anew",
        "check",
        "show",
        "count_in_stages",
        "fit_and_rank",
        "extend_while_it_ends",
        "upload_while_another_does",
        "grant_while_it_starts",
        "enter_while_the_policy_changes",
        "count_while_audits_are_drawn",
        "rerun_while_it_is_held_back",
        "draw_while_another_draws",
    ], done.stdout
    assert all(int(found.removesuffix(" moments")) >= 10 for found in moments.values())
